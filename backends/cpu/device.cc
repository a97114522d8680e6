#include "backends/cpu/device.h"

#include <utility>

#include "backends/cpu/event.h"
#include "backends/cpu/guarded_memory.h"
#include "backends/cpu/host_cpu.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/queue.h"
#include "backends/cpu/worker.h"

namespace hetgpu::cpu {

DeviceInfo DescribeHost(const Options& options) {
  const HostCpu cpu = DetectHostCpu();
  DeviceInfo info;
  info.backend = "cpu";
  info.name = cpu.name;
  info.target = options.target == kNativeTarget ? cpu.target
                                                : TargetName(options.target);
  info.total_memory = options.memory_bytes;
  info.compute_units = options.threads;
  info.clock_khz = cpu.clock_khz;
  info.host_addressable = options.host_base == 0;
  info.has_host_pointers = true;
  info.host_functions_may_wait = true;
  return info;
}

absl::StatusOr<std::unique_ptr<CpuDevice>> CpuDevice::Open(
    const Options& options) {
  absl::StatusOr<std::unique_ptr<Arena>> arena =
      options.host_base == 0
          ? Arena::Create(options.memory_bytes)
          : Arena::CreateElsewhere(options.host_base, options.memory_bytes);
  if (!arena.ok()) return arena.status();
  return std::unique_ptr<CpuDevice>(new CpuDevice(options, *std::move(arena)));
}

CpuDevice::CpuDevice(const Options& options, std::unique_ptr<Arena> arena)
    : info_(DescribeHost(options)),
      arena_(std::move(arena)),
      heap_(arena_.get(), options.heap_bytes),
      pool_(options.threads) {
  services_.overlay = &arena_->overlay();
  services_.heap = &heap_;
  services_.sink = &sink_;
  services_.watchdog = &watchdog_;
  services_.stack_bytes = options.stack_bytes;
  services_.arena = arena_.get();
  if (options.memcheck) info_.target += kMemcheckPart;
  info_.target += TargetSuffix(arena_->overlay().window());
  info_.host_addressable = arena_->overlay().delta() == 0;
}

absl::StatusOr<uint64_t> CpuDevice::Allocate(uint64_t bytes) {
  return arena_->Allocate(bytes);
}

absl::Status CpuDevice::Free(uint64_t address) { return arena_->Free(address); }

uint64_t CpuDevice::FreeMemory() const { return arena_->FreeBytes(); }

uint64_t CpuDevice::MapGranularity() const { return kPageBytes; }

absl::Status CpuDevice::Map(uint64_t address, uint64_t bytes) {
  return arena_->Map(address, bytes);
}

absl::Status CpuDevice::Unmap(uint64_t address, uint64_t bytes) {
  return arena_->Unmap(address, bytes);
}

void* CpuDevice::HostPointer(uint64_t address) const {
  return reinterpret_cast<void*>(arena_->overlay().ToHost(address));
}

absl::StatusOr<std::unique_ptr<Kernel>> CpuDevice::Load(
    const KernelInfo& info, std::string_view image) {
  absl::StatusOr<std::unique_ptr<LoadedImage>> loaded =
      LoadedImage::Load(info.name, image);
  if (!loaded.ok()) return loaded.status();
  return std::unique_ptr<Kernel>(
      std::make_unique<CpuKernel>(*std::move(loaded), info.local_bytes));
}

absl::StatusOr<std::unique_ptr<Queue>> CpuDevice::CreateQueue() {
  return std::unique_ptr<Queue>(std::make_unique<CpuQueue>(&pool_, services_));
}

absl::StatusOr<std::unique_ptr<Event>> CpuDevice::CreateEvent() {
  return std::unique_ptr<Event>(std::make_unique<CpuEvent>());
}

absl::StatusOr<uint64_t> CpuDevice::CooperativeLimit(const LaunchDesc& desc) {
  const KernelCode& code = static_cast<CpuKernel*>(desc.kernel)->code();
  if (!code.needs_fibers) return UINT64_MAX;
  const uint32_t threads = desc.block.x * desc.block.y * desc.block.z;
  const uint32_t units =
      (threads + code.lanes_per_unit - 1) / code.lanes_per_unit;
  return uint64_t{pool_.threads()} * ResidentBlocks(units, pool_.threads());
}

void CpuDevice::SetPrintf(std::function<void(std::string_view)> sink) {
  sink_.Set(std::move(sink));
}

}  // namespace hetgpu::cpu
