#include "frontend/ptx/cursor.h"

#include <gtest/gtest.h>

#include <string>

#include "frontend/ptx/immediate.h"

namespace hetgpu::ptx {
namespace {

struct ExpressionCase {
  const char* text;
  NumberKind kind;
  uint64_t bits;
};

class ExpressionTest : public testing::TestWithParam<ExpressionCase> {};

TEST_P(ExpressionTest, HasValue) {
  std::string text = GetParam().text;
  Cursor cursor(text);
  Number number;
  std::string error;
  ASSERT_TRUE(cursor.ReadExpression(&number, &error)) << error;
  EXPECT_EQ(number.kind, GetParam().kind);
  EXPECT_EQ(number.bits, GetParam().bits);
  cursor.SkipSpace();
  EXPECT_TRUE(cursor.AtEnd());
}

constexpr NumberKind kInt = NumberKind::kInteger;
INSTANTIATE_TEST_SUITE_P(
    All, ExpressionTest,
    testing::Values(
        ExpressionCase{"0", kInt, 0}, ExpressionCase{"42", kInt, 42},
        ExpressionCase{"42U", kInt, 42}, ExpressionCase{"0x1F", kInt, 31},
        ExpressionCase{"017", kInt, 15}, ExpressionCase{"0b101", kInt, 5},
        ExpressionCase{"-1", kInt, ~0ull},
        ExpressionCase{"18446744073709551615", kInt, ~0ull},
        ExpressionCase{"0f3F800000", NumberKind::kF32, 0x3f800000},
        ExpressionCase{"0F3f800000", NumberKind::kF32, 0x3f800000},
        ExpressionCase{"-0f3F800000", NumberKind::kF32, 0xbf800000},
        ExpressionCase{"0d3FF0000000000000", NumberKind::kF64,
                       0x3ff0000000000000},
        ExpressionCase{"1.5", NumberKind::kF64, 0x3ff8000000000000},
        ExpressionCase{"-1.0e2", NumberKind::kF64, 0xc059000000000000},
        ExpressionCase{"1+2*3", kInt, 7}, ExpressionCase{"(1+2)*3", kInt, 9},
        ExpressionCase{"1 << 4 | 3", kInt, 19},
        ExpressionCase{"(0xF0 & 0xCC) ^ 0xAA", kInt, 0x6a},
        ExpressionCase{"-7 / 2", kInt, static_cast<uint64_t>(-3)},
        ExpressionCase{"-8 >> 1", kInt, static_cast<uint64_t>(-4)},
        ExpressionCase{"(.u64)-8 >> 60", kInt, 15},
        ExpressionCase{"-9223372036854775808 / -1", kInt, 1ull << 63},
        ExpressionCase{"-9223372036854775808 % -1", kInt, 0},
        ExpressionCase{"1 << 64", kInt, 0},
        ExpressionCase{"3 > 2 ? 10 : 20", kInt, 10},
        ExpressionCase{"3 < 2 ? 10 : 20", kInt, 20},
        ExpressionCase{"!5 || ~0 == -1", kInt, 1},
        ExpressionCase{"WARP_SZ - 1", kInt, 31},
        ExpressionCase{"/* a */ 1 // b\n + 2", kInt, 3}));

struct BadExpression {
  const char* text;
  const char* error;
};

class BadExpressionTest : public testing::TestWithParam<BadExpression> {};

TEST_P(BadExpressionTest, Explains) {
  std::string text = GetParam().text;
  Cursor cursor(text);
  Number number;
  std::string error;
  EXPECT_FALSE(cursor.ReadExpression(&number, &error));
  EXPECT_EQ(error, GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadExpressionTest,
    testing::Values(
        BadExpression{"", "expected a number, found the end of the file"},
        BadExpression{"x", "'x' is not a constant"},
        BadExpression{"1 +", "expected a number, found the end of the file"},
        BadExpression{"(1", "expected ')', found the end of the file"},
        BadExpression{"08", "malformed number '08'"},
        BadExpression{"0x", "malformed number '0x'"},
        BadExpression{"12ab", "malformed number '12ab'"},
        BadExpression{"0f3F80",
                      "malformed float '0f3F80': expected 8 hexadecimal "
                      "digits"},
        BadExpression{"1.5e", "malformed float '1.5e'"},
        BadExpression{"18446744073709551616",
                      "integer '18446744073709551616' does not fit in 64 "
                      "bits"},
        BadExpression{"1 / 0", "division by zero in a constant expression"},
        BadExpression{"1 % (2 - 2)",
                      "division by zero in a constant expression"},
        BadExpression{"1.5 + 1", "operators other than a sign need integers"}));

TEST(ExpressionDepthTest, IsLimited) {
  for (const char* piece : {"(", "-", "!", "1?", "(.s64)"}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += piece;
    Cursor cursor(text);
    Number number;
    std::string error;
    EXPECT_FALSE(cursor.ReadExpression(&number, &error));
    EXPECT_EQ(error, "constant expression is too deep") << piece;
  }
}

TEST(CursorTest, PlacesCountFromOne) {
  std::string text = "a\n  /* x\n y */ b // c\n\td";
  Cursor cursor(text);
  EXPECT_EQ(cursor.Name(), "a");
  cursor.SkipSpace();
  EXPECT_EQ(cursor.Here().line, 3u);
  EXPECT_EQ(cursor.Here().column, 7u);
  EXPECT_EQ(cursor.Name(), "b");
  cursor.SkipSpace();
  EXPECT_EQ(cursor.Here().line, 4u);
  EXPECT_EQ(cursor.Here().column, 2u);
}

TEST(CursorTest, DirectivesTakeDoubleColons) {
  std::string text = ".shared::cta .L2::128B .b32:";
  Cursor cursor(text);
  EXPECT_EQ(cursor.Directive(), "shared::cta");
  EXPECT_EQ(cursor.PeekDirective(), "L2::128B");
  EXPECT_EQ(cursor.Directive(), "L2::128B");
  EXPECT_EQ(cursor.Directive(), "b32");
  EXPECT_EQ(cursor.Peek(), ':');
}

TEST(CursorTest, BracesSkipCommentsAndStrings) {
  std::string text = "{ { } \"}\" /* } */ // }\n } tail";
  Cursor cursor(text);
  EXPECT_TRUE(cursor.SkipBraces());
  EXPECT_EQ(cursor.Name(), "tail");
  std::string open = "{ { } ";
  Cursor unfinished(open);
  EXPECT_FALSE(unfinished.SkipBraces());
}

struct ImmediateCase {
  Number number;
  Type type;
  uint64_t bits;
};

class ImmediateTest : public testing::TestWithParam<ImmediateCase> {};

TEST_P(ImmediateTest, Converts) {
  uint64_t bits = 0;
  std::string why;
  ASSERT_TRUE(ConvertImmediate(GetParam().number, GetParam().type, &bits, &why))
      << why;
  EXPECT_EQ(bits, GetParam().bits);
}

INSTANTIATE_TEST_SUITE_P(
    All, ImmediateTest,
    testing::Values(
        ImmediateCase{{kInt, false, ~0ull}, Type::kU32, 0xffffffff},
        ImmediateCase{{kInt, false, ~0ull}, Type::kS32, ~0ull},
        ImmediateCase{{kInt, false, 0x8000}, Type::kS16, 0xffffffffffff8000},
        ImmediateCase{{kInt, false, 0x1ffff}, Type::kB16, 0xffff},
        ImmediateCase{{kInt, false, 7}, Type::kPred, 1},
        ImmediateCase{{kInt, false, 0x3c00}, Type::kF16, 0x3c00},
        ImmediateCase{{NumberKind::kF32, false, 0x3f800000},
                      Type::kF64,
                      0x3ff0000000000000},
        ImmediateCase{{NumberKind::kF64, false, 0x3ff0000000000000},
                      Type::kF32,
                      0x3f800000},
        ImmediateCase{
            {NumberKind::kF32, false, 0x3f800000}, Type::kB32, 0x3f800000},
        ImmediateCase{{NumberKind::kF64, false, 5}, Type::kB64, 5}));

TEST(ImmediateTest, RefusesMixtures) {
  uint64_t bits = 0;
  std::string why;
  EXPECT_FALSE(ConvertImmediate({kInt, false, 1}, Type::kF32, &bits, &why));
  EXPECT_EQ(why, "an integer constant cannot stand for type .f32");
  EXPECT_FALSE(
      ConvertImmediate({NumberKind::kF32, false, 1}, Type::kS32, &bits, &why));
  EXPECT_FALSE(
      ConvertImmediate({NumberKind::kF64, false, 1}, Type::kB32, &bits, &why));
}

}  // namespace
}  // namespace hetgpu::ptx
