#include "memory/segment_heap.h"

#include "absl/strings/str_cat.h"

namespace hetgpu::memory {
namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kLargestSmall = kSegmentUnit / 4;

uint64_t RoundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

absl::StatusOr<uint64_t> SegmentHeap::NewSegment(uint64_t bytes) {
  const uint64_t start = arena_.Allocate(bytes + kSegmentUnit, kSegmentUnit);
  if (start != 0) return start;
  return absl::ResourceExhaustedError(
      absl::StrCat("memory: no addresses left for ", bytes, " bytes"));
}

absl::StatusOr<SegmentHeap::Placement> SegmentHeap::Allocate(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (bytes > kArenaBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("memory: no addresses for ", bytes, " bytes: there are ",
                     kArenaBytes, " in all"));
  }
  if (bytes > kLargestSmall) {
    const uint64_t size = RoundUp(bytes, kSegmentUnit);
    const absl::StatusOr<uint64_t> start = NewSegment(size);
    if (!start.ok()) return start.status();
    return Placement{*start, *start, size};
  }
  const uint64_t size = RoundUp(bytes, kAlignment);
  for (auto& [start, block] : blocks_) {
    const uint64_t address = block.Allocate(size, kAlignment);
    if (address != 0) return Placement{address, start, kSegmentUnit};
  }
  const absl::StatusOr<uint64_t> start = NewSegment(kSegmentUnit);
  if (!start.ok()) return start.status();
  RangeAllocator& block =
      blocks_.emplace(*start, RangeAllocator(*start, kSegmentUnit))
          .first->second;
  return Placement{block.Allocate(size, kAlignment), *start, kSegmentUnit};
}

void SegmentHeap::Free(const Placement& placement, uint64_t bytes,
                       bool segment_is_empty) {
  std::lock_guard lock(mutex_);
  const auto block = blocks_.find(placement.segment);
  if (!segment_is_empty) {
    block->second.Free(placement.address, RoundUp(bytes, kAlignment));
    return;
  }
  if (block != blocks_.end()) blocks_.erase(block);
  arena_.Free(placement.segment, placement.segment_bytes + kSegmentUnit);
}

}  // namespace hetgpu::memory
