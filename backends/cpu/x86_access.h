// What a vector instruction of x86-64 was about to access when it faulted, from
// its bytes and the registers in the signal frame.
//
//   prefixes | opcode | ModRM | SIB | displacement       VEX or EVEX encoded
//
// Only what compilers make of loads, stores, gathers and scatters of lanes is
// understood; everything else is refused, never guessed.
#ifndef HETGPU_BACKENDS_CPU_X86_ACCESS_H_
#define HETGPU_BACKENDS_CPU_X86_ACCESS_H_

#include <ucontext.h>

#include <cstdint>

namespace hetgpu::cpu {

// Elements that the instruction was to access.
struct VectorAccess {
  uint32_t count = 0;          // 0: not understood
  uint32_t active = 0;         // bit per element that takes part
  uint64_t addresses[64] = {};
};

// `bytes` is the size of an element, `gather` whether each has an address of its
// own. The instruction lies at `code`, of which `room` bytes may be read. Safe
// in signal handlers.
VectorAccess DecodeVectorAccess(const uint8_t* code, uint64_t room,
                                const ucontext_t& context, uint32_t bytes,
                                bool gather);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_X86_ACCESS_H_
