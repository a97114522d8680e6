#include "tests/isa/compare.h"

#include "gtest/gtest.h"

namespace hetgpu::isa {
namespace {

constexpr Compare kExact{Compare::Kind::kExact, 0, 0};
constexpr Compare kNan{Compare::Kind::kNan, 0, 0};

Compare Ulp(uint64_t ulp, double absolute = 0) {
  return {Compare::Kind::kUlp, ulp, absolute};
}

TEST(Matches, ExactComparesBits) {
  EXPECT_TRUE(Matches(ElementType::kB64, kExact, ~0ull, ~0ull));
  EXPECT_FALSE(Matches(ElementType::kB64, kExact, ~0ull, ~0ull >> 1));
  EXPECT_FALSE(Matches(ElementType::kF32, kExact, 0x7FFFFFFF, 0x7FC00000));
}

TEST(Matches, NanIsAClassAndZerosDiffer) {
  EXPECT_TRUE(Matches(ElementType::kF32, kNan, 0x7FFFFFFF, 0xFFC00001));
  EXPECT_FALSE(Matches(ElementType::kF32, kNan, 0x7FFFFFFF, 0x7F800000));
  EXPECT_FALSE(Matches(ElementType::kF32, kNan, 0, 0x80000000));
  EXPECT_TRUE(Matches(ElementType::kF64, kNan, 0x7FF8000000000000,
                      0xFFFFFFFFFFFFFFFF));
}

TEST(Matches, UlpCountsStepsAcrossZero) {
  EXPECT_TRUE(Matches(ElementType::kF32, Ulp(2), 0x3F800000, 0x3F800002));
  EXPECT_FALSE(Matches(ElementType::kF32, Ulp(2), 0x3F800000, 0x3F800003));
  EXPECT_TRUE(Matches(ElementType::kF32, Ulp(2), 0x80000001, 0x00000001));
  EXPECT_FALSE(Matches(ElementType::kF32, Ulp(1), 0x80000001, 0x00000001));
  EXPECT_TRUE(Matches(ElementType::kF32, Ulp(0), 0x80000000, 0x00000000));
  EXPECT_FALSE(Matches(ElementType::kF32, Ulp(9), 0x7FC00000, 0x7F800000));
}

TEST(Matches, AbsoluteBoundNeedsFiniteNumbers) {
  EXPECT_TRUE(Matches(ElementType::kF32, Ulp(0, 0.5), 0x3F800000, 0x3FC00000));
  EXPECT_FALSE(
      Matches(ElementType::kF32, Ulp(0, 0.25), 0x3F800000, 0x3FC00000));
  EXPECT_FALSE(Matches(ElementType::kF32, Ulp(0, 1e300), 0x7F800000, 0));
}

TEST(Matches, PackedComparesEachHalf) {
  EXPECT_TRUE(Matches(ElementType::kF16x2, kNan, 0x7FFF3C00, 0x7E003C00));
  EXPECT_FALSE(Matches(ElementType::kF16x2, kNan, 0x7FFF3C00, 0x7E003C01));
  EXPECT_FALSE(Matches(ElementType::kF16x2, Ulp(1), 0x3C020000, 0x3C000000));
  EXPECT_TRUE(Matches(ElementType::kBf16x2, Ulp(2), 0x3F820001, 0x3F800002));
}

TEST(Describe, ShowsNumbers) {
  EXPECT_EQ(Describe(ElementType::kB32, 255), "0xff");
  EXPECT_EQ(Describe(ElementType::kF32, 0x3FC00000), "0x3fc00000 (1.5)");
  EXPECT_EQ(Describe(ElementType::kF16x2, 0xBC003800),
            "0xbc003800 (0.5, -1)");
  EXPECT_EQ(Describe(ElementType::kF16, 1), "0x1 (5.96046e-08)");
}

}  // namespace
}  // namespace hetgpu::isa
