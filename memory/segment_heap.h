// Addresses of unified allocations, out of the process's arena, in segments that
// devices can map as a whole:
//
//   | large allocation, whole units | gap | block: small | small | … | gap | …
//
// The gap of one unit between segments is never mapped, so that running over the
// end of a large allocation faults.
#ifndef HETGPU_MEMORY_SEGMENT_HEAP_H_
#define HETGPU_MEMORY_SEGMENT_HEAP_H_

#include <cstdint>
#include <map>
#include <mutex>

#include "absl/status/statusor.h"
#include "memory/arena.h"
#include "memory/range_allocator.h"

namespace hetgpu::memory {

// What segments are multiples of: at least what any device can map.
inline constexpr uint64_t kSegmentUnit = uint64_t{2} << 20;

// Thread-safe.
class SegmentHeap {
 public:
  explicit SegmentHeap(Arena& arena) : arena_(arena) {}

  struct Placement {
    uint64_t address = 0;  // aligned to 256
    uint64_t segment = 0;
    uint64_t segment_bytes = 0;
  };
  // `bytes` > 0. ResourceExhausted when no addresses are left.
  absl::StatusOr<Placement> Allocate(uint64_t bytes);
  // Gives an allocation back. `segment_is_empty`: it was the last one, and the
  // segment is mapped nowhere any more.
  void Free(const Placement& placement, uint64_t bytes, bool segment_is_empty);

 private:
  absl::StatusOr<uint64_t> NewSegment(uint64_t bytes);

  Arena& arena_;
  std::mutex mutex_;
  std::map<uint64_t, RangeAllocator> blocks_;  // segments of small allocations
};

}  // namespace hetgpu::memory

#endif  // HETGPU_MEMORY_SEGMENT_HEAP_H_
