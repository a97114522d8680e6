#include "backends/cpu/heap.h"

#include <algorithm>
#include <iterator>

#include "backends/cpu/guarded_memory.h"

namespace hetgpu::cpu {
namespace {

constexpr uint64_t kAlignment = 16;

}  // namespace

DeviceHeap::DeviceHeap(Arena* arena, uint64_t bytes)
    : arena_(arena), bytes_(RoundUp(bytes, kAlignment)) {}

DeviceHeap::~DeviceHeap() {
  if (base_ != 0) (void)arena_->Free(base_);
}

uint64_t DeviceHeap::Allocate(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (base_ == 0 && !refused_) {
    absl::StatusOr<uint64_t> base = arena_->Allocate(bytes_);
    refused_ = !base.ok();
    if (refused_) return 0;
    base_ = *base;
    free_[base_] = bytes_;
  }
  if (bytes == 0 || bytes > bytes_) return 0;
  const uint64_t size = RoundUp(bytes, kAlignment);
  const auto range = std::find_if(free_.begin(), free_.end(),
                                  [&](auto& r) { return r.second >= size; });
  if (range == free_.end()) return 0;
  const auto [start, range_bytes] = *range;
  free_.erase(range);
  if (range_bytes > size) free_[start + size] = range_bytes - size;
  live_[start] = size;
  asked_[start] = bytes;
  return start;
}

bool DeviceHeap::Free(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) return false;
  auto [start, bytes] = *found;
  live_.erase(found);
  asked_.erase(address);
  auto next = free_.lower_bound(start);
  if (next != free_.end() && start + bytes == next->first) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      before->second += bytes;
      return true;
    }
  }
  free_[start] = bytes;
  return true;
}

bool DeviceHeap::Find(uint64_t address, Arena::Range* live) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (base_ == 0 || address - base_ >= bytes_) return false;
  *live = {};
  const auto above = asked_.upper_bound(address);
  if (above != asked_.begin()) {
    const auto below = std::prev(above);
    *live = {below->first, below->second};
  }
  return true;
}

}  // namespace hetgpu::cpu
