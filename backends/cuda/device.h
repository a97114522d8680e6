#ifndef HETGPU_BACKENDS_CUDA_DEVICE_H_
#define HETGPU_BACKENDS_CUDA_DEVICE_H_

#include <memory>

#include "backends/common/driver.h"
#include "backends/cuda/clock.h"
#include "backends/cuda/context.h"
#include "backends/cuda/memory.h"
#include "backends/cuda/recovery.h"
#include "backends/cuda/staging.h"
#include "backends/cuda/watchdog.h"

namespace hetgpu::cuda {

// A GPU with a CUDA context of its own. Outlives its modules, queues and events.
class CudaDevice final : public Device {
 public:
  static absl::StatusOr<std::unique_ptr<Device>> Open(
      const Library& library, CUdevice device, DeviceInfo info,
      OpenOptions options = {});
  ~CudaDevice() override;

  const DeviceInfo& info() const override { return info_; }
  // Asks the driver: a fault of any context of the process counts.
  absl::Status Lost() const override;
  absl::StatusOr<MemoryExport> ExportMemory() override;
  void ReleaseLost() override;
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes) override;
  absl::Status Free(uint64_t address) override;
  uint64_t FreeMemory() const override;
  uint64_t MapGranularity() const override;
  absl::Status Map(uint64_t address, uint64_t bytes) override;
  absl::Status Unmap(uint64_t address, uint64_t bytes) override;
  absl::Status TakeMapping(Device& from, uint64_t address,
                           uint64_t bytes) override;
  uint64_t ContentLosses() const override;
  uint64_t WorkLosses() const override { return context_->abandonments(); }
  bool CanAccessPeer(const Device& other) const override;
  // Pins. A lost context unpins: copies are slower from then on.
  absl::Status RegisterHost(void* memory, uint64_t bytes) override;
  void UnregisterHost(void* memory) override;
  absl::StatusOr<uint64_t> CooperativeLimit(const LaunchDesc& desc) override;
  absl::Status SetLimit(DeviceLimit limit, uint64_t bytes) override;
  absl::StatusOr<uint64_t> GetLimit(DeviceLimit limit) override;
  absl::Status CanRedirectPrintf() const override;
  absl::StatusOr<std::unique_ptr<DeviceModule>> LoadModule(
      const ModuleInfo& info, std::string_view source) override;
  absl::StatusOr<std::unique_ptr<Kernel>> Load(const KernelInfo& info,
                                               std::string_view image) override;
  absl::StatusOr<std::vector<std::unique_ptr<Kernel>>> LoadTogether(
      const std::vector<KernelImage>& images) override;
  absl::StatusOr<std::unique_ptr<Queue>> CreateQueue() override;
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override;
  absl::StatusOr<std::unique_ptr<Texture>> CreateTexture(
      const TextureDesc& desc) override;
  // Without effect: the driver prints to stdout by itself when a queue has been
  // waited for.
  void SetPrintf(std::function<void(std::string_view)> sink) override {}
  const Context& context() const { return *context_; }

 private:
  CudaDevice(DeviceInfo info, std::unique_ptr<Context> context,
             std::unique_ptr<Memory> memory, bool disposable);

  const DeviceInfo info_;
  const std::unique_ptr<Context> context_;
  const std::unique_ptr<Memory> memory_;
  Clock clock_;
  mutable Recovery recovery_;
  StagingArena staging_;
  Watchdog watchdog_;
};

// What the driver says of a device. Unavailable when it lacks what this backend
// needs.
absl::StatusOr<DeviceInfo> Describe(const Library& library, CUdevice device);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_DEVICE_H_
