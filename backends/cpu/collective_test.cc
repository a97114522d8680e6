// Warp collectives: what they compute, and who waits for whom.
#include <algorithm>
#include <atomic>
#include <bit>
#include <random>

#include "backends/cpu/collectives.h"
#include "backends/cpu/test_device.h"

namespace hetgpu::cpu {
namespace {

using Kind = LaunchError::Kind;

constexpr uint32_t kAll = 0xffffffffu;

// ---- What they compute ------------------------------------------------------

struct ShuffleAnswer {
  uint32_t value;
  bool in_range;
};

// The manual's description, bit field by bit field.
ShuffleAnswer ReferenceShuffle(ShuffleMode mode, int lane, int b, int c,
                               const uint32_t values[32]) {
  const int bval = b % 32, cval = c % 32, segmask = c / 256 % 32;
  const int max_lane = (lane & segmask) | (cval & ~segmask & 31);
  const int min_lane = lane & segmask;
  int j = 0;
  bool p = false;
  if (mode == ShuffleMode::kUp) {
    j = lane - bval;
    p = j >= max_lane;
  } else if (mode == ShuffleMode::kDown) {
    j = lane + bval;
    p = j <= max_lane;
  } else if (mode == ShuffleMode::kBfly) {
    j = lane ^ bval;
    p = j <= max_lane;
  } else {
    j = min_lane | (bval & ~segmask & 31);
    p = j <= max_lane;
  }
  if (!p) j = lane;
  return {values[j], p};
}

TEST(CollectiveTest, ShufflesAgreeWithTheManualForAllOperands) {
  uint32_t values[32];
  LaneInput inputs[kWarpSize];
  std::mt19937 random(1);
  for (uint32_t& value : values) value = static_cast<uint32_t>(random());
  for (uint32_t mode = 0; mode < 4; ++mode) {
    for (uint32_t segment = 0; segment < 32; ++segment) {
      for (uint32_t clamp = 0; clamp < 32; ++clamp) {
        for (uint32_t b = 0; b < 40; ++b) {
          const uint32_t c = segment << 8 | clamp;
          for (uint32_t lane = 0; lane < 32; ++lane) {
            inputs[lane] = {values[lane], mode, b, c};
          }
          for (uint32_t lane = 0; lane < 32; ++lane) {
            const uint64_t got =
                CollectiveResult(CollectiveOp::kShuffle, lane, kAll, inputs);
            const ShuffleAnswer want = ReferenceShuffle(
                static_cast<ShuffleMode>(mode), static_cast<int>(lane),
                static_cast<int>(b), static_cast<int>(c), values);
            ASSERT_EQ(got, want.value | uint64_t{want.in_range} << 32)
                << "mode " << mode << " b " << b << " c " << c << " lane "
                << lane;
          }
        }
      }
    }
  }
}

uint64_t Vote(VoteKind kind, uint32_t lanes, uint32_t predicates) {
  LaneInput inputs[kWarpSize];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    inputs[lane].value = predicates >> lane & 1;
    inputs[lane].mode = static_cast<uint32_t>(kind);
  }
  const uint32_t first = static_cast<uint32_t>(std::countr_zero(lanes));
  return CollectiveResult(CollectiveOp::kVote, first, lanes, inputs);
}

TEST(CollectiveTest, VotesLookOnlyAtTheLanesThatArrived) {
  EXPECT_EQ(Vote(VoteKind::kAll, kAll, kAll), 1u);
  EXPECT_EQ(Vote(VoteKind::kAll, kAll, kAll - 1), 0u);
  EXPECT_EQ(Vote(VoteKind::kAll, 0xf0, 0xf0), 1u);
  EXPECT_EQ(Vote(VoteKind::kAny, 0xf0, 0x0f), 0u);
  EXPECT_EQ(Vote(VoteKind::kAny, 0xf0, 0x10), 1u);
  EXPECT_EQ(Vote(VoteKind::kUni, 0xf0, 0x0f), 1u);
  EXPECT_EQ(Vote(VoteKind::kUni, 0xf0, 0xff), 1u);
  EXPECT_EQ(Vote(VoteKind::kUni, 0xf0, 0x70), 0u);
  EXPECT_EQ(Vote(VoteKind::kBallot, 0xff00, 0x12345678), 0x5600u);
}

TEST(CollectiveTest, MatchComparesAll64Bits) {
  LaneInput inputs[kWarpSize];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    inputs[lane].value = uint64_t{lane % 3} << 40 | 5;
    inputs[lane].mode = static_cast<uint32_t>(MatchKind::kAny);
  }
  const auto any = [&](uint32_t lane, uint32_t lanes) {
    return CollectiveResult(CollectiveOp::kMatch, lane, lanes, inputs);
  };
  EXPECT_EQ(any(0, kAll) & kAll, 0x49249249u);
  EXPECT_EQ(any(1, kAll) & kAll, 0x92492492u);
  EXPECT_EQ(any(1, 0x12), 0x12u | uint64_t{1} << 32);
  for (LaneInput& input : inputs) {
    input.mode = static_cast<uint32_t>(MatchKind::kAll);
  }
  EXPECT_EQ(any(1, kAll), 0u);
  EXPECT_EQ(any(1, 0x92), 0x92u | uint64_t{1} << 32);
}

uint32_t Redux(ReduxOp op, uint32_t lanes, const uint32_t values[32]) {
  LaneInput inputs[kWarpSize];
  for (uint32_t lane = 0; lane < 32; ++lane) {
    inputs[lane].value = values[lane];
    inputs[lane].mode = static_cast<uint32_t>(op);
  }
  const uint32_t last = 31u - static_cast<uint32_t>(std::countl_zero(lanes));
  return static_cast<uint32_t>(
      CollectiveResult(CollectiveOp::kRedux, last, lanes, inputs));
}

TEST(CollectiveTest, ReductionsCombineTheLanesThatArrived) {
  uint32_t values[32];
  for (uint32_t i = 0; i < 32; ++i) values[i] = i * 0x9e3779b9u;
  const uint32_t a = values[1], b = values[30];
  const uint32_t lanes = 1u << 1 | 1u << 30;
  const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
  EXPECT_EQ(Redux(ReduxOp::kAdd, lanes, values), a + b);
  EXPECT_EQ(Redux(ReduxOp::kMinS, lanes, values),
            static_cast<uint32_t>(sa < sb ? sa : sb));
  EXPECT_EQ(Redux(ReduxOp::kMaxS, lanes, values),
            static_cast<uint32_t>(sa < sb ? sb : sa));
  EXPECT_EQ(Redux(ReduxOp::kMinU, lanes, values), a < b ? a : b);
  EXPECT_EQ(Redux(ReduxOp::kMaxU, lanes, values), a < b ? b : a);
  EXPECT_EQ(Redux(ReduxOp::kAnd, lanes, values), a & b);
  EXPECT_EQ(Redux(ReduxOp::kOr, lanes, values), a | b);
  EXPECT_EQ(Redux(ReduxOp::kXor, lanes, values), a ^ b);
  EXPECT_EQ(Redux(ReduxOp::kAdd, 1u << 30, values), b);
}

// ---- Who waits for whom -----------------------------------------------------

struct OutParams {
  uint32_t* out;
};

class MeetingTest : public testing::Test {
 protected:
  LaunchError Run(Entry entry, uint32_t threads, size_t words) {
    out_.assign(words, 0);
    return device_.Run(device_.Code(entry, true),
                       {{1, 1, 1}, {threads, 1, 1}, 256},
                       OutParams{out_.data()});
  }
  TestDevice device_;
  std::vector<uint32_t> out_;
};

// Butterfly sum over each warp, the last one partly filled.
HETGPU_EMITTED void ButterflySum(BlockContext* b, uint32_t unit, uint32_t) {
  uint32_t sum = unit + 1;
  for (uint32_t distance = 16; distance != 0; distance /= 2) {
    sum += static_cast<uint32_t>(
        b->helpers->shuffle(b, static_cast<uint32_t>(ShuffleMode::kBfly), sum,
                            distance, 0x1f, kAll, 5));
  }
  ParamsOf<OutParams>(b).out[unit] = sum;
}

TEST_F(MeetingTest, WarpsSumByButterfly) {
  const LaunchError error = Run(ButterflySum, 256, 256);
  ASSERT_EQ(error.kind, Kind::kNone) << Describe(error);
  for (uint32_t i = 0; i < 256; ++i) {
    const uint32_t warp = i / 32;
    ASSERT_EQ(out_[i], 32 * 32 * warp + 32 * 33 / 2);
  }
}

// Lanes that the block does not have are as if they had exited.
HETGPU_EMITTED void PartialBallot(BlockContext* b, uint32_t unit, uint32_t) {
  ParamsOf<OutParams>(b).out[unit] =
      b->helpers->vote(b, static_cast<uint32_t>(VoteKind::kBallot), 1, kAll, 5);
}

TEST_F(MeetingTest, AbsentLanesAreNotWaitedFor) {
  ASSERT_EQ(Run(PartialBallot, 40, 40).kind, Kind::kNone);
  for (uint32_t i = 0; i < 40; ++i) {
    ASSERT_EQ(out_[i], i < 32 ? kAll : 0xffu);
  }
}

// The two halves of a warp meet separately, in branches, at the same time.
HETGPU_EMITTED void TwoHalves(BlockContext* b, uint32_t unit, uint32_t) {
  const auto add = static_cast<uint32_t>(ReduxOp::kAdd);
  uint32_t result = 0;
  if (unit % 2 == 0) {
    result = b->helpers->redux(b, add, unit, 0x55555555, 6);
    b->helpers->warp_sync(b, 0x55555555, 7);
  } else {
    b->helpers->warp_sync(b, 0xaaaaaaaa, 8);
    result = b->helpers->redux(b, add, unit, 0xaaaaaaaa, 9);
  }
  // Arrivals at different lines meet when mask and operation agree.
  if (unit < 16) {
    b->helpers->warp_sync(b, kAll, 10);
  } else {
    b->helpers->warp_sync(b, kAll, 11);
  }
  ParamsOf<OutParams>(b).out[unit] = result;
}

TEST_F(MeetingTest, DisjointMasksMeetSeparately) {
  const LaunchError error = Run(TwoHalves, 32, 32);
  ASSERT_EQ(error.kind, Kind::kNone) << Describe(error);
  for (uint32_t i = 0; i < 32; ++i) ASSERT_EQ(out_[i], i % 2 ? 256u : 240u);
}

HETGPU_EMITTED void SomeExit(BlockContext* b, uint32_t unit, uint32_t) {
  if (unit % 4 == 3) return;
  const uint32_t first =
      b->helpers->vote(b, static_cast<uint32_t>(VoteKind::kBallot), 1, kAll, 5);
  ParamsOf<OutParams>(b).out[unit] = first;
}

TEST_F(MeetingTest, ExitedLanesAreNotWaitedFor) {
  const LaunchError error = Run(SomeExit, 32, 32);
  ASSERT_EQ(error.kind, Kind::kNone) << Describe(error);
  for (uint32_t i = 0; i < 32; ++i) {
    ASSERT_EQ(out_[i], i % 4 == 3 ? 0 : 0x77777777u);
  }
}

// The last lane leaves while the others already wait.
HETGPU_EMITTED void LateExit(BlockContext* b, uint32_t unit, uint32_t) {
  if (unit == 0) {
    for (int i = 0; i < 100; ++i) b->helpers->yield(b);
    return;
  }
  ParamsOf<OutParams>(b).out[unit] =
      b->helpers->vote(b, static_cast<uint32_t>(VoteKind::kBallot), 1, kAll, 5);
}

TEST_F(MeetingTest, AnExitCompletesWhatOthersWaitFor) {
  ASSERT_EQ(Run(LateExit, 32, 32).kind, Kind::kNone);
  for (uint32_t i = 1; i < 32; ++i) ASSERT_EQ(out_[i], kAll - 1);
}

HETGPU_EMITTED void NotInMask(BlockContext* b, uint32_t unit, uint32_t) {
  b->helpers->warp_sync(b, 0xffff, 14);
}

HETGPU_EMITTED void WaitsForAbsentLane(BlockContext* b, uint32_t unit,
                                       uint32_t) {
  if (unit == 31) {
    b->helpers->barrier_sync(b, 0, 0, 15);
  } else {
    b->helpers->warp_sync(b, kAll, 16);
  }
}

TEST_F(MeetingTest, MisuseIsReported) {
  LaunchError error = Run(NotInMask, 32, 0);
  EXPECT_EQ(error.kind, Kind::kInvalidInstruction);
  EXPECT_EQ(error.thread.x, 16u);
  EXPECT_EQ(error.line, 14u);
  EXPECT_NE(error.detail.find("0x0000ffff"), std::string::npos);
  error = Run(WaitsForAbsentLane, 32, 0);
  EXPECT_EQ(error.kind, Kind::kDeadlock);
  EXPECT_NE(error.detail.find("31 threads wait at a warp barrier of lanes "
                              "0xffffffff (line 16)"),
            std::string::npos)
      << error.detail;
  EXPECT_NE(error.detail.find("1 threads wait at barrier 0 (line 15)"),
            std::string::npos)
      << error.detail;
}

// ---- Active mask ------------------------------------------------------------

HETGPU_EMITTED void BranchMasks(BlockContext* b, uint32_t unit, uint32_t) {
  uint32_t* out = ParamsOf<OutParams>(b).out + unit * 2;
  out[0] = unit % 3 == 0 ? b->helpers->active_mask(b, 20)
                         : b->helpers->active_mask(b, 21);
  out[1] = b->helpers->active_mask(b, 22);
}

TEST_F(MeetingTest, ActiveMaskNamesTheLanesOfTheSameBranch) {
  ASSERT_EQ(Run(BranchMasks, 32, 64).kind, Kind::kNone);
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t thirds = 0x49249249u;
    ASSERT_EQ(out_[2 * i], i % 3 == 0 ? thirds : ~thirds);
    ASSERT_EQ(out_[2 * i + 1], kAll);
  }
}

// Lane 0 spins until lane 1 has its mask; lane 2 waits at a barrier.
HETGPU_EMITTED void MaskWhileOthersWait(BlockContext* b, uint32_t unit,
                                        uint32_t) {
  auto* flag = reinterpret_cast<std::atomic<uint32_t>*>(b->shared);
  uint32_t* out = ParamsOf<OutParams>(b).out;
  if (unit == 0) {
    while (flag->load() != 9) b->helpers->yield(b);
  } else if (unit != 2) {
    out[unit] = b->helpers->active_mask(b, 23);
    if (unit == 1) flag->store(9);
  }
  b->helpers->barrier_sync(b, 0, 0, 24);
}

TEST_F(MeetingTest, ActiveMaskDoesNotWaitForLanesThatSpinOrWait) {
  const LaunchError error = Run(MaskWhileOthersWait, 32, 32);
  ASSERT_EQ(error.kind, Kind::kNone) << Describe(error);
  for (uint32_t i = 3; i < 32; ++i) ASSERT_EQ(out_[i], ~5u);
}

// Warp-aggregated increments, as compilers write them.
struct AggregateParams {
  std::atomic<uint32_t>* counter;
  uint32_t* slots;
};

HETGPU_EMITTED void Aggregate(BlockContext* b, uint32_t unit, uint32_t) {
  const auto& params = ParamsOf<AggregateParams>(b);
  const uint32_t lane = unit % 32;
  if (unit % 5 == 0) return;
  const uint32_t mask = b->helpers->active_mask(b, 30);
  const uint32_t leader = static_cast<uint32_t>(__builtin_ctz(mask));
  const auto lanes = static_cast<uint32_t>(__builtin_popcount(mask));
  uint32_t base = 0;
  if (lane == leader) base = params.counter->fetch_add(lanes);
  base = static_cast<uint32_t>(
      b->helpers->shuffle(b, static_cast<uint32_t>(ShuffleMode::kIdx), base,
                          leader, 0x1f, mask, 31));
  const uint32_t below = mask & ((1u << lane) - 1);
  params.slots[base + static_cast<uint32_t>(__builtin_popcount(below))] = unit;
}

TEST_F(MeetingTest, WarpAggregatedAtomicsGiveEachLaneItsSlot) {
  std::atomic<uint32_t> counter{0};
  std::vector<uint32_t> slots(200, 0);
  const LaunchError error =
      device_.Run(device_.Code(Aggregate, true), {{1, 1, 1}, {250, 1, 1}},
                  AggregateParams{&counter, slots.data()});
  ASSERT_EQ(error.kind, Kind::kNone) << Describe(error);
  ASSERT_EQ(counter.load(), 200u);
  std::sort(slots.begin(), slots.end());
  for (uint32_t i = 0; i < 200; ++i) ASSERT_EQ(slots[i], i + i / 4 + 1);
}

}  // namespace
}  // namespace hetgpu::cpu
