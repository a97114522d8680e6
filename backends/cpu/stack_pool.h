// Stacks of one worker, reused from block to block and launch to launch.
#ifndef HETGPU_BACKENDS_CPU_STACK_POOL_H_
#define HETGPU_BACKENDS_CPU_STACK_POOL_H_

#include <cstddef>
#include <vector>

#include "backends/cpu/fiber.h"
#include "backends/cpu/guarded_memory.h"

namespace hetgpu::cpu {

// Not thread-safe: each worker has its own.
class StackPool {
 public:
  // `guard_bytes`: inaccessible addresses on each side of a stack.
  explicit StackPool(size_t guard_bytes) : guard_bytes_(guard_bytes) {}

  // Appends `count` stacks of at least `bytes` each to `*out`; false, with
  // nothing appended, when the system refuses to map that many (each stack
  // takes two of the process's vm.max_map_count mappings).
  bool Acquire(size_t count, size_t bytes, std::vector<Stack>* out);
  void Release(const std::vector<Stack>& stacks);

 private:
  bool Grow();

  const size_t guard_bytes_;
  size_t stack_bytes_ = 0;
  std::vector<GuardedMemory> mapped_;
  std::vector<Stack> free_;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_STACK_POOL_H_
