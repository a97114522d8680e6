// Host memory that copies of a context reach at the full rate: allocated here, or
// the caller's own, registered.
#ifndef HETGPU_RUNTIME_HOST_MEMORY_H_
#define HETGPU_RUNTIME_HOST_MEMORY_H_

#include <cstdint>
#include <map>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/common/driver.h"

namespace hetgpu::runtime {

// Threads: any. `device` is the one that the context works on.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // INVALID_VALUE for nothing; OUT_OF_MEMORY.
  absl::StatusOr<void*> Allocate(hetgpu::Device& device, uint64_t bytes);
  // INVALID_ADDRESS when it was not allocated here. The caller has waited for
  // work in flight.
  absl::Status Free(hetgpu::Device& device, void* memory);
  // INVALID_VALUE for null, nothing, and what overlaps memory known here.
  absl::Status Register(hetgpu::Device& device, void* memory, uint64_t bytes);
  // INVALID_ADDRESS when it is not the start of registered memory.
  absl::Status Unregister(hetgpu::Device& device, void* memory);

  // The context works on `device` from now on. What it cannot register is copied
  // more slowly there.
  void MoveTo(hetgpu::Device& device);
  // Frees what was allocated and lets go of the rest.
  void Clear(hetgpu::Device& device);

 private:
  struct Range {
    uint64_t bytes = 0;
    bool allocated = false;
  };

  absl::StatusOr<Range> Take(void* memory, bool allocated);

  std::mutex mutex_;
  std::map<uint64_t, Range> ranges_;  // by start
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_HOST_MEMORY_H_
