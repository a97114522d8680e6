#include "backends/cpu/guarded_memory.h"

#include <sys/mman.h>

#include <utility>

namespace hetgpu::cpu {

GuardedMemory::~GuardedMemory() {
  if (low_ != nullptr) munmap(low_ - guard_, bytes_ + 2 * guard_);
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : low_(std::exchange(other.low_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      guard_(std::exchange(other.guard_, 0)) {}

GuardedMemory& GuardedMemory::operator=(GuardedMemory&& other) noexcept {
  std::swap(low_, other.low_);
  std::swap(bytes_, other.bytes_);
  std::swap(guard_, other.guard_);
  return *this;
}

GuardedMemory GuardedMemory::Map(size_t bytes, size_t guard) {
  GuardedMemory memory;
  const size_t size = RoundUp(bytes, kPageBytes);
  const size_t total = size + 2 * guard;
  void* base = mmap(nullptr, total, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return memory;
  uint8_t* low = static_cast<uint8_t*>(base) + guard;
  if (size != 0 && mprotect(low, size, PROT_READ | PROT_WRITE) != 0) {
    munmap(base, total);
    return memory;
  }
  memory.low_ = low;
  memory.bytes_ = size;
  memory.guard_ = guard;
  return memory;
}

}  // namespace hetgpu::cpu
