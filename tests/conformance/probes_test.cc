// Semantics probes: each must pass or be refused by name, in every mode.
#include "tests/conformance/conformance.h"

namespace hetgpu::conformance {
namespace {

class ProbesSuite : public DeviceTest {
 protected:
  // Runs a probe. False when the device refuses it, which is allowed.
  template <typename... Args>
  bool Probe(const char* name, const Shape& shape, Args... args) {
    const hetgpuFunction function = Function("probes", name);
    const hetgpuResult prepared = hetgpuFunctionPrepare(function);
    if (prepared == HETGPU_ERROR_UNSUPPORTED) {
      EXPECT_STRNE(hetgpuGetLastErrorDetail(), "");
      return false;
    }
    EXPECT_SUCCESS(prepared);
    EXPECT_SUCCESS(Run(function, shape, args...));
    return true;
  }
};

#define PROBE_OR_SKIP(...) \
  if (!Probe(__VA_ARGS__)) \
  GTEST_SKIP() << "refused: " << hetgpuGetLastErrorDetail()

TEST_P(ProbesSuite, SpinBetweenThreadsOfABlock) {
  for (uint32_t threads : {2, 32, 33, 256}) {
    const hetgpuDevicePtr flag = Zeroes(1), out = Zeroes(threads + 1);
    PROBE_OR_SKIP("spin_between_threads", {{1, 1, 1}, {threads, 1, 1}}, flag,
                  out);
    const auto seen = Download<uint32_t>(out, threads);
    for (uint32_t i = 0; i < threads; ++i) ASSERT_EQ(seen[i], i + 7) << threads;
  }
}

TEST_P(ProbesSuite, LookBackOverBlocksInEitherOrder) {
  constexpr uint32_t kBlocks = 48;
  for (uint32_t forward : {1u, 0u}) {
    const hetgpuDevicePtr done = Zeroes(kBlocks);
    PROBE_OR_SKIP("look_back", {{kBlocks, 1, 1}, {32, 1, 1}}, done, forward);
    const auto sums = Download<uint32_t>(done, kBlocks);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < kBlocks; ++i) {
      const uint32_t block = forward ? i : kBlocks - 1 - i;
      sum += block;
      ASSERT_EQ(sums[block], sum + 1) << block << " forward " << forward;
    }
  }
}

TEST_P(ProbesSuite, GuardedBarrierInALoopOfDivergentTripCount) {
  constexpr uint32_t kThreads = 96, kRounds = 7;
  const hetgpuDevicePtr out = Zeroes(kThreads);
  PROBE_OR_SKIP("guarded_barrier", {{1, 1, 1}, {kThreads, 1, 1}}, out, kRounds);
  uint32_t common = 0, sum = 0;
  for (uint32_t i = 0; i < kRounds; ++i) {
    sum += kThreads * (i + 1);
    common = common * 31 + sum;
  }
  const auto seen = Download<uint32_t>(out, kThreads);
  for (uint32_t t = 0; t < kThreads; ++t) {
    uint32_t expected = common;
    for (uint32_t i = kRounds; i < kRounds + t % 5; ++i) expected += 1000 * i;
    ASSERT_EQ(seen[t], expected) << t;
  }
}

TEST_P(ProbesSuite, WarpsLeaveALoopWithABarrier) {
  constexpr uint32_t kWarps = 5;
  const hetgpuDevicePtr out = Zeroes(kWarps * 32);
  PROBE_OR_SKIP("leaving_barrier", {{1, 1, 1}, {kWarps * 32, 1, 1}}, out);
  const auto seen = Download<uint32_t>(out, kWarps * 32);
  uint32_t sum = 0;
  for (uint32_t warp = 0; warp < kWarps; ++warp) {
    sum += (kWarps - warp) * 32;
    for (uint32_t lane = 0; lane < 32; ++lane) {
      ASSERT_EQ(seen[warp * 32 + lane], sum) << warp << " " << lane;
    }
  }
}

TEST_P(ProbesSuite, SpinLockTakenByEveryLane) {
  const hetgpuDevicePtr lock = Zeroes(1), total = Zeroes(1);
  PROBE_OR_SKIP("spin_lock", {{4, 1, 1}, {64, 1, 1}}, lock, total, 3u);
  EXPECT_EQ(Download<uint32_t>(total, 1)[0], 4u * 64 * 3);
}

TEST_P(ProbesSuite, SpinLockTakenInTheLoopCondition) {
  const hetgpuDevicePtr lock = Zeroes(1), total = Zeroes(1);
  PROBE_OR_SKIP("spin_lock_tight", {{2, 1, 1}, {64, 1, 1}}, lock, total);
  EXPECT_EQ(Download<uint32_t>(total, 1)[0], 128u);
}

TEST_P(ProbesSuite, HalfTheBlockLeavesBeforeABarrier) {
  for (uint32_t threads : {64u, 66u, 256u, 1024u}) {
    const hetgpuDevicePtr out = Zeroes(threads);
    PROBE_OR_SKIP("leave_before_barrier", {{1, 1, 1}, {threads, 1, 1}}, out);
    const auto seen = Download<uint32_t>(out, threads);
    for (uint32_t t = 0; t < threads; ++t) {
      const uint32_t half = threads / 2;
      ASSERT_EQ(seen[t], t < half ? half - 1 - t : 0) << threads << " " << t;
    }
  }
}

TEST_P(ProbesSuite, WarpsHandOverByNamedBarriers) {
  constexpr uint32_t kRounds = 20;
  const hetgpuDevicePtr out = Zeroes(kRounds * 32);
  PROBE_OR_SKIP("named_barriers", {{3, 1, 1}, {64, 1, 1}}, out, kRounds);
  const auto seen = Download<uint32_t>(out, kRounds * 32);
  for (uint32_t i = 0; i < kRounds * 32; ++i) {
    ASSERT_EQ(seen[i], i / 32 * 32 + 31 - i % 32) << i;
  }
}

TEST_P(ProbesSuite, CollectivesInBothArmsOfABranch) {
  const hetgpuDevicePtr out = Zeroes(64);
  PROBE_OR_SKIP("divergent_collectives", {{1, 1, 1}, {64, 1, 1}}, out);
  uint32_t threes = 0, others = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (lane % 3 == 0 && lane > 10) threes |= 1u << lane;
    if (lane % 3 != 0 && lane > 20) others |= 1u << lane;
  }
  const auto seen = Download<uint32_t>(out, 64);
  for (uint32_t t = 0; t < 64; ++t) {
    ASSERT_EQ(seen[t], t % 32 % 3 == 0 ? threes ^ 3 : others ^ 31) << t;
  }
}

HETGPU_CONFORMANCE(ProbesSuite);

}  // namespace
}  // namespace hetgpu::conformance
