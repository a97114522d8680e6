// Process-wide counters: how the runtime spent its calls.
#ifndef HETGPU_RUNTIME_COUNTERS_H_
#define HETGPU_RUNTIME_COUNTERS_H_

#include <cstdint>

#include "hetgpu/hetgpu.h"

namespace hetgpu::runtime {

// Threads: any; each counter is atomic by itself.
void Count(hetgpuCounter counter, uint64_t amount = 1);
uint64_t CounterValue(hetgpuCounter counter);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_COUNTERS_H_
