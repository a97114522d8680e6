#include "tools/hetgpu-run/options.h"

#include <CLI/CLI.hpp>
#include <cmath>
#include <utility>

#include "hetgpu/hetgpu.h"
#include "tools/common/completion.h"
#include "tools/common/exit_code.h"
#include "tools/common/literal.h"
#include "tools/common/text.h"
#include "tools/hetgpu-run/spec.h"

namespace hetgpu::tools {
namespace {

constexpr char kDescription[] =
    "Runs kernels of a PTX or hetIR module on any device.\n"
    "Without --kernel the kernels of the module and their parameters are "
    "listed.";

constexpr char kExamples[] =
    "Examples:\n"
    "  hetgpu-run app.ptx\n"
    "  hetgpu-run saxpy.ptx --kernel saxpy --grid 4 --block 256 --arg u32:1000 "
    "\\\n"
    "    --arg f32:2.5 --arg 'in:f32[1000]=rand(seed=1)' \\\n"
    "    --arg 'y=inout:f32[1000]=iota' --print y:8\n"
    "  hetgpu-run solver.plan.json --time 5\n";

// What CLI11 fills and Options holds in another shape.
struct Raw {
  std::string time, completion;
  bool version = false;
};

CLI::Validator WholeNumber() {
  return CLI::Validator(
      [](std::string& text) {
        return ParseCount(text).ok() && IsDigit(text.back())
                   ? std::string()
                   : Cat("'", text, "' is no whole number from 0");
      },
      "UINT");
}

CLI::Validator FiniteNumber() {
  return CLI::Validator(
      [](std::string& text) {
        const auto value = ParseLiteral(text);
        const double number = value.ok() ? ToDouble(*value) : -1;
        return std::isfinite(number) && number >= 0
                   ? std::string()
                   : Cat("'", text, "' is no finite number from 0");
      },
      "NUMBER");
}

CLI::Option* AddList(CLI::App& app, const char* name,
                     std::vector<std::string>& target, const char* help) {
  return app.add_option(name, target, help)
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void DeclareLaunch(CLI::App& app, Options& options) {
  const char* group = "Launch";
  app.add_option("--kernel", options.kernel, "Kernel to run")->group(group);
  app.add_option("--grid", options.grid, "Blocks: x[,y[,z]]")->group(group);
  app.add_option("--block", options.block, "Threads per block: x[,y[,z]]")
      ->group(group);
  app.add_option("--shared", options.shared, "Bytes of dynamic shared memory")
      ->group(group);
  app.add_flag("--cooperative", options.cooperative,
               "All blocks at the same time, as grid barriers need")
      ->group(group);
  AddList(app, "--arg", options.args,
          "Next kernel argument, a SPEC (see below)")
      ->type_name("SPEC")
      ->group(group);
  AddList(app, "--buffer", options.buffers, "A buffer to which ptr:NAME points")
      ->type_name("NAME=BUFFER")
      ->group(group);
  AddList(app, "--symbol", options.symbols,
          "Initial content of a module global")
      ->type_name("NAME=SPEC")
      ->group(group);
  app.add_option("--plan", options.plan,
                 "Plan file with launches, loops and buffers instead; "
                 "FILE.json as the file means the same")
      ->type_name("FILE")
      ->group(group);
}

void DeclareResults(CLI::App& app, Options& options, Raw& raw) {
  const char* group = "Results";
  AddList(app, "--print", options.prints,
          "Print the first N elements (8) of a buffer")
      ->type_name("NAME[:N]")
      ->group(group);
  AddList(app, "--save", options.saves, "Write a buffer, as .npy or raw")
      ->type_name("NAME=FILE")
      ->group(group);
  AddList(app, "--check", options.checks,
          "Compare a buffer with a FILE or a generator")
      ->type_name("NAME=REF")
      ->group(group);
  app.add_option("--atol", options.atol, "Absolute tolerance of --check")
      ->check(FiniteNumber())
      ->group(group);
  app.add_option("--rtol", options.rtol, "Relative tolerance of --check")
      ->check(FiniteNumber())
      ->group(group);
  app.add_flag("--bits", options.bits,
               "Without tolerances: bits must be equal, not values")
      ->group(group);
  app.add_option("--time", raw.time,
                 "Median time of N runs (10) after one to warm up")
      ->expected(0, 1)
      ->type_name("[N]")
      ->group(group);
  app.add_option("--bytes", options.bytes, "Bytes one launch moves, for GB/s")
      ->check(FiniteNumber())
      ->group(group);
  app.add_option("--flops", options.flops,
                 "Operations of one launch, for GFLOP/s")
      ->check(FiniteNumber())
      ->group(group);
  app.add_flag("--json", options.json,
               "One JSON object on stdout; what kernels print goes to stderr")
      ->group(group);
}

void DeclareExecution(CLI::App& app, Options& options) {
  const char* group = "Execution";
  app.add_option("--device", options.device,
                 "Device, as cpu or cpu:0; see hetgpu info")
      ->group(group);
  app.add_option("--timeout", options.timeout_ms,
                 "Stop a launch or a compilation that takes longer")
      ->check(WholeNumber())
      ->type_name("MS")
      ->group(group);
  app.add_option("--fp-mode", options.fp_mode,
                 "native: the device's own rounding of approximations; "
                 "strict: the same bits everywhere")
      ->check(CLI::IsMember({"native", "strict"}))
      ->group(group);
  app.add_option("--cpu-mode", options.cpu_mode,
                 "How the CPU backend runs a kernel")
      ->check(CLI::IsMember({"auto", "simd", "scalar", "fiber"}))
      ->group(group);
  app.add_flag("--memcheck", options.memcheck,
               "Check every access exactly, on the CPU: slower, but names "
               "overruns of one byte; otherwise allocations are guarded by "
               "pages")
      ->group(group);
  app.add_flag("--debug-kernel", options.debug_kernel,
               "Tell how each kernel runs and why, and what compiling took")
      ->group(group);
  app.add_flag("--no-progress", options.no_progress,
               "No progress bar, even on a terminal")
      ->group(group);
}

void Declare(CLI::App& app, Options& options, Raw& raw) {
  app.set_help_flag("--help", "Print this help and exit");
  app.add_flag("--version", raw.version, "Print the version and exit");
  app.add_option("--completion", raw.completion,
                 "Print a completion script and exit")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.add_option("file", options.file, "PTX or hetIR module, or a plan (.json)")
      ->type_name("FILE");
  DeclareLaunch(app, options);
  DeclareResults(app, options, raw);
  DeclareExecution(app, options);
  app.footer([] {
    return Cat("\n", SpecHelp(), "\n", ExitCodeHelp(), "\n", kExamples);
  });
}

std::vector<std::string> ChoicesOf(std::string_view option) {
  if (option == "--fp-mode") return {"native", "strict"};
  if (option == "--cpu-mode") return {"auto", "simd", "scalar", "fiber"};
  if (option == "--completion") return {"bash", "zsh", "fish"};
  if (option == "--device") return {"cpu"};
  return {};
}

std::vector<CompletionOption> ListOptions(const CLI::App& app) {
  std::vector<CompletionOption> list;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string name = "--" + option->get_lnames()[0];
    list.push_back({name, option->get_description(),
                    option->get_items_expected_max() > 0, ChoicesOf(name)});
  }
  return list;
}

absl::Status ReadTime(const CLI::App& app, const Raw& raw, Options& options) {
  if (app.count("--time") == 0) return absl::OkStatus();
  options.time_runs = 10;
  if (raw.time.empty()) return absl::OkStatus();
  const auto runs = ParseCount(raw.time);
  if (!runs.ok() || *runs == 0 || *runs > 1'000'000) {
    return absl::InvalidArgumentError(
        Cat("--time: '", raw.time, "' is no number of runs from 1 to 1000000"));
  }
  options.time_runs = static_cast<uint32_t>(*runs);
  return absl::OkStatus();
}

absl::Status ReadSpecial(const CLI::App& app, const Raw& raw,
                         Options& options) {
  if (raw.version) {
    options.text =
        Cat("hetgpu-run ", HETGPU_VERSION / 10000, ".",
            HETGPU_VERSION / 100 % 100, ".", HETGPU_VERSION % 100, "\n");
  } else if (!raw.completion.empty()) {
    auto script =
        MakeCompletion(raw.completion, "hetgpu-run", ListOptions(app), {});
    if (!script.ok()) return script.status();
    options.text = *std::move(script);
  }
  return absl::OkStatus();
}

// A plan may be given as the file itself.
absl::Status ReadFiles(Options& options) {
  if (options.plan.empty() && options.file.ends_with(".json")) {
    std::swap(options.plan, options.file);
  }
  if (options.text) return absl::OkStatus();
  if (options.plan.empty() && options.file.empty()) {
    return absl::InvalidArgumentError("no module given; try --help");
  }
  const bool launch = !options.kernel.empty() || !options.grid.empty() ||
                      !options.block.empty() || !options.args.empty() ||
                      options.cooperative;
  if (!options.plan.empty() &&
      (launch || !options.buffers.empty() || !options.symbols.empty())) {
    return absl::InvalidArgumentError(
        "a plan says what to launch: --kernel, --grid, --block, --arg, "
        "--cooperative, --buffer and --symbol do not go with it");
  }
  if (options.plan.empty() && options.kernel.empty() &&
      (launch || options.time_runs)) {
    return absl::InvalidArgumentError("no --kernel given");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Options> ParseOptions(int argc, char** argv) {
  Options options;
  Raw raw;
  CLI::App app(kDescription, "hetgpu-run");
  Declare(app, options, raw);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.text = app.help();
    return options;
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(Cat(error.what(), "; try --help"));
  }
  if (auto s = ReadTime(app, raw, options); !s.ok()) return s;
  if (auto s = ReadSpecial(app, raw, options); !s.ok()) return s;
  if (auto s = ReadFiles(options); !s.ok()) return s;
  return options;
}

bool WantsList(const Options& options) {
  return options.plan.empty() && options.kernel.empty();
}

}  // namespace hetgpu::tools
