#include "backends/cpu/stack_pool.h"

#include <utility>

namespace hetgpu::cpu {

bool StackPool::Grow() {
  GuardedMemory memory = GuardedMemory::Map(stack_bytes_, guard_bytes_);
  if (!memory) return false;
  free_.push_back({memory.low(), memory.high()});
  mapped_.push_back(std::move(memory));
  return true;
}

bool StackPool::Acquire(size_t count, size_t bytes, std::vector<Stack>* out) {
  if (bytes > stack_bytes_ && free_.size() == mapped_.size()) {
    free_.clear();
    mapped_.clear();
    stack_bytes_ = RoundUp(bytes, kPageBytes);
  }
  if (bytes > stack_bytes_) return false;
  while (free_.size() < count) {
    if (!Grow()) return false;
  }
  out->insert(out->end(), free_.end() - count, free_.end());
  free_.resize(free_.size() - count);
  return true;
}

void StackPool::Release(const std::vector<Stack>& stacks) {
  free_.insert(free_.end(), stacks.begin(), stacks.end());
}

}  // namespace hetgpu::cpu
