// Literals, element types and the small float formats.
#include <cmath>
#include <cstring>
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/common/element_type.h"
#include "tools/common/float_bits.h"
#include "tools/common/literal.h"

namespace hetgpu::tools {
namespace {

using enum ElementType;
using ::testing::HasSubstr;

absl::StatusOr<uint64_t> Encode(std::string_view text, ElementType type) {
  auto literal = ParseLiteral(text);
  if (!literal.ok()) return literal.status();
  return EncodeLiteral(*literal, type);
}

struct GoodValue {
  std::string_view text;
  ElementType type;
  uint64_t bits;
};

class GoodValues : public ::testing::TestWithParam<GoodValue> {};

TEST_P(GoodValues, Encode) {
  const auto bits = Encode(GetParam().text, GetParam().type);
  ASSERT_TRUE(bits.ok()) << bits.status();
  EXPECT_EQ(*bits, GetParam().bits);
}

INSTANTIATE_TEST_SUITE_P(
    Table, GoodValues,
    ::testing::Values(
        GoodValue{"7", kU32, 7}, GoodValue{"-1", kI8, 0xff},
        GoodValue{"-128", kI8, 0x80}, GoodValue{"127", kI8, 0x7f},
        GoodValue{"255", kU8, 0xff}, GoodValue{"0xff", kI8, 0xff},
        GoodValue{"18446744073709551615", kU64, ~uint64_t{0}},
        GoodValue{"-9223372036854775808", kI64, uint64_t{1} << 63},
        GoodValue{"true", kU8, 1}, GoodValue{"-0", kI32, 0},
        GoodValue{"1.5", kF32, 0x3fc00000}, GoodValue{"-0", kF32, 0x80000000},
        GoodValue{"1", kF64, 0x3ff0000000000000},
        GoodValue{"0x1.8p0", kF32, 0x3fc00000},
        GoodValue{"-0x1p-1", kF64, 0xbfe0000000000000},
        GoodValue{"0x3f800000", kF32, 0x3f800000},
        GoodValue{"nan", kF16, 0x7e00}, GoodValue{"nan", kBF16, 0x7fc0},
        GoodValue{"nan", kF32, 0x7fc00000},
        GoodValue{"nan", kF64, 0x7ff8000000000000},
        GoodValue{"inf", kF32, 0x7f800000}, GoodValue{"-inf", kF16, 0xfc00},
        GoodValue{"1e-3", kF16, 0x1419}, GoodValue{"65504", kF16, 0x7bff},
        GoodValue{"65520", kF16, 0x7c00}, GoodValue{"65519.99", kF16, 0x7bff},
        GoodValue{"5.9604644775390625e-8", kF16, 1},
        GoodValue{"2.98023223876953125e-8", kF16, 0},
        GoodValue{"2.9802322387695316e-8", kF16, 1},
        GoodValue{"1", kBF16, 0x3f80}, GoodValue{"3.140625", kBF16, 0x4049},
        GoodValue{"0x1000", kPtr, 0x1000}, GoodValue{".5", kF32, 0x3f000000}));

struct BadValue {
  std::string_view text;
  ElementType type;
  const char* message;
};

class BadValues : public ::testing::TestWithParam<BadValue> {};

TEST_P(BadValues, AreRefused) {
  const auto bits = Encode(GetParam().text, GetParam().type);
  ASSERT_FALSE(bits.ok());
  EXPECT_THAT(std::string(bits.status().message()),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadValues,
    ::testing::Values(BadValue{"128", kI8, "out of range for i8"},
                      BadValue{"-129", kI8, "out of range"},
                      BadValue{"-1", kU32, "out of range for u32"},
                      BadValue{"256", kU8, "out of range"},
                      BadValue{"0x100", kU8, "out of range"},
                      BadValue{"0x1ffffffff", kF32, "out of range"},
                      BadValue{"1.5", kI32, "not an integer"},
                      BadValue{"", kI32, "not a number"},
                      BadValue{"-", kI32, "not a number"},
                      BadValue{"12x", kI32, "not a number"},
                      BadValue{"0x", kI32, "not a number"},
                      BadValue{"-0x1", kI32, "not a number"},
                      BadValue{"0x1.p", kF32, "not a number"},
                      BadValue{"infinity", kF32, "not a number"},
                      BadValue{"1e5", kU32, "not an integer"},
                      BadValue{"18446744073709551616", kU64,
                               "out of range"}));

TEST(FloatBits, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double value = HalfToDouble(static_cast<uint16_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(DoubleToHalf(value), bits) << value;
  }
}

TEST(FloatBits, EveryBFloat16IsTheUpperHalfOfAFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint32_t wide = bits << 16;
    float expected = 0;
    std::memcpy(&expected, &wide, sizeof expected);
    const double value = BFloat16ToDouble(static_cast<uint16_t>(bits));
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(expected));
      continue;
    }
    ASSERT_EQ(value, static_cast<double>(expected));
    ASSERT_EQ(DoubleToBFloat16(value), bits);
  }
}

TEST(FloatBits, TiesBetweenHalvesGoToEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = HalfToDouble(static_cast<uint16_t>(bits));
    const double high = HalfToDouble(static_cast<uint16_t>(bits + 1));
    const double middle = (low + high) / 2;
    ASSERT_EQ(DoubleToHalf(middle), bits + (bits & 1)) << bits;
    ASSERT_EQ(DoubleToHalf(std::nextafter(middle, low)), bits);
    ASSERT_EQ(DoubleToHalf(std::nextafter(middle, high)), bits + 1);
  }
}

TEST(Format, IsShortAndReadsBack) {
  EXPECT_EQ(FormatElement(0x3dcccccd, kF32), "0.1");
  EXPECT_EQ(FormatElement(0xff, kI8), "-1");
  EXPECT_EQ(FormatElement(0x7fc00000, kF32), "nan");
  EXPECT_EQ(FormatElement(0xffc00001, kF32), "nan(0xffc00001)");
  EXPECT_EQ(FormatElement(0x10, kPtr), "0x10");
  EXPECT_EQ(FormatElement(0x3c00, kF16), "1");
  EXPECT_EQ(FormatElement(~uint64_t{0}, kU64), "18446744073709551615");
}

TEST(Count, TakesSuffixesAndRefusesOverflow) {
  EXPECT_EQ(*ParseCount("1M"), 1u << 20);
  EXPECT_EQ(*ParseCount("3K"), 3072u);
  EXPECT_EQ(*ParseCount("0"), 0u);
  for (const char* bad :
       {"", "K", "1m", "-1", "1.5", "17179869184G", "99999999999999999999"}) {
    EXPECT_FALSE(ParseCount(bad).ok()) << bad;
  }
}

TEST(ElementTypes, SizesAndOverflow) {
  EXPECT_EQ(*ParseElementType("s32"), kI32);
  EXPECT_EQ(*ParseElementType("b64"), kU64);
  EXPECT_FALSE(ParseElementType("f8").ok());
  EXPECT_EQ(*ByteSize(kF64, 10), 80u);
  EXPECT_FALSE(ByteSize(kF64, uint64_t{1} << 61).ok());
}

}  // namespace
}  // namespace hetgpu::tools
