#include "bench/runner/contest.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench/runner/shared_library.h"

namespace hetgpu::bench {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Runs shorter than this are warmed up before each sample.
constexpr double kShort = 0.1;

}  // namespace

absl::StatusOr<double> RunTask(Executor& executor, int times) {
  const auto start = Clock::now();
  BENCH_RETURN_IF_ERROR(executor.Enqueue(times));
  BENCH_RETURN_IF_ERROR(executor.Wait());
  return Since(start);
}

absl::StatusOr<double> EnqueueTask(Executor& executor, int times) {
  const auto start = Clock::now();
  BENCH_RETURN_IF_ERROR(executor.Enqueue(times));
  const double seconds = Since(start);
  BENCH_RETURN_IF_ERROR(executor.Wait());
  return seconds;
}

void Fail(Series& series, const absl::Status& status) {
  series.status =
      status.code() == absl::StatusCode::kUnavailable ? "unavailable" : "error";
  series.reason = std::string(status.message());
  series.seconds.clear();
}

void Contest::Add(Executor& executor, Series& series) {
  double best = 0, used = 0;
  for (int i = 0; i < 3; ++i) {
    const auto seconds = task_(executor, 1);
    if (!seconds.ok()) return Fail(series, seconds.status());
    used += *seconds;
    best = i == 0 ? *seconds : std::min(best, *seconds);
    if (*seconds > kShort) break;
  }
  const double times = std::ceil(options_.sample_seconds / best);
  entrants_.push_back(
      {&executor, &series,
       static_cast<int>(std::clamp<double>(times, 1, options_.max_times)), best,
       used});
}

bool Contest::SitsOut(const Entrant& entrant) const {
  constexpr size_t kEnough = 3;
  return entrant.series->seconds.size() >= kEnough &&
         entrant.used > options_.budget_seconds;
}

void Contest::Sample(Entrant& entrant) {
  if (entrant.estimate < kShort) {
    const auto warm = task_(*entrant.executor, 1);
    if (!warm.ok()) return Fail(*entrant.series, warm.status());
  }
  const auto seconds = task_(*entrant.executor, entrant.times);
  if (!seconds.ok()) return Fail(*entrant.series, seconds.status());
  entrant.used += *seconds;
  entrant.series->seconds.push_back(*seconds / entrant.times);
}

void Contest::Round() {
  const size_t count = entrants_.size();
  for (size_t i = 0; i < count; ++i) {
    Entrant& entrant = entrants_[(i + round_) % count];
    if (entrant.series->status == "ok" && !SitsOut(entrant)) Sample(entrant);
  }
  ++round_;
}

double Contest::LastSeconds() const {
  if (entrants_.empty() || entrants_[0].series->seconds.empty()) return 0;
  return entrants_[0].series->seconds.back();
}

}  // namespace hetgpu::bench
