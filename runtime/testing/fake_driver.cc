#include "runtime/testing/fake_driver.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/testing/fake_queue.h"
#include "runtime/text.h"

namespace hetgpu::runtime {
namespace {

constexpr uint64_t kAlign = 256;

// Holds its variables in host memory.
class FakeDeviceModule : public DeviceModule {
 public:
  FakeDeviceModule(const ModuleInfo& info, Print print)
      : data_(info.data_size, '\0'), print_(std::move(print)) {}

  absl::StatusOr<uint64_t> SymbolAddress(const SymbolInfo& symbol) override {
    if (symbol.name == "settings") {
      return absl::NotFoundError("fake: settings was left out");
    }
    return reinterpret_cast<uint64_t>(data_.data()) + symbol.offset;
  }

  absl::StatusOr<std::unique_ptr<Kernel>> Load(
      const KernelInfo& info) override {
    return std::unique_ptr<Kernel>(
        std::make_unique<FakeKernel>(info.name, print_));
  }

 private:
  std::string data_;
  const Print print_;
};

class FakeTexture : public hetgpu::Texture {
 public:
  explicit FakeTexture(const TextureDesc& desc) : texels_(desc.Bytes(), '\0') {}
  uint64_t handle() const override {
    return reinterpret_cast<uint64_t>(texels_.data());
  }
  absl::Status Write(const void* texels) override {
    std::memcpy(texels_.data(), texels, texels_.size());
    return absl::OkStatus();
  }
  absl::Status Read(void* texels) override {
    std::memcpy(texels, texels_.data(), texels_.size());
    return absl::OkStatus();
  }

 private:
  std::string texels_;
};

class FakeDevice : public Device {
 public:
  explicit FakeDevice(DeviceInfo info) : info_(std::move(info)) {}
  ~FakeDevice() override {
    for (const auto& [address, bytes] : allocations_) {
      std::free(reinterpret_cast<void*>(address));
    }
  }

  const DeviceInfo& info() const override { return info_; }
  absl::Status Lost() const override { return loss_.Check(); }

  // Takes the allocations over; their bytes, or Unavailable.
  absl::StatusOr<uint64_t> Inherit(FakeDevice& lost) {
    if (lost.loss_.for_good) return absl::UnavailableError("fake: for good");
    std::lock_guard lock(lost.mutex_);
    allocations_.swap(lost.allocations_);
    used_ = lost.used_;
    return used_;
  }

  absl::StatusOr<uint64_t> Allocate(uint64_t bytes) override {
    std::lock_guard lock(mutex_);
    if (!Lost().ok()) return Lost();
    if (bytes > kFakeMemory - used_) {
      return absl::ResourceExhaustedError(
          Cat(bytes, " bytes asked for, ", kFakeMemory - used_, " free"));
    }
    void* const memory =
        std::aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
    const auto address = reinterpret_cast<uint64_t>(memory);
    allocations_[address] = bytes;
    used_ += bytes;
    return address;
  }

  absl::Status Free(uint64_t address) override {
    std::lock_guard lock(mutex_);
    if (!Lost().ok()) return Lost();
    used_ -= allocations_.at(address);
    allocations_.erase(address);
    std::free(reinterpret_cast<void*>(address));
    return absl::OkStatus();
  }

  uint64_t FreeMemory() const override {
    std::lock_guard lock(mutex_);
    return kFakeMemory - used_;
  }

  absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      const ModuleInfo& info, std::string_view source) override {
    if (!Lost().ok()) return Lost();
    if (source.rfind("native", 0) != 0) return nullptr;
    if (source == "native refused") {
      return absl::InvalidArgumentError("fake: line 3: not taken");
    }
    return std::unique_ptr<DeviceModule>(std::make_unique<FakeDeviceModule>(
        info, [this](std::string_view text) { Print(text); }));
  }

  absl::StatusOr<std::unique_ptr<Kernel>> Load(
      const KernelInfo& info, std::string_view image) override {
    if (image.rfind("image of ", 0) != 0) {
      return absl::InternalError("fake: not an image");
    }
    return std::unique_ptr<Kernel>(std::make_unique<FakeKernel>(
        info.name, [this](std::string_view text) { Print(text); }));
  }

  absl::StatusOr<std::unique_ptr<Queue>> CreateQueue() override {
    if (!Lost().ok()) return Lost();
    return std::unique_ptr<Queue>(std::make_unique<FakeQueue>(&loss_));
  }

  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override {
    return std::unique_ptr<Event>(std::make_unique<FakeEvent>());
  }

  absl::StatusOr<std::unique_ptr<hetgpu::Texture>> CreateTexture(
      const TextureDesc& desc) override {
    return std::unique_ptr<hetgpu::Texture>(
        std::make_unique<FakeTexture>(desc));
  }

  void SetPrintf(std::function<void(std::string_view)> sink) override {
    std::lock_guard lock(mutex_);
    sink_ = std::move(sink);
  }

 private:
  void Print(std::string_view text) {
    std::lock_guard lock(mutex_);
    if (sink_) sink_(text);
  }

  const DeviceInfo info_;
  FakeLoss loss_;
  mutable std::mutex mutex_;
  std::map<uint64_t, uint64_t> allocations_;
  uint64_t used_ = 0;
  std::function<void(std::string_view)> sink_;
};

class FakeDriver : public Driver {
 public:
  std::string_view name() const override { return "fake"; }

  absl::StatusOr<std::vector<DeviceInfo>> Enumerate() override {
    return std::vector<DeviceInfo>{Info(0), Info(1)};
  }

  absl::StatusOr<std::unique_ptr<Device>> Open(uint32_t ordinal) override {
    return std::unique_ptr<Device>(std::make_unique<FakeDevice>(Info(ordinal)));
  }

  absl::StatusOr<Reopened> Reopen(uint32_t ordinal, Device& lost) override {
    auto device = std::make_unique<FakeDevice>(Info(ordinal));
    const auto kept = device->Inherit(static_cast<FakeDevice&>(lost));
    if (!kept.ok()) return kept.status();
    return Reopened{std::move(device), "re-opened", *kept};
  }

 private:
  static DeviceInfo Info(uint32_t ordinal) {
    DeviceInfo info;
    info.backend = "fake";
    info.name = Cat("Fake device ", ordinal);
    info.target = "fake-target";
    info.total_memory = kFakeMemory;
    info.compute_units = 2;
    info.clock_khz = 1000;
    info.max_shared_per_block = 4096;
    info.host_addressable = true;
    return info;
  }
};

class AbsentDriver : public Driver {
 public:
  std::string_view name() const override { return "absent"; }

  absl::StatusOr<std::vector<DeviceInfo>> Enumerate() override {
    return absl::UnavailableError("libabsent.so.1 cannot be opened");
  }

  absl::StatusOr<std::unique_ptr<Device>> Open(uint32_t) override {
    return absl::UnavailableError("libabsent.so.1 cannot be opened");
  }
};

}  // namespace

std::unique_ptr<Driver> CreateFakeDriver() {
  return std::make_unique<FakeDriver>();
}

std::unique_ptr<Driver> CreateAbsentDriver() {
  return std::make_unique<AbsentDriver>();
}

}  // namespace hetgpu::runtime
