// What was measured, and its JSON form, which bench/report reads.
#ifndef HETGPU_BENCH_RUNNER_RESULTS_H_
#define HETGPU_BENCH_RUNNER_RESULTS_H_

#include <map>
#include <string>
#include <vector>

#include "bench/workloads/workload.h"

namespace hetgpu::bench {

// One executor's times in a row.
struct Series {
  std::string by;
  std::string status = "ok";  // "ok", "unavailable" or "error"
  std::string reason = {};    // why not ok
  // Seconds of one run in each round; a slow executor sits out late rounds.
  std::vector<double> seconds = {};

  bool ok() const { return status == "ok" && !seconds.empty(); }
  double Median() const;
  double Best() const;
};

struct Row {
  std::string name = {};
  std::string group = {};  // "ceiling", "workload", "launch", "copy", "move", "jit"
  std::string device = {};
  std::string problem = {};
  double bytes = 0;
  double operations = 0;
  Unit unit = Unit::kNone;
  std::vector<Series> series = {};
};

// The best rates seen in ceiling rows, per second: of the best samples, since
// what disturbs a machine does not lower what it can do.
struct Ceilings {
  double bytes = 0;
  std::map<Unit, double> operations;

  void Take(const Row& row);
  // The share of the nearer ceiling that `seconds` for the work of `row` means;
  // 0 = unknown. `bound` becomes "copy", "f32", ….
  double Share(const Row& row, double seconds, std::string& bound) const;
};

struct DeviceReport {
  std::string name;
  std::vector<std::pair<std::string, std::string>> executors;  // and versions
  Ceilings ceilings = {};
};

struct Report {
  std::map<std::string, std::string> machine;
  std::string size_class;
  int repetitions = 0;
  std::vector<DeviceReport> devices;
  std::vector<Row> rows;
};

double MedianOf(std::vector<double> values);
// Speed of `ours` relative to `twin`: the median over the rounds that both ran
// of twin's time over ours. Above 1, ours is faster; 0 = unknown.
double Ratio(const Series& ours, const Series& twin);
bool IsOurs(const Series& series);

std::string ToJson(const Report& report);

// CPU, memory, operating system.
std::map<std::string, std::string> DescribeMachine();

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_RUNNER_RESULTS_H_
