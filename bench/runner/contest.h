// Executors taking turns: every round, each runs the same task once, so that
// whatever disturbs the machine disturbs all of them.
#ifndef HETGPU_BENCH_RUNNER_CONTEST_H_
#define HETGPU_BENCH_RUNNER_CONTEST_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/runner/executor.h"
#include "bench/runner/results.h"

namespace hetgpu::bench {

// Does something `times` times and returns the seconds that counted.
using Task =
    std::function<absl::StatusOr<double>(Executor& executor, int times)>;

// Launches and waits: what a user waits for.
absl::StatusOr<double> RunTask(Executor& executor, int times);
// The host's part of launches alone.
absl::StatusOr<double> EnqueueTask(Executor& executor, int times);

struct ContestOptions {
  int rounds = 7;
  // A sample repeats the task until it lasts this long, at most `max_times`.
  double sample_seconds = 0.01;
  int max_times = 1000;
  // A slow executor sits out rounds once it has used this up and has three.
  double budget_seconds = 4;
};

class Contest {
 public:
  Contest(Task task, const ContestOptions& options)
      : task_(std::move(task)), options_(options) {}

  // Warms up and finds how often a sample repeats the task. A failure is
  // written to `series`; the executor then takes no part. Both must outlive
  // the contest.
  void Add(Executor& executor, Series& series);
  // One sample of each.
  void Round();
  // The seconds of the last sample of the first entrant, for the benchmark
  // library; 0 = none.
  double LastSeconds() const;

 private:
  struct Entrant {
    Executor* executor;
    Series* series;
    int times;
    double estimate;  // seconds of one run
    double used;      // seconds so far
  };

  bool SitsOut(const Entrant& entrant) const;
  void Sample(Entrant& entrant);

  Task task_;
  ContestOptions options_;
  std::vector<Entrant> entrants_;
  int round_ = 0;
};

void Fail(Series& series, const absl::Status& status);

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_RUNNER_CONTEST_H_
