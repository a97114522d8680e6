#include "tests/isa/exclusions.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu::isa {
namespace {

TEST(Exclusions, FirstMatchingLineApplies) {
  auto exclusions = ParseExclusions(
      "# comment\n"
      "cpu mma.* no matrix unit\n"
      "* *.b128 wide words\n"
      "cuda mma.sync* never\n"
      "* *.?4.* nibbles\n",
      "x");
  ASSERT_TRUE(exclusions.ok()) << exclusions.status();
  EXPECT_EQ(FindExclusion(*exclusions, "cpu", "mma.sync.x")->reason,
            "no matrix unit");
  EXPECT_EQ(FindExclusion(*exclusions, "cuda", "mma.sync.x")->reason,
            "never");
  EXPECT_EQ(FindExclusion(*exclusions, "hip", "ld.b128")->reason,
            "wide words");
  EXPECT_EQ(FindExclusion(*exclusions, "hip", "ld.b128+x"), nullptr);
  EXPECT_EQ(FindExclusion(*exclusions, "hip", "mma.sync.x"), nullptr);
  EXPECT_EQ(FindExclusion(*exclusions, "hip", "a.u4.b")->reason, "nibbles");
  EXPECT_EQ(FindExclusion(*exclusions, "hip", "a.4.b"), nullptr);
}

TEST(Exclusions, NeedAReason) {
  auto exclusions = ParseExclusions("cpu mma.*\n", "x");
  ASSERT_FALSE(exclusions.ok());
  EXPECT_THAT(std::string(exclusions.status().message()),
              ::testing::HasSubstr("x:1: expected a backend"));
}

}  // namespace
}  // namespace hetgpu::isa
