#include "runtime/shared_device.h"

#include <utility>

namespace hetgpu::runtime {
namespace {

class SharedDevice final : public hetgpu::Device {
 public:
  explicit SharedDevice(std::shared_ptr<hetgpu::Device> shared)
      : shared_(std::move(shared)) {}

  const DeviceInfo& info() const override { return shared_->info(); }
  absl::Status Lost() const override { return shared_->Lost(); }
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes) override {
    return shared_->Allocate(bytes);
  }
  absl::Status Free(uint64_t address) override {
    return shared_->Free(address);
  }
  uint64_t FreeMemory() const override { return shared_->FreeMemory(); }
  bool CanAccessPeer(const Device& other) const override {
    return shared_->CanAccessPeer(other);
  }
  void* HostPointer(uint64_t address) const override {
    return shared_->HostPointer(address);
  }
  absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      const ModuleInfo& info, std::string_view source) override {
    return shared_->LoadModule(info, source);
  }
  absl::StatusOr<std::unique_ptr<Kernel>> Load(
      const KernelInfo& info, std::string_view image) override {
    return shared_->Load(info, image);
  }
  absl::StatusOr<std::vector<std::unique_ptr<Kernel>>> LoadTogether(
      const std::vector<KernelImage>& images) override {
    return shared_->LoadTogether(images);
  }
  absl::StatusOr<std::unique_ptr<Queue>> CreateQueue() override {
    return shared_->CreateQueue();
  }
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override {
    return shared_->CreateEvent();
  }
  absl::StatusOr<std::unique_ptr<Texture>> CreateTexture(
      const TextureDesc& desc) override {
    return shared_->CreateTexture(desc);
  }
  absl::Status RegisterHost(void* memory, uint64_t bytes) override {
    return shared_->RegisterHost(memory, bytes);
  }
  void UnregisterHost(void* memory) override {
    shared_->UnregisterHost(memory);
  }
  absl::StatusOr<uint64_t> CooperativeLimit(const LaunchDesc& desc) override {
    return shared_->CooperativeLimit(desc);
  }
  absl::Status SetLimit(DeviceLimit limit, uint64_t bytes) override {
    return shared_->SetLimit(limit, bytes);
  }
  absl::StatusOr<uint64_t> GetLimit(DeviceLimit limit) override {
    return shared_->GetLimit(limit);
  }
  absl::Status CanRedirectPrintf() const override {
    return shared_->CanRedirectPrintf();
  }
  void SetPrintf(std::function<void(std::string_view)> sink) override {
    shared_->SetPrintf(std::move(sink));
  }

 private:
  const std::shared_ptr<hetgpu::Device> shared_;
};

}  // namespace

std::unique_ptr<hetgpu::Device> Share(std::shared_ptr<hetgpu::Device> shared) {
  return std::make_unique<SharedDevice>(std::move(shared));
}

}  // namespace hetgpu::runtime
