#include "tools/common/exit_code.h"

#include <cstdio>
#include <string>

#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

// What a message quotes from a file may have any length: the middle of a long
// one is left out.
std::string Shortened(absl::string_view text) {
  constexpr size_t kHead = 1500, kTail = 400;
  if (text.size() <= kHead + kTail) return std::string(text);
  return std::string(text.substr(0, kHead)) + " [...] " +
         std::string(text.substr(text.size() - kTail));
}

}  // namespace

ExitCode ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return ExitCode::kOk;
    case absl::StatusCode::kFailedPrecondition:
      return ExitCode::kCheckFailed;
    case absl::StatusCode::kInvalidArgument:
      return ExitCode::kUsage;
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kNotFound:
      return ExitCode::kBadInput;
    case absl::StatusCode::kAborted:
      return ExitCode::kLaunch;
    case absl::StatusCode::kResourceExhausted:
      return ExitCode::kOutOfMemory;
    case absl::StatusCode::kUnavailable:
      return ExitCode::kNoDevice;
    case absl::StatusCode::kDeadlineExceeded:
      return ExitCode::kTimeout;
    case absl::StatusCode::kCancelled:
      return ExitCode::kInterrupted;
    default:
      return ExitCode::kInternal;
  }
}

std::string_view ExitCodeHelp() {
  return "Exit codes:\n"
         "    0  success\n"
         "    1  a check failed\n"
         "    2  wrong usage of the command line\n"
         "    3  a file cannot be read, written or understood (module, plan, "
         "data)\n"
         "    4  a launch was refused, or a kernel failed while running\n"
         "    5  out of memory or another resource\n"
         "    6  device or compiler not available\n"
         "    7  a kernel ran, or was being compiled, longer than --timeout\n"
         "   70  internal error\n"
         "  130  interrupted (Ctrl-C)\n";
}

int Finish(std::string_view tool, const absl::Status& status) {
  if (!status.ok()) {
    std::string line = Cat(tool, ": error: ", Shortened(status.message()));
    // One line for people and scripts, whatever a file name contains.
    for (char& c : line) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    }
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  return static_cast<int>(ExitCodeOf(status));
}

absl::Status Annotate(const absl::Status& status, std::string_view prefix) {
  if (status.ok()) return status;
  return absl::Status(status.code(), Cat(prefix, ": ", status.message()));
}

}  // namespace hetgpu::tools
