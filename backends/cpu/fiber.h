// Stack switching: one FiberContext per stack that can be suspended, with the
// annotations AddressSanitizer and ThreadSanitizer need to follow it. Floating
// point control registers are not switched: all code leaves them as it found
// them.
#ifndef HETGPU_BACKENDS_CPU_FIBER_H_
#define HETGPU_BACKENDS_CPU_FIBER_H_

#include <cstddef>
#include <cstdint>

namespace hetgpu::cpu {

// A stack: usable bytes [low, high); below `low` lies a guard.
struct Stack {
  uint8_t* low = nullptr;
  uint8_t* high = nullptr;
};

// Runs on a fresh fiber; must never return (it switches away for good).
using FiberMain = void (*)();

// Where a suspended stack continues. Plain data: dropping one drops the fiber.
struct FiberContext {
  void* resume_point = nullptr;
  FiberMain main = nullptr;
  Stack stack;
  void* asan_fake_stack = nullptr;
  void* tsan_fiber = nullptr;
  uint32_t tsan_uses = 0;
};

// Describes the calling thread's own stack, so that fibers can return to it.
void DescribeThreadStack(FiberContext* root);

// Makes the next switch to `fiber` start `main` on an empty `stack`, whatever
// ran on it before. The top of the stack is `stack.high - color`: fibers with
// different colors do not fight for the same cache sets.
void PrepareFiber(FiberContext* fiber, const Stack& stack, FiberMain main,
                  size_t color = 0);

// Suspends the caller, whose context is `from`, and continues `to`. With
// `leaving` the caller will not be continued again.
void SwitchFiber(FiberContext* from, FiberContext* to, bool leaving = false);

// Frees what the sanitizers keep for a fiber that will not run again.
void ForgetFiber(FiberContext* fiber);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_FIBER_H_
