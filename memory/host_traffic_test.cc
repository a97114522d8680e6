#include <gtest/gtest.h>

#include <random>

#include "memory/read_ahead.h"
#include "memory/write_combiner.h"

namespace hetgpu::memory {
namespace {

using Runs = std::vector<WriteCombiner::Run>;

TEST(WriteCombinerTest, NeighboursBecomeOneRun) {
  WriteCombiner combiner;
  EXPECT_TRUE(combiner.Add(1000, 1000, "ab"));
  EXPECT_TRUE(combiner.Add(1000, 1004, "ef"));
  EXPECT_TRUE(combiner.Add(1000, 1002, "cd"));
  EXPECT_TRUE(combiner.Add(1000, 1010, "x"));
  EXPECT_TRUE(combiner.Add(2000, 2000, "other"));
  EXPECT_EQ(combiner.Take(1000), (Runs{{1000, "abcdef"}, {1010, "x"}}));
  EXPECT_FALSE(combiner.Has(1000));
  EXPECT_TRUE(combiner.Has(2000));
  EXPECT_TRUE(combiner.Take(1000).empty());
}

TEST(WriteCombinerTest, LaterWritesWin) {
  WriteCombiner combiner;
  combiner.Add(0, 10, "aaaa");
  combiner.Add(0, 12, "bbbb");
  combiner.Add(0, 11, "c");
  EXPECT_EQ(combiner.Take(0), (Runs{{10, "acbbbb"}}));
}

TEST(WriteCombinerTest, HoldsBackSoMuchAndNoMore) {
  WriteCombiner combiner;
  const std::string block(kCombinedWriteBytes, 'x');
  uint64_t added = 0;
  while (combiner.Add(0, added, block)) added += block.size();
  EXPECT_EQ(added, 256u << 10);
  EXPECT_EQ(combiner.Take(0).size(), 1u);
  uint64_t runs = 0;
  while (combiner.Add(0, runs * 100, "y")) ++runs;
  EXPECT_EQ(runs, 64u);
  EXPECT_TRUE(combiner.Add(0, 1, "z"));  // to a run that there is
}

TEST(WriteCombinerTest, RandomWritesGiveWhatFlatMemoryGives) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    WriteCombiner combiner;
    std::string flat(5000, '\0'), written = flat;
    for (int i = 0; i < 60; ++i) {
      std::string bytes(1 + random() % 200, static_cast<char>(random()));
      const uint64_t at = random() % (flat.size() - bytes.size());
      if (!combiner.Add(9, at, bytes)) break;
      flat.replace(at, bytes.size(), bytes);
    }
    uint64_t end = 0;
    for (const auto& run : combiner.Take(9)) {
      EXPECT_TRUE(end == 0 || run.address > end);
      end = run.address + run.bytes.size();
      written.replace(run.address, run.bytes.size(), run.bytes);
    }
    EXPECT_EQ(written, flat);
  }
}

TEST(ReadAheadTest, SequentialReadsFetchMore) {
  ReadAhead ahead(3);
  constexpr uint64_t kSize = 100 * kGranuleBytes;
  EXPECT_EQ(ahead.Fetch(1, 0, 8, kSize), 8u);
  EXPECT_EQ(ahead.Fetch(1, 8, 8, kSize), 8u);
  EXPECT_EQ(ahead.Fetch(1, 16, 8, kSize), 16 * kGranuleBytes);
  EXPECT_EQ(ahead.Fetch(1, 24, 17 * kGranuleBytes, kSize), 17 * kGranuleBytes);
  EXPECT_EQ(ahead.Fetch(1, 8, 8, kSize), 8u);  // not where the last one ended
  EXPECT_EQ(ahead.Fetch(2, 16, 8, kSize), 8u);
}

TEST(ReadAheadTest, StopsAtTheEndAndCanBeOff) {
  ReadAhead ahead(1);
  EXPECT_EQ(ahead.Fetch(1, 1000, 8, 1020), 20u);
  ReadAhead off(0);
  for (uint64_t i = 0; i < 10; ++i) EXPECT_EQ(off.Fetch(1, i, 1, 1000), 1u);
}

}  // namespace
}  // namespace hetgpu::memory
