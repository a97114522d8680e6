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

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

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

  // What lies at or near an address: exact bounds, as they were asked for.
  struct Range {
    uint64_t start = 0;
    uint64_t bytes = 0;
    bool Holds(uint64_t address, uint64_t size) const {
      return address >= start && address - start < bytes &&
             size <= bytes - (address - start);
    }
  };
  // The allocation or mapping with the highest start at or below `address`, and
  // the one with the lowest start above.
  struct Neighbours {
    std::optional<Range> below, above;
  };
  Neighbours Near(uint64_t address) const;
  // An allocation that was freed and that held the address.
  std::optional<Range> FreedAt(uint64_t address) const;
  // Changes with every allocation and release.
  uint64_t generation() const {
    return generation_.load(std::memory_order_acquire);
  }

  const Overlay& overlay() const { return overlay_; }

 private:
  struct Live {
    uint64_t pages = 0;  // bytes of its pages
    uint64_t bytes = 0;  // as asked for
  };
  absl::Status Release(uint64_t address, uint64_t size);
  void Forget(uint64_t start, uint64_t bytes);

  std::unique_ptr<Overlay> own_overlay_;  // outlives what is below
  memory::Arena& addresses_;
  Overlay& overlay_;
  const uint64_t limit_;
  mutable std::mutex mutex_;
  uint64_t used_ = 0;
  std::map<uint64_t, Live> live_;        // by start
  std::map<uint64_t, uint64_t> freed_;   // start → bytes, some of them
  std::atomic<uint64_t> generation_{1};
  std::map<uint64_t, uint64_t> mapped_;  // start → bytes
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_ARENA_H_
