// Blocks on fibers: barriers, collectives, progress.
#include <atomic>
#include <bit>
#include <random>
#include <set>

#include "backends/cpu/test_device.h"

namespace hetgpu::cpu {
namespace {

using Kind = LaunchError::Kind;

constexpr uint32_t kAll = 0xffffffffu;

HETGPU_EMITTED uint32_t LinearBlock(const BlockContext* b) {
  return b->ctaid[0] +
         b->nctaid[0] * (b->ctaid[1] + b->nctaid[1] * b->ctaid[2]);
}

std::string Text(const LaunchError& error) { return Describe(error); }

// ---- Straight code ----------------------------------------------------------

struct CountParams {
  std::atomic<uint32_t>* counts;
};

HETGPU_EMITTED void CountBlocks(BlockContext* b, uint32_t first,
                                uint32_t count) {
  auto* counts = ParamsOf<CountParams>(b).counts;
  for (uint32_t unit = first; unit < first + count; ++unit) {
    b->current_unit = unit;
    counts[LinearBlock(b)].fetch_add(1, std::memory_order_relaxed);
  }
}

class WorkersTest : public testing::TestWithParam<uint32_t> {
 protected:
  WorkersTest() : device_(GetParam()) {}
  TestDevice device_;
};

INSTANTIATE_TEST_SUITE_P(Workers, WorkersTest, testing::Values(1, 2, 7));

TEST_P(WorkersTest, EveryBlockRunsOnceInEveryMode) {
  for (bool fibers : {false, true}) {
    for (Dim3 grid : {Dim3{1, 1, 1}, Dim3{3, 5, 7}, Dim3{1000, 1, 1}}) {
      for (Dim3 block : {Dim3{1, 1, 1}, Dim3{7, 3, 2}}) {
        const uint32_t blocks = grid.x * grid.y * grid.z;
        std::vector<std::atomic<uint32_t>> counts(blocks);
        const LaunchError error =
            device_.Run(device_.Code(CountBlocks, fibers), {grid, block},
                        CountParams{counts.data()});
        ASSERT_EQ(error.kind, Kind::kNone) << Text(error);
        for (auto& count : counts) {
          ASSERT_EQ(count.load(), block.x * block.y * block.z);
        }
      }
    }
  }
}

HETGPU_EMITTED void ExitOddUnits(BlockContext* b, uint32_t first,
                                 uint32_t count) {
  auto* counts = ParamsOf<CountParams>(b).counts;
  for (uint32_t unit = first; unit < first + count; ++unit) {
    b->current_unit = unit;
    if (unit % 2 == 1) b->helpers->exit_unit(b);
    counts[LinearBlock(b)].fetch_add(1, std::memory_order_relaxed);
  }
}

TEST_P(WorkersTest, ExitEndsOneUnitOnly) {
  for (bool fibers : {false, true}) {
    std::vector<std::atomic<uint32_t>> counts(50);
    const LaunchError error =
        device_.Run(device_.Code(ExitOddUnits, fibers),
                    {{50, 1, 1}, {33, 1, 1}}, CountParams{counts.data()});
    ASSERT_EQ(error.kind, Kind::kNone) << Text(error);
    for (auto& count : counts) ASSERT_EQ(count.load(), 17u);
  }
}

// ---- Barriers ---------------------------------------------------------------

struct OutParams {
  uint32_t* out;
};

// Each thread writes shared memory, then reads its mirror's word.
HETGPU_EMITTED void Mirror(BlockContext* b, uint32_t unit, uint32_t) {
  auto* shared = reinterpret_cast<uint32_t*>(b->shared);
  const uint32_t n = b->thread_count;
  uint32_t* out = ParamsOf<OutParams>(b).out + LinearBlock(b) * n;
  uint32_t value = unit;
  for (int round = 0; round < 3; ++round) {
    shared[unit] = value * 2 + 1;
    b->helpers->barrier_sync(b, 0, 0, 11);
    value = shared[n - 1 - unit];
    b->helpers->barrier_sync(b, 0, n, 12);
  }
  out[unit] = value;
}

TEST_P(WorkersTest, BarriersOrderSharedMemoryInBlocksOfAnyShape) {
  for (Dim3 block :
       {Dim3{1, 1, 1}, Dim3{33, 1, 1}, Dim3{1024, 1, 1}, Dim3{1, 1024, 1},
        Dim3{16, 1, 64}, Dim3{31, 33, 1}, Dim3{3, 11, 31}}) {
    const uint32_t n = block.x * block.y * block.z;
    std::vector<uint32_t> out(9 * n);
    const LaunchError error =
        device_.Run(device_.Code(Mirror, true), {{3, 3, 1}, block, n * 4},
                    OutParams{out.data()});
    ASSERT_EQ(error.kind, Kind::kNone) << Text(error);
    for (uint32_t i = 0; i < out.size(); ++i) {
      const uint32_t mirrored = n - 1 - i % n;  // three reflections: one
      ASSERT_EQ(out[i], mirrored * 8 + 7) << i << " of " << n;
    }
  }
}

// The spin probe: thread 0 waits for a flag that the last thread sets.
HETGPU_EMITTED void SpinInBlock(BlockContext* b, uint32_t unit, uint32_t) {
  auto* flag = reinterpret_cast<std::atomic<uint32_t>*>(b->shared);
  if (unit == 0) {
    while (flag->load() != 42) b->helpers->yield(b);
    ParamsOf<OutParams>(b).out[LinearBlock(b)] = 1;
  } else if (unit == b->thread_count - 1) {
    flag->store(42);
  }
}

TEST_P(WorkersTest, AThreadMaySpinOnAnotherOfItsBlock) {
  std::vector<uint32_t> out(20);
  const LaunchError error =
      device_.Run(device_.Code(SpinInBlock, true), {{20, 1, 1}, {64, 1, 1}, 4},
                  OutParams{out.data()});
  ASSERT_EQ(error.kind, Kind::kNone) << Text(error);
  EXPECT_EQ(out, std::vector<uint32_t>(20, 1));
}

// Each block waits for its neighbour: the next lower or the next higher one.
struct ChainParams {
  std::atomic<uint32_t>* done;
  bool ascending;
};

HETGPU_EMITTED void Chain(BlockContext* b, uint32_t unit, uint32_t) {
  const auto& params = ParamsOf<ChainParams>(b);
  const uint32_t block = LinearBlock(b);
  const uint32_t last = b->nctaid[0] - 1;
  if (unit == 0) {
    const bool first = block == (params.ascending ? 0 : last);
    std::atomic<uint32_t>& before =
        params.done[params.ascending ? block - 1 : block + 1];
    while (!first && before.load() == 0) b->helpers->yield(b);
  }
  b->helpers->barrier_sync(b, 0, 0, 20);
  if (unit == 0) params.done[block].store(1);
}

TEST_P(WorkersTest, BlocksMayWaitForBlocksInEitherOrder) {
  for (bool ascending : {true, false}) {
    std::vector<std::atomic<uint32_t>> done(40);
    const LaunchError error = device_.Run(device_.Code(Chain, true),
                                          {{40, 1, 1}, {32, 1, 1}, 0, 20000},
                                          ChainParams{done.data(), ascending});
    ASSERT_EQ(error.kind, Kind::kNone) << Text(error);
    for (auto& word : done) ASSERT_EQ(word.load(), 1u);
  }
}

// A barrier under a condition, in a loop whose trip count differs by thread.
HETGPU_EMITTED void GuardedBarrier(BlockContext* b, uint32_t unit, uint32_t) {
  uint32_t trips = 0;
  for (uint32_t i = 0; i < unit % 5 + 1; ++i) {
    if (i <= unit % 5) b->helpers->barrier_sync(b, 0, 0, 30);
    ++trips;
  }
  ParamsOf<OutParams>(b).out[unit] = trips;
}

TEST_P(WorkersTest, ExitsCompleteBarriersOfThoseWhoGoOn) {
  std::vector<uint32_t> out(100);
  const LaunchError error =
      device_.Run(device_.Code(GuardedBarrier, true), {{1, 1, 1}, {100, 1, 1}},
                  OutParams{out.data()});
  ASSERT_EQ(error.kind, Kind::kNone) << Text(error);
  for (uint32_t i = 0; i < 100; ++i) ASSERT_EQ(out[i], i % 5 + 1);
}

// A spin lock that every lane takes.
struct LockParams {
  std::atomic<uint32_t>* lock;
  uint32_t* counter;
};

HETGPU_EMITTED void LockedIncrement(BlockContext* b, uint32_t, uint32_t) {
  const auto& params = ParamsOf<LockParams>(b);
  uint32_t expected = 0;
  while (!params.lock->compare_exchange_strong(expected, 1)) {
    expected = 0;
    b->helpers->yield(b);
  }
  const uint32_t value = *params.counter;
  b->helpers->yield(b);  // while holding the lock
  *params.counter = value + 1;
  params.lock->store(0);
}

TEST_P(WorkersTest, EveryLaneMayTakeASpinLock) {
  std::atomic<uint32_t> lock{0};
  uint32_t counter = 0;
  const LaunchError error =
      device_.Run(device_.Code(LockedIncrement, true), {{8, 1, 1}, {96, 1, 1}},
                  LockParams{&lock, &counter});
  ASSERT_EQ(error.kind, Kind::kNone) << Text(error);
  EXPECT_EQ(counter, 8u * 96);
}

HETGPU_EMITTED void HalfLeaves(BlockContext* b, uint32_t unit, uint32_t) {
  auto* shared = reinterpret_cast<std::atomic<uint32_t>*>(b->shared);
  if (unit == 0) shared->store(0);
  b->helpers->barrier_sync(b, 0, 0, 40);
  shared->fetch_add(1);
  if (unit % 2 == 0) b->helpers->exit_unit(b);
  b->helpers->barrier_sync(b, 0, 0, 41);
  ParamsOf<OutParams>(b).out[unit] = shared->load();
}

TEST_P(WorkersTest, HalfTheBlockMayLeaveBeforeABarrier) {
  std::vector<uint32_t> out(130);
  const LaunchError error =
      device_.Run(device_.Code(HalfLeaves, true), {{1, 1, 1}, {130, 1, 1}, 4},
                  OutParams{out.data()});
  ASSERT_EQ(error.kind, Kind::kNone) << Text(error);
  for (uint32_t i = 1; i < 130; i += 2) ASSERT_EQ(out[i], 130u);
}

// Warp 0 produces into a slot, warps 1 and 2 consume in turn: barrier 1 says
// full, barrier 2 says empty, each for 64 of the block's 96 threads.
HETGPU_EMITTED void ProducerConsumer(BlockContext* b, uint32_t unit, uint32_t) {
  auto* slot = reinterpret_cast<uint32_t*>(b->shared);
  const uint32_t warp = unit / 32;
  if (warp == 2) return;  // takes no part
  uint32_t sum = 0;
  for (uint32_t i = 0; i < 10; ++i) {
    if (warp == 0) {
      if (i != 0) b->helpers->barrier_sync(b, 2, 64, 50);
      slot[unit] = i * 100 + unit;
      b->helpers->barrier_arrive(b, 1, 64, 51);
    } else {
      b->helpers->barrier_sync(b, 1, 64, 52);
      sum += slot[unit - 32];
      if (i != 9) b->helpers->barrier_arrive(b, 2, 64, 53);
    }
  }
  if (warp == 1) ParamsOf<OutParams>(b).out[unit - 32] = sum;
}

TEST_P(WorkersTest, NamedBarriersCountPartOfTheBlock) {
  std::vector<uint32_t> out(32);
  const LaunchError error =
      device_.Run(device_.Code(ProducerConsumer, true),
                  {{1, 1, 1}, {96, 1, 1}, 128}, OutParams{out.data()});
  ASSERT_EQ(error.kind, Kind::kNone) << Text(error);
  for (uint32_t i = 0; i < 32; ++i) ASSERT_EQ(out[i], 4500 + 10 * i);
}

HETGPU_EMITTED void BarrierReductions(BlockContext* b, uint32_t unit,
                                      uint32_t) {
  uint32_t* out = ParamsOf<OutParams>(b).out + unit * 5;
  const auto red = b->helpers->barrier_red;
  const auto popc = static_cast<uint32_t>(BarrierOp::kPopc);
  const auto all = static_cast<uint32_t>(BarrierOp::kAnd);
  const auto any = static_cast<uint32_t>(BarrierOp::kOr);
  out[0] = red(b, popc, 0, 0, unit % 3 == 0, 60);
  out[1] = red(b, all, 1, 0, 1, 61);
  out[2] = red(b, all, 0, 0, unit != 17, 62);
  out[3] = red(b, any, 0, 0, unit == 17, 63);
  out[4] = red(b, any, 15, 0, 0, 64);
}

TEST_P(WorkersTest, BarriersReduce) {
  constexpr uint32_t kThreads = 77;
  std::vector<uint32_t> out(kThreads * 5);
  const LaunchError error =
      device_.Run(device_.Code(BarrierReductions, true),
                  {{1, 1, 1}, {kThreads, 1, 1}}, OutParams{out.data()});
  ASSERT_EQ(error.kind, Kind::kNone) << Text(error);
  for (uint32_t i = 0; i < kThreads; ++i) {
    const std::vector<uint32_t> row(out.begin() + i * 5,
                                    out.begin() + i * 5 + 5);
    ASSERT_EQ(row, (std::vector<uint32_t>{26, 1, 0, 1, 0})) << i;
  }
}

// Units that are warps: 70 threads are three warps, the last of six lanes.
HETGPU_EMITTED void WarpBarriers(BlockContext* b, uint32_t warp, uint32_t) {
  const uint32_t lanes = warp == 2 ? 0x3f : kAll;
  auto* shared = reinterpret_cast<uint32_t*>(b->shared);
  shared[warp] = warp + 1;
  b->helpers->warp_barrier_sync(b, 0, 0, lanes, 70);
  uint32_t sum = shared[0] + shared[1] + shared[2];
  sum += 100 * b->helpers->warp_barrier_red(
                   b, static_cast<uint32_t>(BarrierOp::kPopc), 1, 0, 0x55555555,
                   lanes, 71);
  if (warp == 0) {
    b->helpers->warp_barrier_arrive(b, 3, 64, lanes, 72);
  } else if (warp == 1) {
    b->helpers->warp_barrier_sync(b, 3, 64, lanes, 73);
  }
  ParamsOf<OutParams>(b).out[warp] = sum;
}

TEST_P(WorkersTest, WarpUnitsCountTheirLanes) {
  std::vector<uint32_t> out(3);
  const LaunchError error =
      device_.Run(device_.Code(WarpBarriers, true, 32),
                  {{1, 1, 1}, {70, 1, 1}, 12}, OutParams{out.data()});
  ASSERT_EQ(error.kind, Kind::kNone) << Text(error);
  EXPECT_EQ(out, std::vector<uint32_t>(3, 6 + 100 * (16 + 16 + 3)));
}

// ---- Deadlock ---------------------------------------------------------------

HETGPU_EMITTED void TwoBarriers(BlockContext* b, uint32_t unit, uint32_t) {
  if (unit < 32) {
    b->helpers->barrier_sync(b, 1, 0, 80);
  } else {
    b->helpers->barrier_sync(b, 2, 0, 81);
  }
}

TEST_P(WorkersTest, ADeadlockIsReportedWithThePlaces) {
  const LaunchError error =
      device_.Run(device_.Code(TwoBarriers, true), {{4, 1, 1}, {96, 1, 1}}, 0);
  EXPECT_EQ(error.kind, Kind::kDeadlock);
  EXPECT_EQ(error.line, 80u);
  EXPECT_NE(error.detail.find("32 threads wait at barrier 1 (line 80)"),
            std::string::npos)
      << error.detail;
  EXPECT_NE(error.detail.find("64 threads wait at barrier 2 (line 81)"),
            std::string::npos)
      << error.detail;
}

HETGPU_EMITTED void BadBarrier(BlockContext* b, uint32_t unit, uint32_t) {
  b->helpers->barrier_sync(b, unit == 5 ? 16 : 0, 0, 82);
}

HETGPU_EMITTED void MixedCounts(BlockContext* b, uint32_t unit, uint32_t) {
  b->helpers->barrier_sync(b, 1, unit < 32 ? 64 : 96, 83);
}

TEST_P(WorkersTest, ImpossibleBarriersAreRefused) {
  LaunchError error = device_.Run(device_.Code(BadBarrier, true), {}, 0);
  EXPECT_EQ(error.kind, Kind::kInvalidInstruction);
  EXPECT_EQ(error.thread.x, 5u);
  EXPECT_EQ(error.line, 82u);
  error =
      device_.Run(device_.Code(MixedCounts, true), {{1, 1, 1}, {128, 1, 1}}, 0);
  EXPECT_EQ(error.kind, Kind::kInvalidInstruction);
  EXPECT_NE(error.detail.find("count"), std::string::npos);
  error = device_.Run(device_.Code(MixedCounts, false), {}, 0);
  EXPECT_EQ(error.kind, Kind::kInvalidInstruction);
}

}  // namespace
}  // namespace hetgpu::cpu
