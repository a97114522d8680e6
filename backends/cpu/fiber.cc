// On x86-64 the switch is our own: it leaves by `ret`, so that the returns of
// the frames above it are predicted, which boost's jump upsets: that costs
// five times the switch. Elsewhere, or with HETGPU_BOOST_FIBERS, boost's.
#include "backends/cpu/fiber.h"

#include <pthread.h>

#include "backends/cpu/sanitizers.h"

#if defined(__x86_64__) && !defined(HETGPU_BOOST_FIBERS)
#define HETGPU_OWN_SWITCH 1
#else
#include <boost/context/detail/fcontext.hpp>
#endif

#if HETGPU_HAS_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if HETGPU_HAS_TSAN
#include <sanitizer/tsan_interface.h>
#endif

#ifdef HETGPU_OWN_SWITCH
extern "C" {
// Saves the callee's registers and the stack pointer, in *save, and goes on
// where `load` was saved.
void hetgpu_cpu_switch_stack(void** save, void* load);
// First code of a fiber: calls r12 with rbx.
void hetgpu_cpu_start_fiber();
}

asm(R"(
  .text
  .p2align 4
  .type hetgpu_cpu_switch_stack, @function
  .hidden hetgpu_cpu_switch_stack
  .globl hetgpu_cpu_switch_stack
hetgpu_cpu_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .size hetgpu_cpu_switch_stack, . - hetgpu_cpu_switch_stack

  .p2align 4
  .type hetgpu_cpu_start_fiber, @function
  .hidden hetgpu_cpu_start_fiber
  .globl hetgpu_cpu_start_fiber
hetgpu_cpu_start_fiber:
  movq %rbx, %rdi
  jmp *%r12
  .size hetgpu_cpu_start_fiber, . - hetgpu_cpu_start_fiber
)");
#endif

namespace hetgpu::cpu {
namespace {

#if HETGPU_HAS_TSAN
constexpr uint32_t kTsanUses = 1000;
#endif

void BeforeSwitch(FiberContext* from, FiberContext* to, bool leaving) {
#if HETGPU_HAS_ASAN
  __sanitizer_start_switch_fiber(
      leaving ? nullptr : &from->asan_fake_stack, to->stack.low,
      static_cast<size_t>(to->stack.high - to->stack.low));
#endif
#if HETGPU_HAS_TSAN
  __tsan_switch_to_fiber(to->tsan_fiber, 0);
#endif
}

void AfterSwitch(FiberContext* self) {
#if HETGPU_HAS_ASAN
  __sanitizer_finish_switch_fiber(self->asan_fake_stack, nullptr, nullptr);
#endif
}

#ifdef HETGPU_OWN_SWITCH

void Start(FiberContext* self) {
  AfterSwitch(self);
  self->main();
  __builtin_trap();  // FiberMain never returns
}

// The stack as hetgpu_cpu_switch_stack() leaves one.
struct FirstFrame {
  uint64_t r15 = 0, r14 = 0, r13 = 0;
  void (*r12)(FiberContext*) = Start;
  FiberContext* rbx = nullptr;
  uint64_t rbp = 0;
  void (*return_address)() = hetgpu_cpu_start_fiber;
  uint64_t no_caller = 0;
};

void* MakeFirstFrame(FiberContext* fiber, uint8_t* top) {
  const uintptr_t aligned = reinterpret_cast<uintptr_t>(top) & ~uintptr_t{15};
  auto* frame = reinterpret_cast<FirstFrame*>(aligned) - 1;
  *frame = FirstFrame();
  frame->rbx = fiber;
  return frame;
}

void Jump(FiberContext* from, FiberContext* to) {
  hetgpu_cpu_switch_stack(&from->resume_point, to->resume_point);
}

#else

namespace fcontext = boost::context::detail;

struct Transfer {
  FiberContext* from;
  FiberContext* to;
};

void Trampoline(fcontext::transfer_t arrival) {
  auto* transfer = static_cast<Transfer*>(arrival.data);
  transfer->from->resume_point = arrival.fctx;
  FiberContext* self = transfer->to;
  AfterSwitch(self);
  self->main();
  __builtin_trap();  // FiberMain never returns
}

void* MakeFirstFrame(FiberContext* fiber, uint8_t* top) {
  return fcontext::make_fcontext(
      top, static_cast<size_t>(top - fiber->stack.low), Trampoline);
}

void Jump(FiberContext* from, FiberContext* to) {
  Transfer transfer{from, to};
  const fcontext::transfer_t arrival =
      fcontext::jump_fcontext(to->resume_point, &transfer);
  static_cast<Transfer*>(arrival.data)->from->resume_point = arrival.fctx;
}

#endif

}  // namespace

void DescribeThreadStack(FiberContext* root) {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
  }
  root->stack.low = static_cast<uint8_t*>(low);
  root->stack.high = root->stack.low + size;
#if HETGPU_HAS_TSAN
  root->tsan_fiber = __tsan_get_current_fiber();
#endif
}

void PrepareFiber(FiberContext* fiber, const Stack& stack, FiberMain main,
                  size_t color) {
  fiber->stack = stack;
  fiber->main = main;
  fiber->asan_fake_stack = nullptr;
#if HETGPU_HAS_ASAN
  // Frames abandoned by an exit or a fault leave their redzones behind.
  ASAN_UNPOISON_MEMORY_REGION(stack.low,
                              static_cast<size_t>(stack.high - stack.low));
#endif
#if HETGPU_HAS_TSAN
  // Making one takes milliseconds, but each run leaves the frames it was in
  // when it ended on the sanitizer's shadow stack, which has an end.
  if (++fiber->tsan_uses % kTsanUses == 0) ForgetFiber(fiber);
  if (fiber->tsan_fiber == nullptr) fiber->tsan_fiber = __tsan_create_fiber(0);
#endif
  fiber->resume_point = MakeFirstFrame(fiber, stack.high - color);
}

void SwitchFiber(FiberContext* from, FiberContext* to, bool leaving) {
  BeforeSwitch(from, to, leaving);
  Jump(from, to);
  AfterSwitch(from);
}

void ForgetFiber(FiberContext* fiber) {
#if HETGPU_HAS_TSAN
  if (fiber->tsan_fiber != nullptr) __tsan_destroy_fiber(fiber->tsan_fiber);
#endif
  fiber->tsan_fiber = nullptr;
}

}  // namespace hetgpu::cpu
