#include "runtime/testing/sim_driver.h"

#include <chrono>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "memory/arena.h"
#include "runtime/testing/fake_queue.h"
#include "runtime/text.h"

namespace hetgpu::runtime {
namespace {

bool Fails() {
  static std::atomic<uint64_t> calls{0};
  const uint32_t one_in = Sim().fail_one_in;
  // A fixed sequence that looks like none.
  const uint64_t next = ++calls * 0x9e3779b97f4a7c15u >> 33;
  if (one_in == 0 || next % one_in != 0) return false;
  ++Sim().failures;
  return true;
}

// The memory of one device, for all its openings.
class SimMemory {
 public:
  static SimMemory& Of(uint32_t ordinal) {
    static SimMemory* const all = new SimMemory[kSimDevices];
    return all[ordinal];
  }

  absl::Status Map(uint64_t address, uint64_t bytes, uint64_t limit) {
    std::lock_guard lock(mutex_);
    if (used_ + bytes > limit) {
      return absl::ResourceExhaustedError(
          Cat("sim: ", bytes, " bytes asked for, ", limit - used_, " free"));
    }
    if (segments_.count(address) != 0) return absl::InternalError("sim: mapped");
    segments_[address].assign(bytes, 0xa5);
    used_ += bytes;
    return absl::OkStatus();
  }

  absl::Status Unmap(uint64_t address, uint64_t bytes) {
    std::lock_guard lock(mutex_);
    const auto found = segments_.find(address);
    if (found == segments_.end() || found->second.size() != bytes) {
      return absl::InternalError("sim: not mapped");
    }
    segments_.erase(found);
    used_ -= bytes;
    return absl::OkStatus();
  }

  absl::Status TakeFrom(SimMemory& other, uint64_t address, uint64_t bytes) {
    std::scoped_lock lock(mutex_, other.mutex_);
    if (used_ + bytes > kSimMemory) {
      return absl::ResourceExhaustedError("sim: no room");
    }
    auto node = other.segments_.extract(address);
    if (node.empty()) return absl::InternalError("sim: not mapped there");
    segments_.insert(std::move(node));
    other.used_ -= bytes;
    used_ += bytes;
    return absl::OkStatus();
  }

  // Null unless all of it is mapped.
  char* At(uint64_t address, uint64_t bytes) {
    std::lock_guard lock(mutex_);
    auto next = segments_.upper_bound(address);
    if (next == segments_.begin()) return nullptr;
    auto& [start, content] = *std::prev(next);
    const uint64_t offset = address - start;
    if (offset >= content.size() || bytes > content.size() - offset) {
      return nullptr;
    }
    return reinterpret_cast<char*>(content.data() + offset);
  }

  void Lose() {
    std::lock_guard lock(mutex_);
    for (auto& [start, content] : segments_) content.assign(content.size(), 0);
    ++losses_;
  }
  uint64_t losses() const { return losses_; }
  uint64_t used() const {
    std::lock_guard lock(mutex_);
    return used_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, std::vector<uint8_t>> segments_;
  uint64_t used_ = 0;
  std::atomic<uint64_t> losses_ = 0;
};

class SimKernel : public Kernel {
 public:
  explicit SimKernel(std::string name) : name_(std::move(name)) {}
  std::string Explain() const override { return "sim: " + name_; }

  LaunchError Run(SimMemory& memory, const std::string& params) const {
    std::vector<uint64_t> a(params.size() / 8);
    std::memcpy(a.data(), params.data(), a.size() * 8);
    if (name_ == "set" || name_ == "opaque") return Set(memory, a);
    if (name_ == "mix") return Mix(memory, a);
    if (name_ == "link") return Link(memory, a);
    if (name_ == "walk") return Walk(memory, a);
    if (name_ == "bump") return Bump(memory, a);
    if (name_ == "gate") return Gate(memory, a);
    return Bad(a[0], LaunchError::Kind::kTrap);
  }

 private:
  static LaunchError Bad(uint64_t address,
                         LaunchError::Kind kind =
                             LaunchError::Kind::kIllegalAddress) {
    LaunchError error;
    error.kind = kind;
    error.has_address = true;
    error.address = address;
    return error;
  }
  static uint64_t* Words(SimMemory& memory, uint64_t address, uint64_t count) {
    return reinterpret_cast<uint64_t*>(memory.At(address, count * 8));
  }
  static LaunchError Set(SimMemory& memory, const std::vector<uint64_t>& a) {
    uint64_t* const dst = Words(memory, a[0], a[1]);
    if (dst == nullptr) return Bad(a[0]);
    for (uint64_t i = 0; i < a[1]; ++i) dst[i] = a[2] + i;
    return {};
  }
  static LaunchError Mix(SimMemory& memory, const std::vector<uint64_t>& a) {
    uint64_t* const dst = Words(memory, a[0], a[2]);
    uint64_t* const src = Words(memory, a[1], a[2]);
    if (dst == nullptr || src == nullptr) return Bad(a[0]);
    for (uint64_t i = 0; i < a[2]; ++i) dst[i] = dst[i] * 3 + src[i] + 1;
    return {};
  }
  static LaunchError Link(SimMemory& memory, const std::vector<uint64_t>& a) {
    uint64_t* const node = Words(memory, a[0], a[1] * 2);
    if (node == nullptr) return Bad(a[0]);
    for (uint64_t i = 0; i < a[1]; ++i) {
      node[2 * i] = i + 1 == a[1] ? 0 : a[0] + 16 * (i + 1);
      node[2 * i + 1] = i;
    }
    return {};
  }
  static LaunchError Walk(SimMemory& memory, const std::vector<uint64_t>& a) {
    uint64_t sum = 0;
    for (uint64_t at = a[0]; at != 0;) {
      const uint64_t* const node = Words(memory, at, 2);
      if (node == nullptr) return Bad(at);
      sum += node[1];
      at = node[0];
    }
    uint64_t* const out = Words(memory, a[1], 1);
    if (out == nullptr) return Bad(a[1]);
    *out = sum;
    return {};
  }
  static LaunchError Bump(SimMemory& memory, const std::vector<uint64_t>& a) {
    for (uint64_t at = a[0]; at != 0;) {
      uint64_t* const node = Words(memory, at, 2);
      if (node == nullptr) return Bad(at);
      ++node[1];
      at = node[0];
    }
    return {};
  }
  static LaunchError Gate(SimMemory& memory, const std::vector<uint64_t>& a) {
    const uint64_t works = Sim().work_losses;
    while (!Sim().gate_open) {
      if (works != Sim().work_losses) {
        return Bad(a[0], LaunchError::Kind::kTimeout);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    uint64_t* const out = Words(memory, a[0], 1);
    if (out == nullptr) return Bad(a[0]);
    *out = 1;
    return {};
  }

  const std::string name_;
};

class SimModuleOnDevice : public DeviceModule {
 public:
  absl::StatusOr<uint64_t> SymbolAddress(const SymbolInfo& symbol) override {
    return absl::NotFoundError(symbol.name);
  }
  absl::StatusOr<std::unique_ptr<Kernel>> Load(
      const KernelInfo& info) override {
    return std::unique_ptr<Kernel>(std::make_unique<SimKernel>(info.name));
  }
};

class SimQueue : public FakeQueue {
 public:
  SimQueue(SimMemory& memory, bool loses_work)
      : FakeQueue(&Never()), memory_(memory), loses_work_(loses_work) {}

  absl::Status Launch(const LaunchDesc& desc) override {
    return EnqueueWork([this, desc] {
      LaunchError error = static_cast<SimKernel*>(desc.kernel)
                              ->Run(memory_, desc.params);
      error.kernel = desc.info->name;
      return error;
    });
  }
  absl::Status Copy(uint64_t dst, uint64_t src, uint64_t bytes) override {
    return Move([=, this] { return memory_.At(dst, bytes); },
                [=, this] { return memory_.At(src, bytes); }, bytes);
  }
  absl::Status CopyToDevice(uint64_t dst, const void* src,
                            uint64_t bytes) override {
    if (Fails()) return absl::InternalError("sim: injected");
    ++Sim().copies;
    return Move([=, this] { return memory_.At(dst, bytes); },
                [=] { return static_cast<const char*>(src); }, bytes);
  }
  absl::Status CopyFromDevice(void* dst, uint64_t src,
                              uint64_t bytes) override {
    if (Fails()) return absl::InternalError("sim: injected");
    ++Sim().copies;
    return Move([=] { return static_cast<char*>(dst); },
                [=, this] { return memory_.At(src, bytes); }, bytes);
  }
  absl::Status Fill(uint64_t dst, uint64_t pattern, uint32_t pattern_bytes,
                    uint64_t count) override {
    return EnqueueWork([=, this] {
      char* const to = memory_.At(dst, pattern_bytes * count);
      if (to == nullptr) return Unmapped();
      for (uint64_t i = 0; i < count; ++i) {
        std::memcpy(to + i * pattern_bytes, &pattern, pattern_bytes);
      }
      return LaunchError();
    });
  }

 private:
  static FakeLoss& Never() {
    static FakeLoss loss;
    return loss;
  }
  static LaunchError Unmapped() {
    LaunchError error;
    error.kind = LaunchError::Kind::kIllegalAddress;
    return error;
  }
  // Work that was enqueued before a loss is not done.
  absl::Status EnqueueWork(std::function<LaunchError()> run) {
    const uint64_t works = Sim().work_losses;
    return EnqueueLaunch([this, works, run = std::move(run)] {
      if (!loses_work_ || works == Sim().work_losses) return run();
      LaunchError error;
      error.kind = LaunchError::Kind::kTimeout;
      return error;
    });
  }
  // Addresses are looked up when the copy runs.
  template <typename To, typename From>
  absl::Status Move(To to, From from, uint64_t bytes) {
    return EnqueueWork([=] {
      char* const target = to();
      const char* const source = from();
      if (target == nullptr || source == nullptr) return Unmapped();
      std::memmove(target, source, bytes);
      return LaunchError();
    });
  }

  SimMemory& memory_;
  const bool loses_work_;
};

class SimDevice : public Device {
 public:
  SimDevice(DeviceInfo info, uint32_t ordinal)
      : info_(std::move(info)),
        ordinal_(ordinal),
        memory_(SimMemory::Of(ordinal)) {}
  ~SimDevice() override {
    for (const auto& [address, size] : sizes_) {
      (void)memory_.Unmap(address, size);
    }
  }

  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes) override {
    const uint64_t size = (bytes + 4095) / 4096 * 4096;
    const uint64_t address = memory::Arena::Process().Allocate(size, 4096);
    const absl::Status mapped = Map(address, size);
    if (!mapped.ok()) return mapped;
    std::lock_guard lock(mutex_);
    sizes_[address] = size;
    return address;
  }
  absl::Status Free(uint64_t address) override {
    std::lock_guard lock(mutex_);
    return memory_.Unmap(address, sizes_.extract(address).mapped());
  }
  uint64_t FreeMemory() const override { return kSimMemory - memory_.used(); }

  uint64_t MapGranularity() const override { return 4096; }
  absl::Status Map(uint64_t address, uint64_t bytes) override {
    if (Fails()) return absl::InternalError("sim: injected");
    return memory_.Map(address, bytes,
                       ordinal_ == 1 ? kSimMemory - Sim().taken : kSimMemory);
  }
  absl::Status Unmap(uint64_t address, uint64_t bytes) override {
    return memory_.Unmap(address, bytes);
  }
  absl::Status TakeMapping(Device& from, uint64_t address,
                           uint64_t bytes) override {
    if (Fails()) return absl::InternalError("sim: injected");
    return memory_.TakeFrom(static_cast<SimDevice&>(from).memory_, address,
                            bytes);
  }
  void* HostPointer(uint64_t address) const override {
    return ordinal_ == 0 ? memory_.At(address, 1) : nullptr;
  }
  uint64_t ContentLosses() const override { return memory_.losses(); }
  uint64_t WorkLosses() const override {
    return ordinal_ == 1 ? Sim().work_losses.load() : 0;
  }
  absl::Status Lost() const override {
    if (ordinal_ != 1 || !Sim().is_lost) return absl::OkStatus();
    return absl::UnavailableError("sim: the device is lost");
  }

  absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      const ModuleInfo&, std::string_view) override {
    return std::unique_ptr<DeviceModule>(std::make_unique<SimModuleOnDevice>());
  }
  absl::StatusOr<std::unique_ptr<Kernel>> Load(const KernelInfo&,
                                               std::string_view) override {
    return absl::UnimplementedError("sim: no images");
  }
  absl::StatusOr<std::unique_ptr<Queue>> CreateQueue() override {
    return std::unique_ptr<Queue>(std::make_unique<SimQueue>(
        memory_, /*loses_work=*/ordinal_ == 1));
  }
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override {
    return std::unique_ptr<Event>(std::make_unique<FakeEvent>());
  }
  void SetPrintf(std::function<void(std::string_view)>) override {}

 private:
  const DeviceInfo info_;
  const uint32_t ordinal_;
  SimMemory& memory_;
  std::mutex mutex_;
  std::map<uint64_t, uint64_t> sizes_;
};

class SimDriver : public Driver {
 public:
  std::string_view name() const override { return "sim"; }
  absl::StatusOr<std::vector<DeviceInfo>> Enumerate() override {
    std::vector<DeviceInfo> all;
    for (uint32_t i = 0; i < kSimDevices; ++i) all.push_back(Info(i));
    return all;
  }
  absl::StatusOr<std::unique_ptr<Device>> Open(uint32_t ordinal) override {
    return std::unique_ptr<Device>(
        std::make_unique<SimDevice>(Info(ordinal), ordinal));
  }

 private:
  static DeviceInfo Info(uint32_t ordinal) {
    DeviceInfo info;
    info.backend = "sim";
    info.name = Cat("Simulated device ", ordinal);
    info.target = "sim";
    info.total_memory = kSimMemory;
    info.compute_units = 1;
    info.has_host_pointers = info.host_functions_may_wait = ordinal == 0;
    info.address_domain = ordinal >= 2 ? 1 : 0;
    return info;
  }
};

struct Row {
  const char* name;
  uint32_t params;
  std::vector<PointerAccess> pointers;
  bool reads_unknown = false, writes_unknown = false, is_known = true;
};

}  // namespace

SimControl& Sim() {
  static SimControl control;
  return control;
}

void LoseSimMemory(uint32_t ordinal) { SimMemory::Of(ordinal).Lose(); }

uint64_t SimMappedBytes(uint32_t ordinal) {
  return SimMemory::Of(ordinal).used();
}

std::unique_ptr<Driver> CreateSimDriver() {
  return std::make_unique<SimDriver>();
}

ModuleInfo SimModule() {
  const Row rows[] = {
      {"set", 3, {{0, false, true}}},
      {"mix", 3, {{0, true, true}, {8, true, false}}},
      {"link", 2, {{0, false, true}}},
      {"walk", 2, {{0, true, false}, {8, false, true}}, true},
      {"bump", 1, {{0, true, true}}, true, true},
      {"opaque", 3, {}, false, false, false},
      {"gate", 1, {{0, false, true}}},
      {"fail", 1, {{0, false, true}}},
  };
  ModuleInfo module;
  module.name = "sim.ptx";
  for (const Row& row : rows) {
    KernelInfo kernel;
    kernel.name = row.name;
    kernel.access = {row.is_known, row.pointers, row.reads_unknown,
                     row.writes_unknown};
    for (uint32_t i = 0; i < row.params; ++i) {
      ParamInfo param;
      param.name = Cat("p", i);
      param.offset = i * 8;
      param.size = param.align = 8;
      param.type = ScalarType::kU64;
      kernel.params.push_back(param);
    }
    kernel.param_bytes = row.params * 8;
    module.kernels.push_back(std::move(kernel));
  }
  return module;
}

}  // namespace hetgpu::runtime
