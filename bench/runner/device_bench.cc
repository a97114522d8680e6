#include "bench/runner/device_bench.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "bench/runner/shared_library.h"
#include "bench/runner/verify.h"

namespace hetgpu::bench {
namespace {

std::string SizeText(uint64_t bytes) {
  if (bytes >> 30) return absl::StrCat(bytes >> 30, " GiB");
  if (bytes >> 20) return absl::StrCat(bytes >> 20, " MiB");
  return absl::StrCat(bytes >> 10, " KiB");
}

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceBench>> DeviceBench::Open(
    const Places& places, const DeviceOptions& options) {
  std::unique_ptr<DeviceBench> bench(new DeviceBench(options));
  bench->report_.name = options.device;
  BENCH_RETURN_IF_ERROR(bench->OpenOurs(places));
  if (options.use_twins) bench->OpenTwins(places);
  return bench;
}

absl::Status DeviceBench::OpenOurs(const Places& places) {
  auto ours = MakeHetgpuExecutor(places, options_.device, "hetgpu", "");
  if (!ours.ok()) return ours.status();
  Take(std::move(ours), "hetgpu");
  if (options_.use_unified) {
    const std::string by = "hetgpu (unified)";
    Take(MakeHetgpuExecutor(places, options_.device, by, "", true), by);
  }
  for (const auto& [name, environment] : options_.variants) {
    const std::string by = absl::StrCat("hetgpu (", name, ")");
    Take(MakeHetgpuExecutor(places, options_.device, by, environment), by);
  }
  return absl::OkStatus();
}

void DeviceBench::OpenTwins(const Places& places) {
  if (is_gpu()) {
    Take(MakeCudaExecutor(places), "nvcc");
    if (executors_.back()->name() == "nvcc") pinner_ = executors_.back().get();
    // Where only results count, those of the CPU do too.
    if (options_.size == SizeClass::kTiny) {
      Take(MakeHostExecutor(places), "openmp");
    }
    return;
  }
  Take(MakeHostExecutor(places), "openmp");
  auto opencl = MakeOpenClExecutors(places);
  if (!opencl.ok()) return Take(opencl.status(), "opencl");
  for (auto& executor : *opencl) {
    const std::string name = executor->name();
    Take(std::move(executor), name);
  }
}

void DeviceBench::Take(absl::StatusOr<std::unique_ptr<Executor>> executor,
                       const std::string& name) {
  if (executor.ok()) {
    report_.executors.emplace_back(name, (*executor)->Describe());
    executors_.push_back(*std::move(executor));
    return;
  }
  Series series = {.by = name};
  Fail(series, executor.status());
  report_.executors.emplace_back(
      name, absl::StrCat(series.status, ": ", series.reason));
  absent_.push_back(std::move(series));
}

Row DeviceBench::NewRow(const std::string& name,
                        const std::string& group) const {
  Row row = {.name = name, .group = group, .device = options_.device};
  for (const auto& executor : executors_) {
    row.series.push_back({.by = executor->name()});
  }
  row.series.insert(row.series.end(), absent_.begin(), absent_.end());
  return row;
}

// A native twin that ran is trusted before ourselves.
int DeviceBench::Reference(const Row& row) const {
  int reference = -1;
  for (size_t i = 0; i < executors_.size(); ++i) {
    if (row.series[i].status != "ok") continue;
    if (!IsOurs(row.series[i])) return i;
    if (reference < 0) reference = i;
  }
  return reference;
}

void DeviceBench::LoadAndCheck(Workload& workload, Row& row) {
  for (size_t i = 0; i < executors_.size(); ++i) {
    absl::Status status = executors_[i]->Load(workload);
    if (status.ok()) status = RunTask(*executors_[i], 1).status();
    if (!status.ok()) Fail(row.series[i], status);
  }
  const int reference = Reference(row);
  if (reference < 0) return;
  for (size_t i = 0; i < executors_.size(); ++i) {
    if (row.series[i].status != "ok" || static_cast<int>(i) == reference) {
      continue;
    }
    const absl::Status status =
        CompareResults(workload, *executors_[i], *executors_[reference]);
    if (!status.ok()) Fail(row.series[i], status);
  }
  const absl::Status status = CountOperations(workload, *executors_[reference]);
  if (!status.ok()) Fail(row.series[reference], status);
}

void DeviceBench::Hold(Row& row, Contest& contest, const Rounds& rounds) {
  for (size_t i = 0; i < executors_.size(); ++i) {
    if (row.series[i].status == "ok")
      contest.Add(*executors_[i], row.series[i]);
  }
  rounds(contest);
  UnloadAll();
}

void DeviceBench::UnloadAll() {
  for (const auto& executor : executors_) executor->Unload();
}

Row DeviceBench::MeasureWorkload(const CatalogEntry& entry,
                                 const Rounds& rounds) {
  Workload workload = entry.make(entry.sizes.Get(is_gpu(), options_.size));
  Row row = NewRow(entry.name, entry.group);
  LoadAndCheck(workload, row);
  row.problem = workload.problem;
  row.bytes = workload.bytes;
  row.operations = workload.operations;
  row.unit = workload.unit;
  Contest contest(RunTask, options_.contest);
  Hold(row, contest, rounds);
  if (options_.use_twins) report_.ceilings.Take(row);
  return row;
}

const std::vector<std::string>& DeviceBench::LaunchRows() {
  static const auto* const rows = new std::vector<std::string>{
      "launch_latency", "launch_enqueue", "launch_throughput"};
  return *rows;
}

Row DeviceBench::MeasureLaunch(const std::string& name, const Rounds& rounds) {
  // Fewer than fill a driver's queue, so that enqueueing does not wait.
  constexpr int kQueued = 200, kThroughput = 2000;
  Workload workload = EmptyLaunch();
  Row row = NewRow(name, "launch");
  LoadAndCheck(workload, row);
  ContestOptions options = options_.contest;
  options.sample_seconds = 1e9;  // the number of launches decides
  Task task = RunTask;
  if (name == "launch_latency") {
    row.problem = "empty kernel: launch and wait";
    // Many waits a sample, each launch on its own.
    task = [](Executor& executor, int times) -> absl::StatusOr<double> {
      double seconds = 0;
      for (int i = 0; i < times; ++i) {
        const auto once = RunTask(executor, 1);
        if (!once.ok()) return once;
        seconds += *once;
      }
      return seconds;
    };
    options.max_times = kQueued;
  } else if (name == "launch_enqueue") {
    row.problem = "empty kernel: the call alone, 200 in a row";
    task = EnqueueTask;
    options.max_times = kQueued;
  } else {
    row.problem = "empty kernel: 2000 launches, one wait";
    options.max_times = kThroughput;
  }
  Contest contest(std::move(task), options);
  Hold(row, contest, rounds);
  return row;
}

std::string DeviceBench::CopyCase::Name() const {
  std::string size = SizeText(bytes);
  std::erase(size, ' ');
  return absl::StrCat("copy_", is_in ? "in" : "out", "_",
                      is_pinned ? "pinned_" : "", is_queued ? "queued_" : "",
                      size);
}

std::vector<DeviceBench::CopyCase> DeviceBench::CopyCases() const {
  constexpr uint64_t kKiB = 1024, kMiB = kKiB * kKiB;
  std::vector<uint64_t> sizes = {64 * kKiB, kMiB};
  if (options_.size != SizeClass::kTiny) {
    sizes.insert(sizes.end(), {16 * kMiB, 64 * kMiB});
  }
  if (is_gpu() && options_.size >= SizeClass::kDefault) {
    sizes.push_back(256 * kMiB);
  }
  std::vector<CopyCase> cases;
  for (const bool is_pinned : {false, true}) {
    if (is_pinned && pinner_ == nullptr) continue;
    for (const bool is_in : {true, false}) {
      for (const uint64_t bytes : sizes) {
        cases.push_back({is_in, is_pinned, /*is_queued=*/false, bytes});
        if (!is_pinned && bytes >= 64 * kMiB) {
          cases.push_back({is_in, is_pinned, /*is_queued=*/true, bytes});
        }
      }
    }
  }
  return cases;
}

namespace {

absl::Status CopyOnce(const DeviceBench::CopyCase& copy, void* host,
                      Executor& executor) {
  if (!copy.is_queued) {
    return copy.is_in ? executor.Write(0, 0, host, copy.bytes)
                      : executor.Read(0, 0, host, copy.bytes);
  }
  const absl::Status status =
      copy.is_in ? executor.EnqueueWrite(0, 0, host, copy.bytes)
                 : executor.EnqueueRead(0, 0, host, copy.bytes);
  return status.ok() ? executor.Wait() : status;
}

}  // namespace

Row DeviceBench::MeasureCopy(const CopyCase& copy, const Rounds& rounds) {
  Row row = NewRow(copy.Name(), "copy");
  row.problem = absl::StrCat(copy.is_pinned ? "pinned " : "pageable ",
                             "host memory ", copy.is_in ? "to" : "from",
                             " device, ", SizeText(copy.bytes),
                             copy.is_queued ? ", queued" : "");
  row.bytes = copy.bytes;
  PinnedMemory pinned;
  std::shared_ptr<void> pageable;
  if (copy.is_pinned) {
    auto memory = AllocatePinned(*pinner_, copy.bytes);
    if (!memory.ok()) {
      for (Series& series : row.series) Fail(series, memory.status());
      return row;
    }
    pinned = *std::move(memory);
  } else {
    pageable.reset(AllocateHost(copy.bytes), FreeHost);
  }
  void* const host = copy.is_pinned ? pinned.data : pageable.get();
  const uint32_t pattern = 0x01020304;
  FillHost(host, copy.bytes, &pattern, sizeof(pattern));

  const Workload workload = OneBuffer(copy.bytes);
  for (size_t i = 0; i < executors_.size(); ++i) {
    const absl::Status status = executors_[i]->Load(workload);
    if (!status.ok()) Fail(row.series[i], status);
  }
  Contest contest(
      [&](Executor& executor, int times) -> absl::StatusOr<double> {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < times; ++i) {
          BENCH_RETURN_IF_ERROR(CopyOnce(copy, host, executor));
        }
        return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                             start)
            .count();
      },
      options_.contest);
  Hold(row, contest, rounds);
  return row;
}

std::string DeviceBench::MoveCase::Name() const {
  std::string size = SizeText(bytes);
  std::erase(size, ' ');
  return absl::StrCat("move_", is_in ? "in" : "out", "_", size);
}

std::vector<DeviceBench::MoveCase> DeviceBench::MoveCases() const {
  if (!options_.use_unified || !is_gpu()) return {};
  constexpr uint64_t kMiB = uint64_t{1} << 20;
  const uint64_t large = options_.size == SizeClass::kTiny ? 1 : 64;
  return {{true, large * kMiB}, {false, large * kMiB}};
}

Row DeviceBench::MeasureMove(const MoveCase& move, const Rounds& rounds) {
  Row row = NewRow(move.Name(), "move");
  row.problem = absl::StrCat("unified memory ", move.is_in ? "to" : "from",
                             " the device, from where it was written, ",
                             SizeText(move.bytes));
  row.bytes = move.bytes;
  const Workload workload = OneBuffer(move.bytes);
  for (size_t i = 0; i < executors_.size(); ++i) {
    const absl::Status status = executors_[i]->Load(workload);
    if (!status.ok()) Fail(row.series[i], status);
  }
  Contest contest(
      [&](Executor& executor, int times) -> absl::StatusOr<double> {
        double seconds = 0;
        for (int i = 0; i < times; ++i) {
          const auto once = executor.Move(0, move.is_in);
          if (!once.ok()) return once;
          seconds += *once;
        }
        return seconds;
      },
      options_.contest);
  Hold(row, contest, rounds);
  return row;
}

}  // namespace hetgpu::bench
