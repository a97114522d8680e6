// How long compiling takes: every sample is a process of its own, with caches
// that are empty or filled on purpose.
#ifndef HETGPU_BENCH_RUNNER_JIT_H_
#define HETGPU_BENCH_RUNNER_JIT_H_

#include <string>
#include <vector>

#include "bench/runner/executor.h"
#include "bench/runner/results.h"

namespace hetgpu::bench {

struct JitOptions {
  std::string device;
  int rounds = 5;
  std::vector<std::string> modules = {};
  // Name and environment of each way: hetGPU's; "driver" is the CUDA driver.
  std::vector<std::pair<std::string, std::string>> ways = {};
  // The runner and what it must be told to find its files.
  std::vector<std::string> command = {};
};

// Modules of the catalog's workloads, in order.
std::vector<std::string> CatalogModules();

// A cold and a warm row per module, and one of each for the first module of a
// process, which also loads the compiler.
std::vector<Row> MeasureJit(const JitOptions& options);

// In the process of a sample: compiles `modules` one after the other and
// prints a line "seconds" for each. Returns the exit status.
int RunJitChild(const Places& places, const std::string& device,
                const std::string& way,
                const std::vector<std::string>& modules);

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_RUNNER_JIT_H_
