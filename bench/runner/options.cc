#include "bench/runner/options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>

namespace hetgpu::bench {
namespace {

namespace fs = std::filesystem;

constexpr char kAbout[] =
    "Measures hetGPU and native twins of the same workloads, side by side.\n"
    "\n"
    "Every row is one workload on one device. Those who can run it (hetGPU,\n"
    "nvcc's code on the CUDA driver, C++ with OpenMP, OpenCL) get the same\n"
    "sizes and inputs, are checked against each other, and take turns; "
    "medians\n"
    "are compared. A wrong result is an error, never a time. Who is absent is\n"
    "listed with the reason. Exit status 1 when a row has an error.";

constexpr char kExamples[] =
    "Examples:\n"
    "  hetgpu-bench --device cpu --filter 'sgemm|nbody'\n"
    "  hetgpu-bench --device cuda --json h200.json\n"
    "  hetgpu-bench --device cuda --variant "
    "recompiled:HETGPU_CUDA_ROUTE=recompiled\n"
    "  python3 bench/report h200.json --html h200.html\n";

const std::map<std::string, SizeClass> kSizes = {
    {"tiny", SizeClass::kTiny},
    {"small", SizeClass::kSmall},
    {"default", SizeClass::kDefault},
    {"large", SizeClass::kLarge}};

// "name:VARIABLE=value,VARIABLE=value".
std::string ParseVariant(const std::string& text,
                         std::pair<std::string, std::string>& variant) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos || colon == 0 ||
      text.find('=', colon) == std::string::npos) {
    return "'" + text + "' is not of the form NAME:VARIABLE=VALUE";
  }
  variant = {text.substr(0, colon), text.substr(colon + 1)};
  return "";
}

void SetPlaces(const std::string& data, Places& places) {
  std::error_code error;
  const fs::path folder = fs::canonical("/proc/self/exe", error).parent_path();
  if (places.library.empty()) {
    places.library = folder.parent_path() / "lib" / "libhetgpu.so";
  }
  if (places.twins.empty()) {
    places.twins = folder.parent_path() / "bench" / "twins";
  }
  places.source_root = data;
}

}  // namespace

int ParseOptions(int argc, char** argv, Options& options) {
  CLI::App app(kAbout, "hetgpu-bench");
  app.footer(kExamples);
  app.add_option("--filter", options.filter,
                 "Rows whose name matches this regular expression "
                 "(ceilings are always measured)");
  app.add_option("--device", options.devices,
                 "Devices: cpu, cuda (default: all that are there)")
      ->delimiter(',');
  app.add_option("--size", options.size_name,
                 "Problem sizes: tiny (for tests), small, default, large")
      ->check(CLI::IsMember(kSizes));
  app.add_option("--repetitions", options.repetitions,
                 "Rounds in which all take their turn")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--json", options.json,
                 "Write all figures to this file, for bench/report");
  std::vector<std::string> variants;
  app.add_option("--variant", variants,
                 "A further hetGPU column with an environment of its own: "
                 "NAME:VARIABLE=VALUE[,VARIABLE=VALUE]; may be repeated");
  app.add_flag("--unified", options.unified,
               "A further hetGPU column with unified contexts on the device and "
               "on the CPU, and rows of moves between them");
  app.add_flag("--no-twins", options.no_twins,
               "Measure hetGPU alone, without ceilings");
  app.add_flag("--list", options.list, "List the rows and stop");
  app.add_flag("--quiet", options.quiet, "Print no table");
  std::string data = HETGPU_SOURCE_DIR;
  app.add_option("--data", data, "Source tree: holds examples/*.ptx and bench/")
      ->capture_default_str();
  app.add_option("--twins", options.places.twins, "Folder of the built twins");
  app.add_option("--library", options.places.library, "Path of libhetgpu.so");
  app.add_option("--jit-child", options.jit_child)->group("");
  app.add_option("--jit-modules", options.jit_modules)
      ->delimiter(',')
      ->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.size = kSizes.at(options.size_name);
  for (const std::string& text : variants) {
    std::pair<std::string, std::string> variant;
    const std::string problem = ParseVariant(text, variant);
    if (!problem.empty()) {
      std::fprintf(stderr, "hetgpu-bench: --variant: %s\n", problem.c_str());
      return 2;
    }
    options.variants.push_back(std::move(variant));
  }
  SetPlaces(data, options.places);
  return -1;
}

}  // namespace hetgpu::bench
