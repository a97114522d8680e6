#ifndef HETGPU_BACKENDS_CPU_DEVICE_H_
#define HETGPU_BACKENDS_CPU_DEVICE_H_

#include <memory>

#include "backends/common/driver.h"
#include "backends/cpu/arena.h"
#include "backends/cpu/heap.h"
#include "backends/cpu/launch.h"
#include "backends/cpu/options.h"
#include "backends/cpu/print_sink.h"
#include "backends/cpu/watchdog.h"
#include "backends/cpu/worker_pool.h"

namespace hetgpu::cpu {

// The processor as a device. Addresses are the arena's, also in kernels
// (arena_window.h). Outlives its queues, kernels and events.
class CpuDevice final : public Device {
 public:
  static absl::StatusOr<std::unique_ptr<CpuDevice>> Open(
      const Options& options);

  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes) override;
  absl::Status Free(uint64_t address) override;
  uint64_t FreeMemory() const override;
  uint64_t MapGranularity() const override;
  absl::Status Map(uint64_t address, uint64_t bytes) override;
  absl::Status Unmap(uint64_t address, uint64_t bytes) override;
  void* HostPointer(uint64_t address) const override;
  absl::StatusOr<std::unique_ptr<Kernel>> Load(const KernelInfo& info,
                                               std::string_view image) override;
  absl::StatusOr<std::unique_ptr<Queue>> CreateQueue() override;
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override;
  // Blocks whose threads never wait are run as if at the same time.
  absl::StatusOr<uint64_t> CooperativeLimit(const LaunchDesc& desc) override;
  void SetPrintf(std::function<void(std::string_view)> sink) override;

 private:
  CpuDevice(const Options& options, std::unique_ptr<Arena> arena);

  DeviceInfo info_;
  std::unique_ptr<Arena> arena_;
  DeviceHeap heap_;
  PrintSink sink_;
  Watchdog watchdog_;
  WorkerPool pool_;
  LaunchServices services_;
};

// What Enumerate() says of this machine.
DeviceInfo DescribeHost(const Options& options);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_DEVICE_H_
