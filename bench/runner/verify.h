// Are the results of two executors the same?
#ifndef HETGPU_BENCH_RUNNER_VERIFY_H_
#define HETGPU_BENCH_RUNNER_VERIFY_H_

#include <cstdint>

#include "absl/status/status.h"
#include "bench/runner/executor.h"

namespace hetgpu::bench {

// Compares every output of the loaded `workload`; the first difference is
// named with both values.
absl::Status CompareResults(const Workload& workload, Executor& executor,
                            Executor& reference);

// Sets the operations of a workload whose work depends on its data.
absl::Status CountOperations(Workload& workload, Executor& executor);

// The first of `count` elements in which `values` and `expected` differ beyond
// the buffer's tolerance; `count` when there is none. NaN equals itself only
// bit by bit.
uint64_t FirstDifference(const Buffer& buffer, const void* values,
                         const void* expected, uint64_t count);

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_RUNNER_VERIFY_H_
