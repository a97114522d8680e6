// Random programs of sync steps: every thread runs the steps it is a member of,
// and each result must be what the members of that step make together.
#include <algorithm>
#include <bit>
#include <random>

#include "backends/cpu/test_device.h"

namespace hetgpu::cpu {
namespace {

enum class StepKind : uint32_t {
  kBlockReduction,
  kNamedBarrier,
  kBallot,
  kShuffle,
  kYield,
};

struct Step {
  StepKind kind;
  uint32_t salt;       // of predicates and values
  uint32_t warps;      // named barrier: the warps that take part
  uint32_t count;      // and their threads, in whole warps
  uint32_t lanes;      // collectives: two groups, this mask and the rest
  uint32_t source[2];  // shuffle: the lane each group reads
};

struct ScheduleParams {
  const Step* steps;
  uint32_t step_count;
  uint32_t* results;  // [thread][step]
};

HETGPU_EMITTED uint32_t ValueOf(uint32_t thread, uint32_t salt) {
  uint32_t x = thread * 0x9e3779b9u + salt;
  x ^= x >> 15;
  return x * 0x85ebca6bu;
}

HETGPU_EMITTED uint32_t RunStep(BlockContext* b, const Step& step,
                                uint32_t index, uint32_t unit) {
  const uint32_t value = ValueOf(unit, step.salt);
  const uint32_t lane = unit % 32;
  const bool second = (step.lanes >> lane & 1) == 0;
  const uint32_t mask = second ? ~step.lanes : step.lanes;
  switch (step.kind) {
    case StepKind::kBlockReduction:
      return b->helpers->barrier_red(b, static_cast<uint32_t>(BarrierOp::kPopc),
                                     0, 0, value & 1, index);
    case StepKind::kNamedBarrier:
      if ((step.warps >> unit / 32 & 1) == 0) return 0;
      return b->helpers->barrier_red(b, static_cast<uint32_t>(BarrierOp::kPopc),
                                     1 + index % 15, step.count, value & 1,
                                     index);
    case StepKind::kBallot:
      return b->helpers->vote(b, static_cast<uint32_t>(VoteKind::kBallot),
                              value & 1, mask, index);
    case StepKind::kShuffle:
      return static_cast<uint32_t>(
          b->helpers->shuffle(b, static_cast<uint32_t>(ShuffleMode::kIdx),
                              value, step.source[second], 0x1f, mask, index));
    case StepKind::kYield:
      for (uint32_t i = 0; i < value % 20; ++i) b->helpers->yield(b);
      return 0;
  }
  return 0;
}

HETGPU_EMITTED void RunSchedule(BlockContext* b, uint32_t unit, uint32_t) {
  const auto& params = ParamsOf<ScheduleParams>(b);
  for (uint32_t i = 0; i < params.step_count; ++i) {
    params.results[unit * params.step_count + i] =
        RunStep(b, params.steps[i], i, unit);
  }
}

class Schedule {
 public:
  Schedule(std::mt19937* random, uint32_t threads)
      : random_(*random), threads_(threads), warps_((threads + 31) / 32) {
    for (int i = 0; i < 60; ++i) steps_.push_back(NewStep());
  }

  const std::vector<Step>& steps() const { return steps_; }

  uint32_t Expected(uint32_t thread, const Step& step) const {
    const uint32_t first = thread / 32 * 32;
    const bool second = (step.lanes >> thread % 32 & 1) == 0;
    const uint32_t mask = second ? ~step.lanes : step.lanes;
    uint32_t ballot = 0, odd = 0;
    for (uint32_t t = 0; t < threads_; ++t) {
      const bool set = ValueOf(t, step.salt) & 1;
      if (step.kind == StepKind::kBlockReduction ||
          (step.warps >> t / 32 & 1) != 0) {
        odd += set;
      }
      if (t / 32 * 32 == first && set) ballot |= 1u << t % 32;
    }
    switch (step.kind) {
      case StepKind::kBlockReduction:
        return odd;
      case StepKind::kNamedBarrier:
        return step.warps >> thread / 32 & 1 ? odd : 0;
      case StepKind::kBallot:
        return ballot & mask;
      case StepKind::kShuffle: {
        const uint32_t source = first + step.source[second];
        const bool member = mask >> step.source[second] & 1;
        return member && source < threads_ ? ValueOf(source, step.salt) : 0;
      }
      case StepKind::kYield:
        return 0;
    }
    return 0;
  }

 private:
  Step NewStep() {
    Step step{};
    step.kind = static_cast<StepKind>(random_() % 5);
    step.salt = static_cast<uint32_t>(random_());
    step.lanes = static_cast<uint32_t>(random_());
    step.source[0] = random_() % 32;
    step.source[1] = random_() % 32;
    const uint32_t all = warps_ == 32 ? ~0u : (1u << warps_) - 1;
    step.warps = static_cast<uint32_t>(random_()) & all;
    if (step.warps == 0) step.warps = all;
    step.count = 32 * static_cast<uint32_t>(std::popcount(step.warps));
    return step;
  }

  std::mt19937& random_;
  const uint32_t threads_;
  const uint32_t warps_;
  std::vector<Step> steps_;
};

TEST(ScheduleTest, RandomSchedulesGiveWhatTheirMembersMake) {
  std::mt19937 random(20);
  TestDevice device;
  for (int round = 0; round < 150; ++round) {
    const uint32_t threads = random() % 300 + 1;
    const Schedule schedule(&random, threads);
    const auto count = static_cast<uint32_t>(schedule.steps().size());
    std::vector<uint32_t> results(threads * count);
    const LaunchError error = device.Run(
        device.Code(RunSchedule, true), {{1, 1, 1}, {threads, 1, 1}},
        ScheduleParams{schedule.steps().data(), count, results.data()});
    ASSERT_EQ(error.kind, LaunchError::Kind::kNone) << Describe(error);
    for (uint32_t t = 0; t < threads; ++t) {
      for (uint32_t i = 0; i < count; ++i) {
        ASSERT_EQ(results[t * count + i],
                  schedule.Expected(t, schedule.steps()[i]))
            << "round " << round << " thread " << t << " step " << i;
      }
    }
  }
}

}  // namespace
}  // namespace hetgpu::cpu
