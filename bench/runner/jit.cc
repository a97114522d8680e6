#include "bench/runner/jit.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "bench/runner/contest.h"
#include "bench/workloads/catalog.h"

namespace hetgpu::bench {
namespace {

namespace fs = std::filesystem;

// The first module of every process; never among those timed one by one.
constexpr char kFirst[] = "examples/vecadd";

// Exit status of a process whose device or driver is absent.
constexpr int kUnavailable = 3;

enum class Caches { kCold, kFill, kWarm };

// A folder for the caches of one way, removed with its contents.
class CacheFolder {
 public:
  CacheFolder() {
    path_ = fs::temp_directory_path() / "hetgpu-bench-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~CacheFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::vector<std::string> Environment(const CacheFolder& folder, Caches caches,
                                     const std::string& extra) {
  std::vector<std::string> settings = {
      absl::StrCat("HETGPU_JIT_CACHE_DIR=", folder.path(), "/hetgpu"),
      absl::StrCat("CUDA_CACHE_PATH=", folder.path(), "/cuda"),
      absl::StrCat("CUDA_CACHE_DISABLE=", caches == Caches::kCold ? 1 : 0),
      "CUDA_MODULE_LOADING=EAGER"};
  const std::vector<std::string> parts =
      absl::StrSplit(extra, ',', absl::SkipEmpty());
  for (const std::string& setting : parts) {
    settings.push_back(setting);
  }
  return settings;
}

// Runs `command` under `settings`; its output, or why it failed.
absl::StatusOr<std::string> Capture(const std::vector<std::string>& command,
                                    const std::vector<std::string>& settings) {
  std::vector<std::string> words = {"env"};
  words.insert(words.end(), settings.begin(), settings.end());
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int ends[2];
  if (pipe(ends) != 0) return absl::InternalError("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    execvp("env", arguments.data());
    _exit(127);
  }
  close(ends[1]);
  std::string output;
  char chunk[4096];
  for (ssize_t got; (got = read(ends[0], chunk, sizeof(chunk))) > 0;) {
    output.append(chunk, got);
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  const std::vector<std::string> lines =
      absl::StrSplit(output, '\n', absl::SkipEmpty());
  const std::string last = lines.empty() ? "" : lines.back();
  if (WIFEXITED(status) && WEXITSTATUS(status) == kUnavailable) {
    return absl::UnavailableError(last);
  }
  return absl::InternalError(
      absl::StrCat("the compiling process failed: ", last));
}

// Seconds of the first module, then of each of the others.
absl::StatusOr<std::vector<double>> SampleOnce(
    const JitOptions& options, const std::string& way,
    const std::vector<std::string>& settings) {
  std::vector<std::string> command = options.command;
  command.insert(
      command.end(),
      {"--jit-child", way, "--device", options.device, "--jit-modules",
       absl::StrCat(kFirst, ",", absl::StrJoin(options.modules, ","))});
  auto output = Capture(command, settings);
  if (!output.ok()) return output.status();
  std::vector<double> seconds;
  std::istringstream in(*output);
  for (double value; in >> value;) seconds.push_back(value);
  if (seconds.size() == options.modules.size() + 1) return seconds;
  return absl::InternalError(
      absl::StrCat("the compiling process printed: ", *output));
}

struct Samples {
  absl::Status status;
  // [cold, warm][module][round]
  std::vector<std::vector<double>> seconds[2];
};

void Append(const absl::StatusOr<std::vector<double>>& once, int which,
            Samples& samples) {
  if (!once.ok()) {
    samples.status.Update(once.status());
    return;
  }
  samples.seconds[which].resize(once->size());
  for (size_t i = 0; i < once->size(); ++i) {
    samples.seconds[which][i].push_back((*once)[i]);
  }
}

void Round(const JitOptions& options, const std::string& way,
           const std::string& environment, Samples& samples) {
  const CacheFolder folder;
  const std::string kind = way == "driver" ? "driver" : "hetgpu";
  const auto run = [&](Caches caches) {
    return SampleOnce(options, kind, Environment(folder, caches, environment));
  };
  Append(run(Caches::kCold), 0, samples);
  if (!samples.status.ok()) return;
  samples.status.Update(run(Caches::kFill).status());
  if (!samples.status.ok()) return;
  Append(run(Caches::kWarm), 1, samples);
}

Row MakeRow(const JitOptions& options, size_t module, int which,
            const std::vector<Samples>& all) {
  const std::string kind = which == 0 ? "cold" : "warm";
  Row row = {.group = "jit", .device = options.device};
  if (module == 0) {
    row.name = absl::StrCat("jit_", kind, "_first");
    row.problem = absl::StrCat(kFirst, ", the first module of a process");
  } else {
    const std::string& path = options.modules[module - 1];
    row.name =
        absl::StrCat("jit_", kind, "_", path.substr(path.rfind('/') + 1));
    row.problem = absl::StrCat(
        path, which == 0 ? ", caches empty" : ", from the disk cache");
  }
  for (size_t way = 0; way < options.ways.size(); ++way) {
    Series series = {.by = options.ways[way].first};
    if (all[way].status.ok()) {
      series.seconds = all[way].seconds[which][module];
    } else {
      Fail(series, all[way].status);
    }
    row.series.push_back(std::move(series));
  }
  return row;
}

}  // namespace

std::vector<std::string> CatalogModules() {
  std::vector<std::string> modules;
  for (const CatalogEntry& entry : Catalog()) {
    const Workload workload = entry.make(entry.sizes.tiny);
    for (const Launch& launch : workload.launches) {
      if (launch.module != kFirst &&
          std::find(modules.begin(), modules.end(), launch.module) ==
              modules.end()) {
        modules.push_back(launch.module);
      }
    }
  }
  return modules;
}

std::vector<Row> MeasureJit(const JitOptions& options) {
  std::vector<Samples> all(options.ways.size());
  for (int round = 0; round < options.rounds; ++round) {
    for (size_t i = 0; i < options.ways.size(); ++i) {
      // Who goes first changes from round to round.
      const size_t way = (i + round) % options.ways.size();
      if (!all[way].status.ok()) continue;
      Round(options, options.ways[way].first, options.ways[way].second,
            all[way]);
    }
  }
  std::vector<Row> rows;
  for (const int which : {0, 1}) {
    for (size_t module = 0; module <= options.modules.size(); ++module) {
      rows.push_back(MakeRow(options, module, which, all));
    }
  }
  return rows;
}

int RunJitChild(const Places& places, const std::string& device,
                const std::string& way,
                const std::vector<std::string>& modules) {
  auto executor = way == "driver"
                      ? MakeCudaPtxExecutor(places)
                      : MakeHetgpuExecutor(places, device, "hetgpu", "");
  absl::Status status = executor.status();
  for (const std::string& module : modules) {
    if (!status.ok()) break;
    const auto start = std::chrono::steady_clock::now();
    status = (*executor)->CompileModule(module);
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    std::printf("%.9f\n", seconds.count());
  }
  if (status.ok()) return 0;
  std::printf("%s\n", std::string(status.message()).c_str());
  return absl::IsUnavailable(status) ? kUnavailable : 1;
}

}  // namespace hetgpu::bench
