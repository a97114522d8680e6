// How every tool ends: a status becomes one line on stderr and an exit code.
#ifndef HETGPU_TOOLS_COMMON_EXIT_CODE_H_
#define HETGPU_TOOLS_COMMON_EXIT_CODE_H_

#include <string_view>

#include "absl/status/status.h"

namespace hetgpu::tools {

// Documented in docs/man/hetgpu-run.1; a test compares the two.
enum class ExitCode : int {
  kOk = 0,
  kCheckFailed = 1,    // FailedPrecondition
  kUsage = 2,          // InvalidArgument
  kBadInput = 3,       // DataLoss, NotFound
  kLaunch = 4,         // Aborted
  kOutOfMemory = 5,    // ResourceExhausted
  kNoDevice = 6,       // Unavailable
  kTimeout = 7,        // DeadlineExceeded
  kInternal = 70,      // everything else
  kInterrupted = 130,  // Cancelled
};

ExitCode ExitCodeOf(const absl::Status& status);

// Lines "  code  meaning" for --help.
std::string_view ExitCodeHelp();

// Prints "tool: error: message" as one line when `status` is not OK; returns
// the exit code.
int Finish(std::string_view tool, const absl::Status& status);

// The same kind of error with "prefix: " before its message.
absl::Status Annotate(const absl::Status& status, std::string_view prefix);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_COMMON_EXIT_CODE_H_
