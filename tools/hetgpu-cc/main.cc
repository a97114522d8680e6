// hetgpu-cc: prints what any stage of the compiler makes of a file.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "tools/common/completion.h"
#include "tools/common/exit_code.h"
#include "tools/hetgpu-cc/stages.h"

namespace hetgpu::tools {
namespace {

struct Options {
  std::string input;
  std::string output = "-";
  std::string emit = "hetir";
  std::string completion;
  CompileRequest request;
};

std::vector<std::string> StageNames() {
  std::vector<std::string> names;
  for (const Stage& stage : Stages()) names.emplace_back(stage.name);
  return names;
}

void AddOptions(CLI::App& app, Options& options) {
  app.add_option("input", options.input, "PTX or hetIR; - reads stdin");
  app.add_option("--emit", options.emit, "Stage to print")
      ->check(CLI::IsMember(StageNames()));
  app.add_option("-o,--output", options.output, "File to write; - is stdout");
  app.add_option("-k,--kernel", options.request.kernel,
                 "Only this kernel and what it calls");
  app.add_flag("--locations", options.request.locations,
               "Print the PTX place of each op");
  app.add_option("--cpu-mode", options.request.cpu_mode,
                 "How the CPU runs the kernel, for stages after hetir")
      ->check(CLI::IsMember({"auto", "simd", "scalar", "fiber"}));
  app.add_option("--cpu", options.request.cpu,
                 "CPU to compile for, for the stages llvm to image")
      ->check(CLI::IsMember({"native", "x86-64-v2", "x86-64-v3", "x86-64-v4"}));
  app.add_option("--gpu", options.request.gpu,
                 "GPU to compile for, for the nvptx stages");
  app.add_flag("--strict", options.request.strict,
               "Canonical NaN, as HETGPU_FP_MODE=strict");
  app.add_option("--completion", options.completion,
                 "Print a completion script and exit")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  std::string footer = "Stages:\n";
  for (const Stage& stage : Stages()) {
    footer += "  " + std::string(stage.name) + "  " +
              std::string(stage.summary) + "\n";
  }
  app.footer(footer + "\n" + std::string(ExitCodeHelp()));
}

absl::Status PrintCompletion(const std::string& shell) {
  auto script = MakeCompletion(
      shell, "hetgpu-cc",
      {{"--emit", "Stage to print", true, StageNames()},
       {"--output", "File to write", true, {}},
       {"--kernel", "Only this kernel and what it calls", true, {}},
       {"--locations", "Print the PTX place of each op", false, {}},
       {"--cpu-mode",
        "How the CPU runs the kernel",
        true,
        {"auto", "simd", "scalar", "fiber"}},
       {"--cpu",
        "CPU to compile for",
        true,
        {"native", "x86-64-v2", "x86-64-v3", "x86-64-v4"}},
       {"--gpu", "GPU to compile for", true, {}},
       {"--strict", "Canonical NaN", false, {}},
       {"--completion",
        "Print a completion script and exit",
        true,
        {"bash", "zsh", "fish"}},
       {"--help", "Print help and exit", false, {}}},
      {});
  if (!script.ok()) return script.status();
  std::fputs(script->c_str(), stdout);
  return absl::OkStatus();
}

absl::Status ReadInput(const std::string& path, std::string* text) {
  if (path == "-") {
    for (int c; (c = std::getchar()) != EOF;) {
      text->push_back(static_cast<char>(c));
    }
    return absl::OkStatus();
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(path + ": cannot read: " + std::strerror(errno));
  }
  text->assign(std::istreambuf_iterator<char>(file), {});
  return absl::OkStatus();
}

absl::Status WriteOutput(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return absl::OkStatus();
  }
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file) return absl::NotFoundError(path + ": cannot write");
  return absl::OkStatus();
}

absl::Status Run(Options& options) {
  if (!options.completion.empty()) return PrintCompletion(options.completion);
  if (options.input.empty()) {
    return absl::InvalidArgumentError("no input file; try --help");
  }
  options.request.path = options.input == "-" ? "<stdin>" : options.input;
  absl::Status status = ReadInput(options.input, &options.request.text);
  if (!status.ok()) return status;
  for (const Stage& stage : Stages()) {
    if (stage.name != options.emit) continue;
    std::string output;
    status = stage.emit(options.request, &output);
    // Whatever is wrong is wrong with the input.
    if (!status.ok()) return absl::DataLossError(status.message());
    return WriteOutput(options.output, output);
  }
  return absl::InvalidArgumentError("unknown stage '" + options.emit + "'");
}

}  // namespace
}  // namespace hetgpu::tools

int main(int argc, char** argv) {
  hetgpu::tools::Options options;
  CLI::App app("Prints what any stage of the hetGPU compiler makes of a file.",
               "hetgpu-cc");
  hetgpu::tools::AddOptions(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return hetgpu::tools::Finish(
        "hetgpu-cc", absl::InvalidArgumentError(std::string(error.what()) +
                                                "; try --help"));
  }
  return hetgpu::tools::Finish("hetgpu-cc", hetgpu::tools::Run(options));
}
