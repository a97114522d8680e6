// Shell completion scripts made from a tool's own list of options, so that
// the two cannot differ.
#ifndef HETGPU_TOOLS_COMMON_COMPLETION_H_
#define HETGPU_TOOLS_COMMON_COMPLETION_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace hetgpu::tools {

struct CompletionOption {
  std::string name;  // "--grid"
  std::string help;  // one line
  bool takes_value = false;
  std::vector<std::string> choices;  // values, when they are few and known
};

// `words` are subcommands; without any, arguments are files. InvalidArgument
// for a shell other than bash, zsh and fish.
absl::StatusOr<std::string> MakeCompletion(
    std::string_view shell, std::string_view tool,
    const std::vector<CompletionOption>& options,
    const std::vector<std::string>& words);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_COMMON_COMPLETION_H_
