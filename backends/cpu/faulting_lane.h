// Which lane of warp code made the access that faulted.
#ifndef HETGPU_BACKENDS_CPU_FAULTING_LANE_H_
#define HETGPU_BACKENDS_CPU_FAULTING_LANE_H_

#include <ucontext.h>

#include <cstdint>
#include <optional>

#include "backends/cpu/abi.h"
#include "backends/cpu/kernel_code.h"

namespace hetgpu::cpu {

// The lowest lane that takes part and whose access lies in the page of
// `address`, which the instruction at `pc` could not access; nullopt when that
// cannot be told. Safe in signal handlers.
std::optional<uint32_t> FaultingLane(const KernelCode& code,
                                     const BlockContext& block, uintptr_t pc,
                                     uintptr_t address,
                                     const ucontext_t& context);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_FAULTING_LANE_H_
