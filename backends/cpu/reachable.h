// What kernels may access beside the inline test of emitted code.
#ifndef HETGPU_BACKENDS_CPU_REACHABLE_H_
#define HETGPU_BACKENDS_CPU_REACHABLE_H_

#include <cstdint>
#include <optional>

#include "backends/cpu/worker.h"

namespace hetgpu::cpu {

// For an access of `bytes` by the unit that runs: what leads from its address
// to that of the host (or, of an offset, 0); nullopt when it is no kernel's
// memory. Freed and guarded addresses of the arena pass: they fault.
std::optional<uint64_t> DisplacementOf(const BlockFrame& frame,
                                       TestedSpace space, uint64_t address,
                                       uint32_t bytes);

// As generic address.
uint64_t AddressForPeople(const BlockFrame& frame, TestedSpace space,
                          uint64_t address);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_REACHABLE_H_
