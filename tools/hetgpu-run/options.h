// The command line of hetgpu-run.
#ifndef HETGPU_TOOLS_HETGPU_RUN_OPTIONS_H_
#define HETGPU_TOOLS_HETGPU_RUN_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/hetgpu-run/job.h"

namespace hetgpu::tools {

struct Options {
  std::string file;  // module, or a plan when its name ends in .json
  std::string plan;
  std::string kernel, grid, block;
  std::string shared = "0";
  bool cooperative = false;
  std::vector<std::string> args, buffers, symbols;
  std::vector<std::string> checks, prints, saves;
  double atol = 0, rtol = 0;
  bool bits = false;
  double bytes = 0, flops = 0;

  std::string device, fp_mode, cpu_mode;
  bool memcheck = false;
  uint64_t timeout_ms = 0;
  std::optional<uint32_t> time_runs;
  bool json = false, debug_kernel = false, no_progress = false;

  // --help, --version or --completion: print this and end.
  std::optional<std::string> text;
};

// InvalidArgument when the command line makes no sense.
absl::StatusOr<Options> ParseOptions(int argc, char** argv);

// The job of a command line that names a kernel, or a plan plus the outputs
// that options add to it.
absl::StatusOr<Job> MakeJob(const Options& options);

// True when kernels are to be listed, not run.
bool WantsList(const Options& options);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_OPTIONS_H_
