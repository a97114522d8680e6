#include "tools/hetgpu-run/compare.h"

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu::tools {
namespace {

using ::testing::HasSubstr;

CompareResult CompareFloats(const std::vector<float>& got,
                            const std::vector<float>& expected,
                            const Tolerance& tolerance = {}) {
  return Compare(ElementType::kF32, got.size(), got.data(), expected.data(),
                 tolerance);
}

TEST(Compare, TolerancesAdd) {
  EXPECT_TRUE(CompareFloats({1.5f}, {1.0f}, {.atol = 0.5}).passed());
  EXPECT_FALSE(CompareFloats({1.51f}, {1.0f}, {.atol = 0.5}).passed());
  EXPECT_TRUE(CompareFloats({11.f}, {10.f}, {.rtol = 0.1}).passed());
  EXPECT_FALSE(CompareFloats({9.f}, {10.f}, {.rtol = 0.05}).passed());
}

TEST(Compare, ValuesAndBits) {
  EXPECT_TRUE(CompareFloats({-0.f}, {0.f}).passed());
  EXPECT_FALSE(CompareFloats({-0.f}, {0.f}, {.bits = true}).passed());
  const float nan = std::nanf("1"), other = std::nanf("2");
  EXPECT_TRUE(CompareFloats({nan}, {other}).passed());
  EXPECT_FALSE(CompareFloats({nan}, {other}, {.bits = true}).passed());
  EXPECT_FALSE(CompareFloats({nan}, {1.f}, {.atol = 1e9}).passed());
  EXPECT_FALSE(CompareFloats({1.f}, {nan}, {.atol = 1e9}).passed());
}

TEST(Compare, AnInfinityMatchesOnlyItself) {
  const float infinity = HUGE_VALF;
  EXPECT_TRUE(CompareFloats({infinity}, {infinity}, {.rtol = 1}).passed());
  EXPECT_FALSE(CompareFloats({1.f}, {infinity}, {.rtol = 1}).passed());
  EXPECT_FALSE(CompareFloats({-infinity}, {infinity}, {.rtol = 1}).passed());
}

TEST(Compare, WideIntegersAreExact) {
  const uint64_t got[] = {(uint64_t{1} << 60) + 1};
  const uint64_t expected[] = {uint64_t{1} << 60};
  EXPECT_FALSE(Compare(ElementType::kU64, 1, got, expected, {}).passed());
  EXPECT_TRUE(
      Compare(ElementType::kU64, 1, got, expected, {.atol = 1}).passed());
}

TEST(Compare, ReportsCountFirstAndWorst) {
  const CompareResult result =
      CompareFloats({1, 2.5f, 3, 9}, {1, 2, 3, 4}, {.atol = 0.1});
  EXPECT_EQ(result.mismatches, 2u);
  EXPECT_EQ(result.first->index, 1u);
  EXPECT_EQ(result.worst->index, 3u);
  EXPECT_EQ(result.max_abs_error, 5);
  const std::string text = Describe(result);
  EXPECT_THAT(text, HasSubstr("2 of 4 elements differ"));
  EXPECT_THAT(text, HasSubstr("first at [1]: got 2.5, expected 2"));
  EXPECT_THAT(text, HasSubstr("worst at [3]: got 9, expected 4"));
  EXPECT_THAT(Describe(CompareFloats({1}, {1})), HasSubstr("all 1 elements"));
}

}  // namespace
}  // namespace hetgpu::tools
