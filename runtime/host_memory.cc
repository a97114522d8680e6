#include "runtime/host_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "runtime/error.h"
#include "runtime/status_macros.h"

namespace hetgpu::runtime {
namespace {

uint64_t Number(const void* memory) {
  return reinterpret_cast<uint64_t>(memory);
}

}  // namespace

absl::StatusOr<void*> HostMemory::Allocate(hetgpu::Device& device,
                                           uint64_t bytes) {
  if (bytes == 0) {
    return Error(HETGPU_ERROR_INVALID_VALUE,
                 "host memory of 0 bytes, expected at least 1");
  }
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return Error(HETGPU_ERROR_OUT_OF_MEMORY, "host memory of ", bytes,
                 " bytes: ", std::strerror(errno));
  }
  if (auto status = device.RegisterHost(memory, bytes); !status.ok()) {
    munmap(memory, bytes);
    return Annotate(ResultOf(status), Cat("host memory of ", bytes, " bytes"),
                    status);
  }
  std::lock_guard lock(mutex_);
  ranges_[Number(memory)] = {bytes, true};
  return memory;
}

absl::StatusOr<HostMemory::Range> HostMemory::Take(void* memory,
                                                   bool allocated) {
  std::lock_guard lock(mutex_);
  const auto found = ranges_.find(Number(memory));
  if (found == ranges_.end() || found->second.allocated != allocated) {
    return Error(HETGPU_ERROR_INVALID_ADDRESS, "0x", absl::Hex(Number(memory)),
                 " is not the start of host memory that was ",
                 allocated ? "allocated" : "registered", " in this context");
  }
  const Range range = found->second;
  ranges_.erase(found);
  return range;
}

absl::Status HostMemory::Free(hetgpu::Device& device, void* memory) {
  if (memory == nullptr) return absl::OkStatus();
  HETGPU_ASSIGN_OR_RETURN(const Range range, Take(memory, /*allocated=*/true));
  device.UnregisterHost(memory);
  munmap(memory, range.bytes);
  return absl::OkStatus();
}

absl::Status HostMemory::Register(hetgpu::Device& device, void* memory,
                                  uint64_t bytes) {
  const uint64_t start = Number(memory);
  if (memory == nullptr || bytes == 0 || start + bytes < start) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "registering ", bytes,
                 " bytes at 0x", absl::Hex(start), ", expected memory");
  }
  std::lock_guard lock(mutex_);
  const auto after = ranges_.lower_bound(start + bytes);
  if (after != ranges_.begin()) {
    const auto& [known, range] = *std::prev(after);
    if (known + range.bytes > start) {
      return Error(HETGPU_ERROR_INVALID_VALUE, "registering ", bytes,
                   " bytes at 0x", absl::Hex(start), ": overlaps ", range.bytes,
                   " bytes at 0x", absl::Hex(known), " of this context");
    }
  }
  if (auto status = device.RegisterHost(memory, bytes); !status.ok()) {
    return Annotate(ResultOf(status), Cat("registering ", bytes, " bytes"),
                    status);
  }
  ranges_[start] = {bytes, false};
  return absl::OkStatus();
}

absl::Status HostMemory::Unregister(hetgpu::Device& device, void* memory) {
  HETGPU_RETURN_IF_ERROR(Take(memory, /*allocated=*/false).status());
  device.UnregisterHost(memory);
  return absl::OkStatus();
}

void HostMemory::MoveTo(hetgpu::Device& device) {
  std::lock_guard lock(mutex_);
  for (const auto& [start, range] : ranges_) {
    (void)device.RegisterHost(reinterpret_cast<void*>(start), range.bytes);
  }
}

void HostMemory::Clear(hetgpu::Device& device) {
  std::lock_guard lock(mutex_);
  for (const auto& [start, range] : ranges_) {
    void* const memory = reinterpret_cast<void*>(start);
    device.UnregisterHost(memory);
    if (range.allocated) munmap(memory, range.bytes);
  }
  ranges_.clear();
}

}  // namespace hetgpu::runtime
