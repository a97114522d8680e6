// What compiling costs, kernel by kernel: every kernel of the given PTX files,
// by libhetgpu_compiler in this process, against the number of its PTX
// instructions (with those of the functions it can reach).
//
//   compile_times [--mode auto|simd|scalar|fiber] [--rounds N] [--csv]
//                 [--kernel NAME] FILE.ptx…
//
// The first compilation of the process is shown by itself: it also loads the
// compiler and sets it up. Of the others the best of N is shown, as time of the
// clock and of the processor; on a busy machine the second tells more.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "frontend/ptx/parser.h"
#include "frontend/ptx/sema.h"
#include "runtime/compiler_loader.h"

namespace hetgpu {
namespace {

struct Options {
  std::string mode = "auto";
  std::string kernel;
  int rounds = 5;
  bool csv = false;
  std::vector<std::string> files;
};

struct Row {
  std::string kernel;
  std::string file;
  const std::string* text = nullptr;
  size_t instructions = 0;
  double wall_ms = 1e9;
  double cpu_ms = 1e9;
  std::string error;
};

double CpuMs() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  auto ms = [](const timeval& t) { return t.tv_sec * 1e3 + t.tv_usec / 1e3; };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

double WallMs() {
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Adds the rows of one file.
absl::Status ListKernels(const std::string& file, const std::string& text,
                         const std::string& only, std::vector<Row>* rows) {
  auto module = ptx::Parse(text, file);
  if (!module.ok()) return module.status();
  auto sema = ptx::Sema::Create(**module);
  if (!sema.ok()) return sema.status();
  for (uint32_t i = 0; i < (*module)->functions.size(); ++i) {
    const ptx::Function& function = (*module)->functions[i];
    if (!function.is_entry || !function.defined) continue;
    if (!only.empty() && function.name != only) continue;
    Row row;
    row.kernel = std::string(function.name);
    row.file = file;
    row.text = &text;
    for (uint32_t reached : sema->LayOutKernel(i).reachable) {
      const auto& body = (*module)->functions[reached].body;
      if (body) row.instructions += body->instructions.size();
    }
    rows->push_back(row);
  }
  return absl::OkStatus();
}

void Compile(runtime::CompilerLoader& compiler, const Options& options,
             Row* row) {
  CompileRequest request = {};
  request.source = *row->text;
  request.source_name = row->file;
  request.kernel = row->kernel;
  request.backend = "cpu";
  request.fp_mode = "native";
  request.cpu_mode = options.mode;
  const double cpu = CpuMs(), wall = WallMs();
  absl::StatusOr<std::string> image = compiler.Compile(request);
  row->wall_ms = std::min(row->wall_ms, WallMs() - wall);
  row->cpu_ms = std::min(row->cpu_ms, CpuMs() - cpu);
  if (!image.ok()) row->error = std::string(image.status().message());
}

void Print(const Options& options, const Row& row) {
  if (!row.error.empty()) {
    std::fprintf(stderr, "%s: %s\n", row.kernel.c_str(), row.error.c_str());
    return;
  }
  const double per_instruction =
      row.instructions == 0 ? 0 : 1e3 * row.cpu_ms / row.instructions;
  std::printf(options.csv ? "%s,%zu,%.2f,%.2f,%.1f\n"
                          : "%-28s %6zu %9.2f %9.2f %8.1f\n",
              row.kernel.c_str(), row.instructions, row.wall_ms, row.cpu_ms,
              per_instruction);
}

bool Read(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const bool has_value = i + 1 < argc;
    if (arg == "--csv") {
      options->csv = true;
    } else if (arg == "--mode" && has_value) {
      options->mode = argv[++i];
    } else if (arg == "--kernel" && has_value) {
      options->kernel = argv[++i];
    } else if (arg == "--rounds" && has_value) {
      options->rounds = std::atoi(argv[++i]);
    } else if (arg.starts_with("-")) {
      return false;
    } else {
      options->files.push_back(arg);
    }
  }
  return !options->files.empty() && options->rounds > 0;
}

int Run(const Options& options) {
  std::vector<std::string> texts(options.files.size());
  std::vector<Row> rows;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::stringstream text;
    text << std::ifstream(options.files[i]).rdbuf();
    texts[i] = text.str();
    absl::Status status =
        ListKernels(options.files[i], texts[i], options.kernel, &rows);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
      return 1;
    }
  }
  if (rows.empty()) {
    std::fprintf(stderr, "no kernel of that name\n");
    return 1;
  }
  std::printf(options.csv ? "kernel,instructions,wall_ms,cpu_ms,cpu_us_each\n"
                          : "kernel                       instrs   wall ms    "
                            "cpu ms  us/instr\n");
  runtime::CompilerLoader compiler("");
  Row first = rows.front();
  Compile(compiler, options, &first);
  first.kernel += " (first)";
  Print(options, first);
  for (int round = 0; round < options.rounds; ++round) {
    for (Row& row : rows) {
      if (row.error.empty()) Compile(compiler, options, &row);
    }
  }
  bool failed = false;
  for (const Row& row : rows) {
    Print(options, row);
    failed |= !row.error.empty();
  }
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace hetgpu

int main(int argc, char** argv) {
  hetgpu::Options options;
  if (!hetgpu::Read(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: %s [--mode MODE] [--rounds N] [--csv] [--kernel NAME] "
                 "FILE.ptx...\n",
                 argv[0]);
    return 2;
  }
  return hetgpu::Run(options);
}
