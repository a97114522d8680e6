#include "memory/range_allocator.h"

#include <iterator>

namespace hetgpu::memory {

RangeAllocator::RangeAllocator(uint64_t start, uint64_t bytes) {
  Add(start, bytes);
}

void RangeAllocator::Add(uint64_t start, uint64_t bytes) {
  by_start_.emplace(start, bytes);
  by_size_.emplace(bytes, start);
  free_bytes_ += bytes;
}

void RangeAllocator::Remove(uint64_t start, uint64_t bytes) {
  by_start_.erase(start);
  by_size_.erase({bytes, start});
  free_bytes_ -= bytes;
}

uint64_t RangeAllocator::Allocate(uint64_t bytes, uint64_t alignment) {
  for (auto it = by_size_.lower_bound({bytes, 0}); it != by_size_.end();
       ++it) {
    const auto [size, start] = *it;
    const uint64_t lead = -start & (alignment - 1);
    if (lead > size - bytes) continue;
    Remove(start, size);
    if (lead > 0) Add(start, lead);
    const uint64_t tail = size - lead - bytes;
    if (tail > 0) Add(start + lead + bytes, tail);
    return start + lead;
  }
  return 0;
}

bool RangeAllocator::Take(uint64_t start, uint64_t bytes) {
  const auto after = by_start_.upper_bound(start);
  if (after == by_start_.begin()) return false;
  const auto [begin, size] = *std::prev(after);
  const uint64_t lead = start - begin;
  if (lead > size || bytes > size - lead) return false;
  Remove(begin, size);
  if (lead > 0) Add(begin, lead);
  const uint64_t tail = size - lead - bytes;
  if (tail > 0) Add(start + bytes, tail);
  return true;
}

void RangeAllocator::Free(uint64_t start, uint64_t bytes) {
  auto next = by_start_.lower_bound(start);
  if (next != by_start_.begin()) {
    const auto [before, size] = *std::prev(next);
    if (before + size == start) {
      Remove(before, size);
      start = before;
      bytes += size;
    }
  }
  next = by_start_.lower_bound(start);
  if (next != by_start_.end() && next->first == start + bytes) {
    const uint64_t size = next->second;
    Remove(next->first, size);
    bytes += size;
  }
  Add(start, bytes);
}

}  // namespace hetgpu::memory
