// The command line of hetgpu-bench.
#ifndef HETGPU_BENCH_RUNNER_OPTIONS_H_
#define HETGPU_BENCH_RUNNER_OPTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "bench/runner/executor.h"
#include "bench/workloads/catalog.h"

namespace hetgpu::bench {

struct Options {
  std::string filter = ".*";
  std::vector<std::string> devices;
  SizeClass size = SizeClass::kDefault;
  std::string size_name = "default";
  int repetitions = 7;
  std::string json;
  std::vector<std::pair<std::string, std::string>> variants;
  bool list = false;
  bool no_twins = false;
  bool unified = false;
  bool quiet = false;
  Places places;
  // Set in the processes of JIT samples.
  std::string jit_child;
  std::vector<std::string> jit_modules;
};

// -1: go on with `options`; otherwise the exit status, all being said.
int ParseOptions(int argc, char** argv, Options& options);

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_RUNNER_OPTIONS_H_
