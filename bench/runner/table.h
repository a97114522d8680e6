// Rows as text, printed as they are measured.
#ifndef HETGPU_BENCH_RUNNER_TABLE_H_
#define HETGPU_BENCH_RUNNER_TABLE_H_

#include "bench/runner/results.h"

namespace hetgpu::bench {

void PrintDevice(const DeviceReport& device);
void PrintRow(const Row& row, const Ceilings& ceilings);

// "12.3 ms", "4.56 us".
std::string TimeText(double seconds);

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_RUNNER_TABLE_H_
