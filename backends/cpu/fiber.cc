#include "backends/cpu/fiber.h"

#include <pthread.h>

#include <boost/context/detail/fcontext.hpp>

#if defined(__SANITIZE_ADDRESS__)
#define HETGPU_ASAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HETGPU_ASAN_FIBERS 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define HETGPU_TSAN_FIBERS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HETGPU_TSAN_FIBERS 1
#endif
#endif
#ifdef HETGPU_ASAN_FIBERS
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef HETGPU_TSAN_FIBERS
#include <sanitizer/tsan_interface.h>
#endif

namespace hetgpu::cpu {
namespace {

namespace fcontext = boost::context::detail;

#ifdef HETGPU_TSAN_FIBERS
constexpr uint32_t kTsanUses = 1000;
#endif

struct Transfer {
  FiberContext* from;
  FiberContext* to;
};

void BeforeSwitch(FiberContext* from, FiberContext* to, bool leaving) {
#ifdef HETGPU_ASAN_FIBERS
  __sanitizer_start_switch_fiber(
      leaving ? nullptr : &from->asan_fake_stack, to->stack.low,
      static_cast<size_t>(to->stack.high - to->stack.low));
#endif
#ifdef HETGPU_TSAN_FIBERS
  __tsan_switch_to_fiber(to->tsan_fiber, 0);
#endif
}

void AfterSwitch(FiberContext* self) {
#ifdef HETGPU_ASAN_FIBERS
  __sanitizer_finish_switch_fiber(self->asan_fake_stack, nullptr, nullptr);
#endif
}

void Trampoline(fcontext::transfer_t arrival) {
  auto* transfer = static_cast<Transfer*>(arrival.data);
  transfer->from->resume_point = arrival.fctx;
  FiberContext* self = transfer->to;
  AfterSwitch(self);
  self->main();
  __builtin_trap();  // FiberMain never returns
}

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
#ifdef HETGPU_TSAN_FIBERS
  root->tsan_fiber = __tsan_get_current_fiber();
#endif
}

void PrepareFiber(FiberContext* fiber, const Stack& stack, FiberMain main,
                  size_t color) {
  fiber->stack = stack;
  fiber->main = main;
  fiber->asan_fake_stack = nullptr;
#ifdef HETGPU_ASAN_FIBERS
  // Frames abandoned by an exit or a fault leave their redzones behind.
  ASAN_UNPOISON_MEMORY_REGION(stack.low,
                              static_cast<size_t>(stack.high - stack.low));
#endif
#ifdef HETGPU_TSAN_FIBERS
  // Making one takes milliseconds, but each run leaves the frames it was in
  // when it ended on the sanitizer's shadow stack, which has an end.
  if (++fiber->tsan_uses % kTsanUses == 0) ForgetFiber(fiber);
  if (fiber->tsan_fiber == nullptr) fiber->tsan_fiber = __tsan_create_fiber(0);
#endif
  uint8_t* top = stack.high - color;
  fiber->resume_point = fcontext::make_fcontext(
      top, static_cast<size_t>(top - stack.low), Trampoline);
}

void SwitchFiber(FiberContext* from, FiberContext* to, bool leaving) {
  Transfer transfer{from, to};
  BeforeSwitch(from, to, leaving);
  const fcontext::transfer_t arrival =
      fcontext::jump_fcontext(to->resume_point, &transfer);
  auto* back = static_cast<Transfer*>(arrival.data);
  back->from->resume_point = arrival.fctx;
  AfterSwitch(from);
}

void ForgetFiber(FiberContext* fiber) {
#ifdef HETGPU_TSAN_FIBERS
  if (fiber->tsan_fiber != nullptr) __tsan_destroy_fiber(fiber->tsan_fiber);
#endif
  fiber->tsan_fiber = nullptr;
}

}  // namespace hetgpu::cpu
