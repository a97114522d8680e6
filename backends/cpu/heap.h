// The heap behind malloc and free in kernels: one allocation of the arena,
// with its bookkeeping outside, where kernels cannot damage it.
#ifndef HETGPU_BACKENDS_CPU_HEAP_H_
#define HETGPU_BACKENDS_CPU_HEAP_H_

#include <cstdint>
#include <map>
#include <mutex>

#include "backends/cpu/arena.h"

namespace hetgpu::cpu {

// Thread-safe. Takes its memory from the arena at the first allocation.
class DeviceHeap {
 public:
  DeviceHeap(Arena* arena, uint64_t bytes);
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  // Aligned to 16 bytes; 0 when there is no room (as CUDA's malloc).
  uint64_t Allocate(uint64_t bytes);
  // False when `address` is not a live allocation of this heap.
  bool Free(uint64_t address);

  // Whether the address is of the heap's memory; then `live` is the allocation
  // that begins at or below it, with no bytes when there is none.
  bool Find(uint64_t address, Arena::Range* live);

 private:
  Arena* const arena_;
  const uint64_t bytes_;
  std::mutex mutex_;
  uint64_t base_ = 0;
  bool refused_ = false;
  std::map<uint64_t, uint64_t> live_;  // start → bytes, rounded up
  std::map<uint64_t, uint64_t> asked_;  // start → bytes
  std::map<uint64_t, uint64_t> free_;  // start → bytes, merged
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_HEAP_H_
