// The subcommands of `hetgpu`, as one table (commands.cc).
#ifndef HETGPU_TOOLS_HETGPU_COMMAND_H_
#define HETGPU_TOOLS_HETGPU_COMMAND_H_

#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace hetgpu::tools {

// `args` is what follows the subcommand's name. "--help" among them prints the
// command's own help.
using CommandFn = absl::Status (*)(const std::vector<std::string_view>& args);

struct Command {
  std::string_view name;
  std::string_view summary;  // one line, for the list of commands
  CommandFn run;
};

const std::vector<Command>& Commands();

// One per file.
absl::Status RunInfo(const std::vector<std::string_view>& args);
absl::Status RunProfile(const std::vector<std::string_view>& args);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_COMMAND_H_
