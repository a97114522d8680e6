#include "memory/residency.h"

#include <gtest/gtest.h>

#include "memory/segment_heap.h"

namespace hetgpu::memory {
namespace {

using Kind = Step::Kind;

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kG = kGranuleBytes;

class ResidencyTest : public testing::Test {
 protected:
  ResidencyTest() {
    gpu_ = residency_.AddLocation({"gpu:0", 8 * kMiB});
    other_ = residency_.AddLocation({"gpu:1", 8 * kMiB});
    cpu_ = residency_.AddLocation({"cpu:0", 64 * kMiB, true});
  }

  // A segment of its own.
  uint64_t Add(uint64_t bytes) {
    const uint64_t start = next_;
    next_ += 64 * kMiB;
    residency_.Add(start, bytes, start,
                   (bytes + 2 * kMiB - 1) / (2 * kMiB) * 2 * kMiB);
    return start;
  }

  std::vector<Step> Plan(Location where, std::vector<Use> uses) {
    auto steps = residency_.Plan(where, uses);
    EXPECT_TRUE(steps.ok()) << steps.status();
    return steps.ok() ? *steps : std::vector<Step>();
  }

  void Carry(const std::vector<Step>& steps) {
    for (const Step& step : steps) residency_.Done(step);
  }

  void Use_(Location where, Use use) {
    Carry(Plan(where, {use}));
    residency_.Touch(where, {&use, 1});
    if (use.access != Access::kRead) {
      residency_.Wrote(where, use.address, use.bytes);
    }
  }

  Residency residency_;
  uint64_t next_ = 64 * kMiB;
  Location gpu_, other_, cpu_;
};

TEST_F(ResidencyTest, FreshMemoryIsMappedButNotCopied) {
  const uint64_t a = Add(kMiB);
  EXPECT_EQ(Plan(gpu_, {{a, kMiB, Access::kRead}}),
            (std::vector<Step>{{Kind::kMap, kHost, gpu_, a, 2 * kMiB}}));
  EXPECT_EQ(*residency_.StateAt(gpu_, a), State::kUndefined);
}

TEST_F(ResidencyTest, AWriteIsSeenByTheOtherDeviceOnce) {
  const uint64_t a = Add(kMiB);
  Use_(gpu_, {a, kMiB, Access::kOverwrite});
  EXPECT_EQ(*residency_.StateAt(gpu_, a), State::kOwnedDirty);
  const std::vector<Step> steps = Plan(cpu_, {{a, kMiB, Access::kRead}});
  EXPECT_EQ(steps,
            (std::vector<Step>{{Kind::kMap, kHost, cpu_, a, 2 * kMiB},
                               {Kind::kCopy, gpu_, cpu_, a, kMiB}}));
  Carry(steps);
  EXPECT_EQ(*residency_.StateAt(gpu_, a), State::kShared);
  EXPECT_TRUE(Plan(cpu_, {{a, kMiB, Access::kRead}}).empty());
  residency_.Wrote(cpu_, a + kG, 1);
  EXPECT_EQ(Plan(gpu_, {{a, kMiB, Access::kRead}}),
            (std::vector<Step>{{Kind::kCopy, cpu_, gpu_, a + kG, kG}}));
}

TEST_F(ResidencyTest, DevicesThatCannotReachEachOtherGoThroughTheHost) {
  const uint64_t a = Add(100);
  Use_(gpu_, {a, 100, Access::kOverwrite});
  EXPECT_EQ(Plan(other_, {{a, 100, Access::kWrite}}),
            (std::vector<Step>{{Kind::kMap, kHost, other_, a, 2 * kMiB},
                               {Kind::kCopy, gpu_, kHost, a, 100},
                               {Kind::kCopy, kHost, other_, a, 100}}));
}

TEST_F(ResidencyTest, OverwritingCopiesOnlyGranulesWrittenInPart) {
  const uint64_t a = Add(10 * kG);
  Use_(gpu_, {a, 10 * kG, Access::kOverwrite});
  EXPECT_EQ(Plan(cpu_, {{a, 10 * kG, Access::kOverwrite}}).size(), 1u);
  EXPECT_EQ(Plan(cpu_, {{a + 10, 3 * kG, Access::kOverwrite}}),
            (std::vector<Step>{{Kind::kMap, kHost, cpu_, a, 2 * kMiB},
                               {Kind::kCopy, gpu_, cpu_, a, kG},
                               {Kind::kCopy, gpu_, cpu_, a + 3 * kG, kG}}));
  EXPECT_EQ(Plan(cpu_, {{a + 10, 100, Access::kOverwrite}}).back(),
            (Step{Kind::kCopy, gpu_, cpu_, a, kG}));
}

TEST_F(ResidencyTest, TheLeastRecentlyUsedGivesWayAndIsSaved) {
  const uint64_t a = Add(4 * kMiB), b = Add(4 * kMiB), c = Add(4 * kMiB);
  Use_(gpu_, {a, 4 * kMiB, Access::kOverwrite});
  Use_(gpu_, {b, 4 * kMiB, Access::kOverwrite});
  Use_(gpu_, {a, 4 * kMiB, Access::kRead});
  EXPECT_EQ(Plan(gpu_, {{c, 4 * kMiB, Access::kOverwrite}}),
            (std::vector<Step>{{Kind::kCopy, gpu_, kHost, b, 4 * kMiB},
                               {Kind::kUnmap, kHost, gpu_, b, 4 * kMiB},
                               {Kind::kMap, kHost, gpu_, c, 4 * kMiB}}));
  residency_.SetPreference(b, Preference::kDevice);
  EXPECT_EQ(Plan(gpu_, {{c, 4 * kMiB, Access::kOverwrite}})[1],
            (Step{Kind::kUnmap, kHost, gpu_, a, 4 * kMiB}));
  residency_.SetPreference(b, Preference::kHost);
  EXPECT_EQ(Plan(gpu_, {{c, 4 * kMiB, Access::kOverwrite}})[1],
            (Step{Kind::kUnmap, kHost, gpu_, b, 4 * kMiB}));
}

TEST_F(ResidencyTest, WhatTheHostHasTooIsDroppedWithoutACopy) {
  const uint64_t a = Add(4 * kMiB), b = Add(8 * kMiB);
  Use_(gpu_, {a, 4 * kMiB, Access::kOverwrite});
  Carry(Plan(kHost, {{a, 4 * kMiB, Access::kRead}}));
  EXPECT_EQ(*residency_.StateAt(gpu_, a), State::kOwnedClean);
  EXPECT_EQ(Plan(gpu_, {{b, 8 * kMiB, Access::kRead}}),
            (std::vector<Step>{{Kind::kUnmap, kHost, gpu_, a, 4 * kMiB},
                               {Kind::kMap, kHost, gpu_, b, 8 * kMiB}}));
}

TEST_F(ResidencyTest, AWorkingSetThatCannotFitIsRefusedByName) {
  const uint64_t a = Add(6 * kMiB), b = Add(4 * kMiB);
  const Use uses[] = {{a, 6 * kMiB, Access::kRead}, {b, 1, Access::kRead}};
  const auto steps = residency_.Plan(gpu_, uses);
  EXPECT_TRUE(absl::IsResourceExhausted(steps.status()));
  EXPECT_EQ(steps.status().message(),
            "memory: 10485760 bytes are to be used at once, gpu:0 holds at "
            "most 8388608");
  EXPECT_EQ(residency_.MappedBytes(gpu_), 0u);
}

TEST_F(ResidencyTest, RoomIsMadeForMoreThanTheCapacitySays) {
  const uint64_t a = Add(2 * kMiB), b = Add(2 * kMiB);
  Use_(gpu_, {a, 2 * kMiB, Access::kOverwrite});
  Use_(gpu_, {b, 2 * kMiB, Access::kOverwrite});
  const Use keep = {a, 1, Access::kRead};
  const auto steps = residency_.MakeRoom(gpu_, 2 * kMiB, {&keep, 1});
  ASSERT_TRUE(steps.ok());
  EXPECT_EQ(steps->back(), (Step{Kind::kUnmap, kHost, gpu_, b, 2 * kMiB}));
  EXPECT_TRUE(absl::IsResourceExhausted(
      residency_.MakeRoom(gpu_, 4 * kMiB, {&keep, 1}).status()));
}

TEST_F(ResidencyTest, RangesOutsideOfAllocationsAreNamed) {
  const uint64_t a = Add(100);
  for (const Use use : {Use{a, 101}, Use{a - 1, 1}, Use{a + 100, 1}, Use{1, 1},
                        Use{a + 10, UINT64_MAX}}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        residency_.Plan(gpu_, {&use, 1}).status()));
    EXPECT_FALSE(residency_.Find(use.address, use.bytes).ok());
  }
}

TEST_F(ResidencyTest, RemovingUnmapsTheSegmentWithItsLastAllocation) {
  residency_.Add(kMiB, 100, kMiB, 2 * kMiB);
  residency_.Add(kMiB + 256, 100, kMiB, 2 * kMiB);
  Use_(gpu_, {kMiB, 100, Access::kOverwrite});
  EXPECT_FALSE(residency_.Remove(kMiB).segment_is_empty);
  EXPECT_EQ(residency_.MappedBytes(gpu_), 2 * kMiB);
  const auto last = residency_.Remove(kMiB + 256);
  EXPECT_TRUE(last.segment_is_empty);
  EXPECT_EQ(last.unmap,
            (std::vector<Step>{{Kind::kUnmap, kHost, gpu_, kMiB, 2 * kMiB}}));
  EXPECT_EQ(residency_.MappedBytes(gpu_), 0u);
  EXPECT_EQ(residency_.Remove(kMiB).bytes, 0u);
}

TEST_F(ResidencyTest, LossesAreToldAndReplicasSurvive) {
  const uint64_t a = Add(2 * kG);
  Use_(gpu_, {a, 2 * kG, Access::kOverwrite});
  Carry(Plan(cpu_, {{a, kG, Access::kRead}}));
  const auto lost = residency_.Lose(gpu_);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].address, a + kG);
  EXPECT_EQ(*residency_.StateAt(cpu_, a), State::kOwnedDirty);
  EXPECT_EQ(*residency_.StateAt(gpu_, a + kG), State::kUndefined);
  EXPECT_EQ(Plan(gpu_, {{a, 2 * kG, Access::kRead}}),
            (std::vector<Step>{{Kind::kCopy, cpu_, gpu_, a, kG}}));
}

TEST(ResidencyDomainTest, OneOfADomainHasASegmentMapped) {
  for (const bool can_take : {false, true}) {
    Residency residency;
    const Location one =
        residency.AddLocation({"gpu:0", 8 * kMiB, false, 1, can_take});
    const Location two =
        residency.AddLocation({"gpu:1", 8 * kMiB, false, 1, can_take});
    residency.Add(kMiB, 100, kMiB, 2 * kMiB);
    const Use use = {kMiB, 100, Access::kWrite};
    const std::vector<Step> first = *residency.Plan(one, {&use, 1});
    for (const Step& step : first) residency.Done(step);
    residency.Wrote(one, kMiB, 100);
    const std::vector<Step> steps = *residency.Plan(two, {&use, 1});
    if (can_take) {
      EXPECT_EQ(steps, (std::vector<Step>{
                           {Kind::kTake, one, two, kMiB, 2 * kMiB}}));
    } else {
      EXPECT_EQ(steps, (std::vector<Step>{
                           {Kind::kCopy, one, kHost, kMiB, 100},
                           {Kind::kUnmap, kHost, one, kMiB, 2 * kMiB},
                           {Kind::kMap, kHost, two, kMiB, 2 * kMiB},
                           {Kind::kCopy, kHost, two, kMiB, 100}}));
    }
    for (const Step& step : steps) residency.Done(step);
    EXPECT_NE(*residency.StateAt(two, kMiB), State::kInvalid);
    EXPECT_EQ(*residency.StateAt(one, kMiB), State::kInvalid);
    EXPECT_EQ(residency.MappedBytes(one), 0u);
  }
}

TEST(SegmentHeapTest, SmallOnesShareABlockAndLargeOnesStandAlone) {
  Arena arena;
  arena.Settle(uint64_t{1} << 30, uint64_t{1} << 30);
  SegmentHeap heap(arena);
  const auto a = heap.Allocate(100), b = heap.Allocate(1000);
  const auto c = heap.Allocate(3 * kMiB);
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  EXPECT_EQ(a->segment, b->segment);
  EXPECT_NE(a->address, b->address);
  EXPECT_EQ(a->address % 256, 0u);
  EXPECT_EQ(c->address, c->segment);
  EXPECT_EQ(c->segment_bytes, 4 * kMiB);
  EXPECT_GE(c->segment, a->segment + 2 * kSegmentUnit);  // a gap between
  heap.Free(*a, 100, false);
  EXPECT_EQ(heap.Allocate(200)->address, a->address);
  EXPECT_TRUE(absl::IsResourceExhausted(heap.Allocate(UINT64_MAX).status()));
  EXPECT_TRUE(
      absl::IsResourceExhausted(heap.Allocate(uint64_t{2} << 30).status()));
}

TEST(SegmentHeapTest, AddressesOfEmptySegmentsComeBack) {
  Arena arena;
  arena.Settle(uint64_t{1} << 30, 8 * kMiB);
  SegmentHeap heap(arena);
  for (int i = 0; i < 20; ++i) {
    const auto small = heap.Allocate(1);
    const auto large = heap.Allocate(2 * kMiB);
    ASSERT_TRUE(small.ok() && large.ok());
    EXPECT_FALSE(heap.Allocate(4 * kMiB).ok());
    heap.Free(*small, 1, true);
    heap.Free(*large, 2 * kMiB, true);
  }
}

}  // namespace
}  // namespace hetgpu::memory
