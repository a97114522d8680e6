// hetgpu-bench: every row is a benchmark of the Google Benchmark library, whose
// iterations are the rounds in which all executors take their turn.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "bench/runner/device_bench.h"
#include "bench/runner/jit.h"
#include "bench/runner/options.h"
#include "bench/runner/results.h"
#include "bench/runner/table.h"
#include "bench/workloads/catalog.h"

namespace hetgpu::bench {
namespace {

using Measure = std::function<Row(const DeviceBench::Rounds& rounds)>;

class Runner {
 public:
  explicit Runner(const Options& options)
      : options_(options), filter_(options.filter) {}

  int Run();

 private:
  std::vector<std::string> Names() const;
  bool Wants(const std::string& name) const {
    return std::regex_search(name, filter_);
  }
  absl::Status RunDevice(const std::string& device);
  void Register(DeviceBench& bench, const std::string& name, Measure measure);
  void RegisterAll(DeviceBench& bench);
  void RunJit(const std::string& device, const Ceilings& ceilings);
  void Add(Row row, const Ceilings& ceilings);
  int Finish();

  const Options& options_;
  const std::regex filter_;
  Report report_;
};

// Rows are printed by ourselves, with all their columns.
class NoReporter : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

void Runner::Add(Row row, const Ceilings& ceilings) {
  if (!options_.quiet) PrintRow(row, ceilings);
  report_.rows.push_back(std::move(row));
}

void Runner::Register(DeviceBench& bench, const std::string& name,
                      Measure measure) {
  const auto body = [this, &bench,
                     measure = std::move(measure)](benchmark::State& state) {
    Row row = measure([&state](Contest& contest) {
      for (auto _ : state) {
        contest.Round();
        state.SetIterationTime(contest.LastSeconds());
      }
    });
    Add(std::move(row), bench.report().ceilings);
  };
  benchmark::RegisterBenchmark(name.c_str(), body)
      ->UseManualTime()
      ->Iterations(options_.repetitions);
}

void Runner::RegisterAll(DeviceBench& bench) {
  for (const CatalogEntry& entry : Catalog()) {
    // Ceilings are what the best of all can do: hetGPU alone has none.
    const bool is_ceiling = entry.group == "ceiling" && !options_.no_twins;
    if (!is_ceiling && !Wants(entry.name)) continue;
    Register(bench, entry.name, [&](const DeviceBench::Rounds& rounds) {
      return bench.MeasureWorkload(entry, rounds);
    });
  }
  for (const std::string& name : DeviceBench::LaunchRows()) {
    if (!Wants(name)) continue;
    Register(bench, name, [&bench, name](const DeviceBench::Rounds& rounds) {
      return bench.MeasureLaunch(name, rounds);
    });
  }
  for (const DeviceBench::CopyCase& copy : bench.CopyCases()) {
    if (!Wants(copy.Name())) continue;
    Register(bench, copy.Name(),
             [&bench, copy](const DeviceBench::Rounds& rounds) {
               return bench.MeasureCopy(copy, rounds);
             });
  }
  for (const DeviceBench::MoveCase& move : bench.MoveCases()) {
    if (!Wants(move.Name())) continue;
    Register(bench, move.Name(),
             [&bench, move](const DeviceBench::Rounds& rounds) {
               return bench.MeasureMove(move, rounds);
             });
  }
}

absl::Status Runner::RunDevice(const std::string& device) {
  DeviceOptions options = {.device = device,
                           .size = options_.size,
                           .variants = options_.variants,
                           .use_twins = !options_.no_twins,
                           .use_unified = options_.unified};
  options.contest.rounds = options_.repetitions;
  if (options_.size == SizeClass::kTiny) options.contest.sample_seconds = 1e-4;
  auto bench = DeviceBench::Open(options_.places, options);
  if (!bench.ok()) return bench.status();
  if (!options_.quiet) PrintDevice((*bench)->report());
  RegisterAll(**bench);
  NoReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  benchmark::ClearRegisteredBenchmarks();
  RunJit(device, (*bench)->report().ceilings);
  report_.devices.push_back((*bench)->report());
  return absl::OkStatus();
}

void Runner::RunJit(const std::string& device, const Ceilings& ceilings) {
  if (!Wants("jit_cold_first") && !Wants("jit_warm_first")) return;
  JitOptions jit = {.device = device};
  const bool is_tiny = options_.size == SizeClass::kTiny;
  jit.modules =
      is_tiny ? std::vector<std::string>{"examples/saxpy"} : CatalogModules();
  // Each round starts three processes per way.
  jit.rounds = is_tiny ? 1 : std::min(options_.repetitions, 3);
  jit.ways = {{"hetgpu", ""}};
  for (const auto& [name, environment] : options_.variants) {
    jit.ways.emplace_back("hetgpu (" + name + ")", environment);
  }
  if (device == "cuda" && !options_.no_twins)
    jit.ways.emplace_back("driver", "");
  jit.command = {"/proc/" + std::to_string(getpid()) + "/exe",
                 "--data",
                 options_.places.source_root,
                 "--twins",
                 options_.places.twins,
                 "--library",
                 options_.places.library};
  for (Row& row : MeasureJit(jit)) {
    if (Wants(row.name)) Add(std::move(row), ceilings);
  }
}

int Runner::Finish() {
  if (!options_.json.empty()) {
    std::ofstream out(options_.json);
    out << ToJson(report_);
    out.close();
    if (!out) {
      std::fprintf(stderr, "hetgpu-bench: cannot write %s\n",
                   options_.json.c_str());
      return 1;
    }
  }
  int errors = 0;
  for (const Row& row : report_.rows) {
    for (const Series& series : row.series) {
      errors += series.status == "error";
    }
  }
  if (errors > 0) {
    std::fprintf(stderr, "hetgpu-bench: %d results are errors\n", errors);
  }
  return errors > 0 ? 1 : 0;
}

int Runner::Run() {
  report_.machine = DescribeMachine();
  report_.size_class = options_.size_name;
  report_.repetitions = options_.repetitions;
  const bool is_asked = !options_.devices.empty();
  const std::vector<std::string> devices =
      is_asked ? options_.devices : std::vector<std::string>{"cpu", "cuda"};
  for (const std::string& device : devices) {
    const absl::Status status = RunDevice(device);
    if (status.ok()) continue;
    const std::string reason(status.message());
    std::fprintf(stderr, "hetgpu-bench: %s: %s\n", device.c_str(),
                 reason.c_str());
    if (is_asked) return 1;
    report_.devices.push_back(
        {.name = device, .executors = {{"hetgpu", "unavailable: " + reason}}});
  }
  return Finish();
}

int List() {
  for (const CatalogEntry& entry : Catalog()) {
    std::printf("%s\n", entry.name.c_str());
  }
  for (const std::string& name : DeviceBench::LaunchRows()) {
    std::printf("%s\n", name.c_str());
  }
  std::printf("copy_{in,out}[_pinned|_queued]_SIZE\nmove_{in,out}_SIZE\njit_{cold,warm}_{first,MODULE}\n");
  return 0;
}

}  // namespace
}  // namespace hetgpu::bench

int main(int argc, char** argv) {
  using namespace hetgpu::bench;
  Options options;
  if (const int status = ParseOptions(argc, argv, options); status >= 0) {
    return status;
  }
  if (options.list) return List();
  if (!options.jit_child.empty()) {
    return RunJitChild(options.places, options.devices.at(0), options.jit_child,
                       options.jit_modules);
  }
  // Workers of OpenMP that wait actively would run into the others' turns.
  setenv("GOMP_SPINCOUNT", "10000", 0);
  // The library reads options of its own, none of which are ours.
  int library_argc = 1;
  benchmark::Initialize(&library_argc, argv);
  try {
    return Runner(options).Run();
  } catch (const std::regex_error& error) {
    std::fprintf(stderr, "hetgpu-bench: --filter: %s\n", error.what());
    return 2;
  }
}
