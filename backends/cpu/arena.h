// Memory of a CPU device: host memory at addresses of the process's arena.
//
//   overlay (no access)
//   | guard | allocation 1 | guard | allocation 2 | guard | freed, no access …
//
// Every allocation is committed pages of its own between inaccessible ones, so
// that running over an end, and using a freed address, faults. Allocations end
// within 256 bytes of their upper guard, the granule to which CUDA aligns them.
// Freed addresses come back into use as late as possible.
#ifndef HETGPU_BACKENDS_CPU_ARENA_H_
#define HETGPU_BACKENDS_CPU_ARENA_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cpu/overlay.h"
#include "memory/arena.h"

namespace hetgpu::cpu {

// Thread-safe. Operations take O(log allocations).
class Arena {
 public:
  // On the process's overlay. Allocations and mappings may use `limit` bytes,
  // counted in whole pages.
  static absl::StatusOr<std::unique_ptr<Arena>> Create(uint64_t limit);
  Arena(Overlay& overlay, uint64_t limit);
  // On an overlay of its own, at `host_base` or wherever the system puts it.
  static absl::StatusOr<std::unique_ptr<Arena>> CreateElsewhere(
      uint64_t host_base, uint64_t limit);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Zeroed and aligned to 256 bytes; ResourceExhausted names what was asked for
  // and what is free.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);
  // InvalidArgument when `address` is not the start of a live allocation.
  absl::Status Free(uint64_t address);
  // Zeroed memory at addresses that the caller took from the process's arena,
  // multiples of the page.
  absl::Status Map(uint64_t start, uint64_t bytes);
  // InvalidArgument when that is not a whole mapping.
  absl::Status Unmap(uint64_t start, uint64_t bytes);
  uint64_t FreeBytes() const;

  const Overlay& overlay() const { return overlay_; }

 private:
  absl::Status Release(uint64_t address, uint64_t size);

  std::unique_ptr<Overlay> own_overlay_;  // outlives what is below
  memory::Arena& addresses_;
  Overlay& overlay_;
  const uint64_t limit_;
  mutable std::mutex mutex_;
  uint64_t used_ = 0;
  std::map<uint64_t, uint64_t> live_;    // start → bytes of its pages
  std::map<uint64_t, uint64_t> mapped_;  // start → bytes
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_ARENA_H_
