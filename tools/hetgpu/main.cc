// hetgpu: a table of subcommands.
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "hetgpu/hetgpu.h"
#include "tools/common/completion.h"
#include "tools/common/exit_code.h"
#include "tools/common/text.h"
#include "tools/hetgpu/command.h"

namespace hetgpu::tools {
namespace {

using Arguments = std::vector<std::string_view>;

void PrintHelp() {
  std::puts("Usage: hetgpu COMMAND [ARGUMENTS]\n\nCommands:");
  for (const Command& command : Commands()) {
    std::printf("  %-10s %s\n", std::string(command.name).c_str(),
                std::string(command.summary).c_str());
  }
  std::printf(
      "\nOptions:\n"
      "  --help                           print this help and exit\n"
      "  --version                        print the version and exit\n"
      "  --completion {bash,zsh,fish}     print a completion script and exit\n"
      "\n%s",
      std::string(ExitCodeHelp()).c_str());
}

absl::Status PrintCompletion(const Arguments& args) {
  if (args.size() != 2) {
    return absl::InvalidArgumentError(
        "--completion needs one of bash, zsh and fish");
  }
  std::vector<std::string> words;
  for (const Command& command : Commands()) words.emplace_back(command.name);
  const std::vector<CompletionOption> options = {
      {"--help", "Print help and exit", false, {}},
      {"--version", "Print the version and exit", false, {}},
      {"--completion",
       "Print a completion script and exit",
       true,
       {"bash", "zsh", "fish"}},
      {"--json", "One JSON object on stdout", false, {}}};
  const auto script = MakeCompletion(args[1], "hetgpu", options, words);
  if (!script.ok()) return script.status();
  std::fputs(script->c_str(), stdout);
  return absl::OkStatus();
}

absl::Status Main(const Arguments& args) {
  if (args.empty()) {
    return absl::InvalidArgumentError("no command given; try --help");
  }
  if (args[0] == "--help" || args[0] == "help") {
    PrintHelp();
    return absl::OkStatus();
  }
  if (args[0] == "--version") {
    std::printf("hetgpu %d.%d.%d\n", HETGPU_VERSION / 10000,
                HETGPU_VERSION / 100 % 100, HETGPU_VERSION % 100);
    return absl::OkStatus();
  }
  if (args[0] == "--completion") return PrintCompletion(args);
  for (const Command& command : Commands()) {
    if (command.name == args[0]) {
      return command.run(Arguments(args.begin() + 1, args.end()));
    }
  }
  return absl::InvalidArgumentError(
      Cat("unknown command '", args[0], "'; try --help"));
}

}  // namespace
}  // namespace hetgpu::tools

int main(int argc, char** argv) {
  using namespace hetgpu::tools;
  try {
    absl::Status status = Main(Arguments(argv + (argc > 0), argv + argc));
    if (std::fflush(stdout) != 0 && status.ok()) {
      status = absl::NotFoundError("cannot write to standard output");
    }
    return Finish("hetgpu", status);
  } catch (const std::exception& error) {
    return Finish("hetgpu", absl::InternalError(error.what()));
  }
}
