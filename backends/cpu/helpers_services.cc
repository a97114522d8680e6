// Helpers that fail a launch, print, allocate, wait or tell the time.
#include <ctime>

#include "backends/cpu/block_run.h"
#include "backends/cpu/heap.h"
#include "backends/cpu/helpers.h"
#include "backends/cpu/print_format.h"
#include "backends/cpu/reachable.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace hetgpu::cpu {
namespace {

using Kind = LaunchError::Kind;

BlockFrame* FrameOf(BlockContext* block) {
  return static_cast<BlockFrame*>(block);
}

uint64_t Nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<uint64_t>(now.tv_nsec);
}

Kind KindOf(TrapKind kind) {
  switch (kind) {
    case TrapKind::kTrap:
      return Kind::kTrap;
    case TrapKind::kMisaligned:
      return Kind::kMisalignedAddress;
    case TrapKind::kInvalid:
      return Kind::kInvalidInstruction;
  }
  return Kind::kTrap;
}

// Of the unit that runs; an address that is no kernel's memory ends the block.
class FrameMap final : public AddressMap {
 public:
  explicit FrameMap(const BlockFrame* frame) : frame_(*frame) {}

  uint64_t ToHost(uint64_t address) const override {
    const std::optional<uint64_t> displacement =
        DisplacementOf(frame_, TestedSpace::kGeneric, address, 1);
    if (displacement.has_value()) return address + *displacement;
    Worker* owner = frame_.owner;
    const uint32_t line =
        frame_.launch->code().LineOf(owner->helper_caller - 1);
    owner->helper_caller = 0;
    owner->RaiseAddress(address, frame_.acting_lane, line, "");
  }

 private:
  const BlockFrame& frame_;
};

}  // namespace

namespace helper {

void trap(BlockContext* block, uint32_t kind, uint32_t lane, uint32_t line) {
  FrameOf(block)->owner->Raise(KindOf(static_cast<TrapKind>(kind)), lane, line,
                               "");
}

void assert_fail(BlockContext* block, uint64_t message, uint64_t file,
                 uint32_t file_line, uint64_t function, uint64_t char_size,
                 uint32_t lane, uint32_t line) {
  BlockFrame* frame = FrameOf(block);
  const uint32_t unit = frame->current_unit;
  const Dim3 thread = frame->launch->ThreadOf(
      unit * frame->launch->code().lanes_per_unit + lane);
  frame->owner->helper_caller =
      reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  const FrameMap map(frame);
  BoundedText out(frame->owner->print_buffer(), kMaxPrintBytes, map);
  out.AppendKernelString(file, char_size);
  out.AppendFormat(":%u: ", file_line);
  out.AppendKernelString(function, char_size);
  out.AppendFormat(": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `",
                   frame->ctaid[0], frame->ctaid[1], frame->ctaid[2], thread.x,
                   thread.y, thread.z);
  out.AppendKernelString(message, char_size);
  out.AppendFormat("` failed.\n");
  frame->owner->helper_caller = 0;
  frame->owner->Print(out.view());
  std::string detail(out.view().substr(0, out.view().size() - 1));
  frame->owner->Raise(Kind::kAssert, lane, line, std::move(detail));
}

uint32_t vprintf(BlockContext* block, uint64_t format, uint64_t arguments) {
  Worker* owner = FrameOf(block)->owner;
  owner->helper_caller =
      reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  const FrameMap map(FrameOf(block));
  BoundedText out(owner->print_buffer(), kMaxPrintBytes, map);
  const int32_t printed = FormatPrintf(format, arguments, &out);
  owner->helper_caller = 0;
  owner->Print(out.view());
  return static_cast<uint32_t>(printed);
}

uint64_t device_malloc(BlockContext* block, uint64_t bytes) {
  DeviceHeap* heap = FrameOf(block)->launch->services().heap;
  return heap == nullptr ? 0 : heap->Allocate(bytes);
}

void device_free(BlockContext* block, uint64_t address) {
  if (address == 0) return;
  BlockFrame* frame = FrameOf(block);
  DeviceHeap* heap = frame->launch->services().heap;
  if (heap != nullptr && heap->Free(address)) return;
  const auto caller = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  frame->owner->RaiseAddress(
      address, frame->acting_lane, frame->launch->code().LineOf(caller - 1),
      "free of an address that malloc did not return or that is free already");
}

void nanosleep(BlockContext* block, uint32_t ns) {
  BlockFrame* frame = FrameOf(block);
  constexpr uint32_t kLongest = 1000000;  // PTX: at most 1 ms
  const uint64_t end =
      Nanoseconds(CLOCK_MONOTONIC) + (ns < kLongest ? ns : kLongest);
  do {
    yield(block);
    if (frame->run == nullptr) {
      const timespec pause = {0, static_cast<long>(ns < 50000 ? ns : 50000)};
      ::nanosleep(&pause, nullptr);
    }
  } while (Nanoseconds(CLOCK_MONOTONIC) < end);
}

uint64_t clock64(BlockContext* block) {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return Nanoseconds(CLOCK_MONOTONIC);
#endif
}

uint64_t globaltimer(BlockContext* block) {
  return Nanoseconds(CLOCK_REALTIME);
}

}  // namespace helper
}  // namespace hetgpu::cpu
