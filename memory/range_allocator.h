// Hands out stretches of a range of addresses. Best fit; freed stretches merge
// with their neighbours. Knows nothing of what lies at the addresses.
#ifndef HETGPU_MEMORY_RANGE_ALLOCATOR_H_
#define HETGPU_MEMORY_RANGE_ALLOCATOR_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace hetgpu::memory {

// Not thread-safe. Operations take O(log free stretches).
class RangeAllocator {
 public:
  // Nothing, until Free() gives it something.
  RangeAllocator() = default;
  // The range [start, start + bytes), start > 0, bytes > 0, no wrap.
  RangeAllocator(uint64_t start, uint64_t bytes);

  // `bytes` > 0 addresses starting at a multiple of `alignment`, a power of two;
  // 0 when no stretch is long enough.
  uint64_t Allocate(uint64_t bytes, uint64_t alignment);
  // These addresses; false when not all of them are free.
  bool Take(uint64_t start, uint64_t bytes);
  // Gives back what Allocate returned, or a part of it, or adds a range.
  void Free(uint64_t start, uint64_t bytes);

  uint64_t free_bytes() const { return free_bytes_; }

 private:
  void Add(uint64_t start, uint64_t bytes);
  void Remove(uint64_t start, uint64_t bytes);

  uint64_t free_bytes_ = 0;
  std::map<uint64_t, uint64_t> by_start_;               // start → bytes
  std::set<std::pair<uint64_t, uint64_t>> by_size_;     // {bytes, start}
};

}  // namespace hetgpu::memory

#endif  // HETGPU_MEMORY_RANGE_ALLOCATOR_H_
