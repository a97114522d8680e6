// Copies and fills as launches of built-in kernels: all cores take part in
// large ones, and an address that is no longer valid fails the queue, not the
// process.
#ifndef HETGPU_BACKENDS_CPU_TRANSFER_H_
#define HETGPU_BACKENDS_CPU_TRANSFER_H_

#include <cstdint>
#include <string>

#include "backends/cpu/kernel_code.h"

namespace hetgpu::cpu {

struct Transfer {
  const KernelCode* code = nullptr;  // lives for ever
  std::string params;
  uint32_t blocks = 1;  // of one thread
};

// The ranges may overlap.
Transfer MakeCopy(uint64_t dst, uint64_t src, uint64_t bytes);

// Repeats the low `pattern_bytes` (1, 2, 4 or 8) of `pattern`.
Transfer MakeFill(uint64_t dst, uint64_t pattern, uint32_t pattern_bytes,
                  uint64_t count);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_TRANSFER_H_
