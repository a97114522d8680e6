// Everything that is measured on one device.
#ifndef HETGPU_BENCH_RUNNER_DEVICE_BENCH_H_
#define HETGPU_BENCH_RUNNER_DEVICE_BENCH_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/runner/contest.h"
#include "bench/runner/executor.h"
#include "bench/runner/results.h"
#include "bench/workloads/catalog.h"

namespace hetgpu::bench {

struct DeviceOptions {
  std::string device;  // "cpu", "cuda"
  SizeClass size = SizeClass::kDefault;
  ContestOptions contest = {};
  // Further instances of the library: their name and environment.
  std::vector<std::pair<std::string, std::string>> variants = {};
  bool use_twins = true;
  bool use_unified = false;
};

class DeviceBench {
 public:
  // Opens all executors; those absent are remembered with the reason.
  // Unavailable when hetGPU itself has no such device.
  static absl::StatusOr<std::unique_ptr<DeviceBench>> Open(
      const Places& places, const DeviceOptions& options);

  bool is_gpu() const { return options_.device != "cpu"; }
  const DeviceReport& report() const { return report_; }
  DeviceReport& report() { return report_; }

  // Sets up a row: its workload is loaded by every executor, run once and
  // compared. `measure` is then called to hold the rounds.
  using Rounds = std::function<void(Contest& contest)>;
  Row MeasureWorkload(const CatalogEntry& entry, const Rounds& rounds);

  // "launch_latency", "launch_throughput", "launch_enqueue".
  static const std::vector<std::string>& LaunchRows();
  Row MeasureLaunch(const std::string& name, const Rounds& rounds);

  struct CopyCase {
    bool is_in;
    bool is_pinned;
    bool is_queued;  // enqueued and waited for, instead of a call that waits
    uint64_t bytes;

    std::string Name() const;
  };
  std::vector<CopyCase> CopyCases() const;
  Row MeasureCopy(const CopyCase& copy, const Rounds& rounds);

  // Unified memory between the device and the CPU.
  struct MoveCase {
    bool is_in;
    uint64_t bytes;

    std::string Name() const;
  };
  std::vector<MoveCase> MoveCases() const;
  Row MeasureMove(const MoveCase& move, const Rounds& rounds);

 private:
  explicit DeviceBench(DeviceOptions options) : options_(std::move(options)) {}

  void Take(absl::StatusOr<std::unique_ptr<Executor>> executor,
            const std::string& name);
  absl::Status OpenOurs(const Places& places);
  void OpenTwins(const Places& places);
  // A row with a series per executor, absent ones included.
  Row NewRow(const std::string& name, const std::string& group) const;
  void LoadAndCheck(Workload& workload, Row& row);
  int Reference(const Row& row) const;
  void Hold(Row& row, Contest& contest, const Rounds& rounds);
  void UnloadAll();

  const DeviceOptions options_;
  DeviceReport report_;
  std::vector<std::unique_ptr<Executor>> executors_;
  Executor* pinner_ = nullptr;  // who can pin host memory
  std::vector<Series> absent_;
};

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_RUNNER_DEVICE_BENCH_H_
