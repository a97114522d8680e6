#include "bench/runner/contest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/tests/fake_executor.h"

namespace hetgpu::bench {
namespace {

// A task that takes `seconds` per run and writes down who ran how often.
Task Recorded(double seconds, std::vector<std::string>& log) {
  return
      [seconds, &log](Executor& executor, int times) -> absl::StatusOr<double> {
        log.push_back(executor.name() + " " + std::to_string(times));
        return seconds * times;
      };
}

TEST(ContestTest, ShortTasksRepeatUntilASampleIsLongEnough) {
  std::vector<std::string> log;
  Contest contest(Recorded(0.25e-3, log), {.sample_seconds = 1e-3});
  FakeExecutor executor("a");
  Series series = {.by = "a"};
  contest.Add(executor, series);
  log.clear();
  contest.Round();
  EXPECT_THAT(log, testing::ElementsAre("a 1", "a 4"));
  EXPECT_THAT(series.seconds, testing::ElementsAre(testing::DoubleEq(0.25e-3)));
  EXPECT_DOUBLE_EQ(contest.LastSeconds(), 0.25e-3);
}

TEST(ContestTest, LongTasksRunOnceWithoutWarmUp) {
  std::vector<std::string> log;
  Contest contest(Recorded(0.5, log), {});
  FakeExecutor executor("a");
  Series series = {.by = "a"};
  contest.Add(executor, series);
  EXPECT_THAT(log, testing::ElementsAre("a 1"));
  contest.Round();
  EXPECT_THAT(log, testing::ElementsAre("a 1", "a 1"));
}

TEST(ContestTest, WhoGoesFirstChangesFromRoundToRound) {
  std::vector<std::string> log;
  Contest contest(Recorded(0.5, log), {.budget_seconds = 100});
  FakeExecutor a("a"), b("b");
  Series series_a = {.by = "a"}, series_b = {.by = "b"};
  contest.Add(a, series_a);
  contest.Add(b, series_b);
  log.clear();
  contest.Round();
  contest.Round();
  EXPECT_THAT(log, testing::ElementsAre("a 1", "b 1", "b 1", "a 1"));
}

TEST(ContestTest, SlowExecutorsSitOutLateRounds) {
  std::vector<std::string> log;
  Contest contest(Recorded(2, log), {.budget_seconds = 4});
  FakeExecutor executor("a");
  Series series = {.by = "a"};
  contest.Add(executor, series);
  for (int i = 0; i < 7; ++i) contest.Round();
  EXPECT_EQ(series.seconds.size(), 3u);
}

TEST(ContestTest, FailuresAreErrorsAndNeverTimes) {
  FakeExecutor executor("a");
  Series series = {.by = "a"};
  Contest contest(RunTask, {});
  contest.Add(executor, series);
  contest.Round();
  EXPECT_TRUE(series.ok());
  executor.status = absl::InternalError("broke");
  contest.Round();
  EXPECT_EQ(series.status, "error");
  EXPECT_EQ(series.reason, "broke");
  EXPECT_TRUE(series.seconds.empty());
}

TEST(ContestTest, AbsenceIsNoError) {
  FakeExecutor executor("a");
  executor.status = absl::UnavailableError("no such device");
  Series series = {.by = "a"};
  Contest contest(RunTask, {});
  contest.Add(executor, series);
  EXPECT_EQ(series.status, "unavailable");
}

}  // namespace
}  // namespace hetgpu::bench
