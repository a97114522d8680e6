#include "tools/common/json_input.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu::tools {
namespace {

using ::testing::HasSubstr;

std::string ErrorOf(std::string_view text) {
  const auto document = JsonDocument::Parse(text);
  EXPECT_FALSE(document.ok());
  return document.ok() ? "" : std::string(document.status().message());
}

TEST(Json, SyntaxErrorsHaveLineAndColumn) {
  EXPECT_THAT(ErrorOf("{\n  \"a\": }"), HasSubstr("2:"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("not valid JSON"));
  EXPECT_THAT(ErrorOf("{\"a\": 1} x"), HasSubstr("not valid JSON"));
  EXPECT_THAT(ErrorOf("\"\xff\""), HasSubstr("not valid JSON"));
  EXPECT_THAT(ErrorOf("1e999"), HasSubstr("not valid JSON"));
}

TEST(Json, DepthIsLimited) {
  const std::string deep(1000000, '[');
  EXPECT_THAT(ErrorOf(deep), HasSubstr("nested deeper"));
  const std::string fine =
      std::string(kMaxJsonDepth, '[') + std::string(kMaxJsonDepth, ']');
  EXPECT_TRUE(JsonDocument::Parse(fine).ok());
  EXPECT_TRUE(JsonDocument::Parse("\"" + deep + "\"").ok());
}

TEST(Json, DuplicateKeysAreErrors) {
  EXPECT_THAT(ErrorOf("{\"a\": 1, \"a\": 2}"), HasSubstr("\"a\" appears"));
  EXPECT_THAT(ErrorOf("{\"b\": [{\"c\": 1, \"c\": 2}]}"), HasSubstr("\"c\""));
  EXPECT_TRUE(JsonDocument::Parse("[{\"a\": {\"a\": 1}}, {\"a\": 1}]").ok());
}

TEST(Json, TypeErrorsNameTheirPath) {
  const auto document =
      JsonDocument::Parse("{\"a\": [1, {\"b\": \"x\"}], \"n\": -1}");
  ASSERT_TRUE(document.ok());
  const JsonRef root = document->root();
  const auto items = root.At("a").Items();
  ASSERT_TRUE(items.ok());
  const auto wrong = (*items)[1].At("b").Unsigned();
  EXPECT_THAT(std::string(wrong.status().message()),
              HasSubstr("$.a[1].b: found a string"));
  EXPECT_FALSE(root.At("n").Unsigned().ok());
  EXPECT_FALSE((*items)[0].Unsigned(0).ok());
  EXPECT_FALSE(root.OnlyKeys({"a"}).ok());
  EXPECT_FALSE(root.Require("missing").ok());
  EXPECT_FALSE((*items)[0].Members().ok());
  EXPECT_FALSE(root.Items().ok());
}

TEST(Json, KeepsTheOrderOfTheFile) {
  const auto document = JsonDocument::Parse("{\"z\": 1, \"a\": 2}");
  ASSERT_TRUE(document.ok());
  const auto members = document->root().Members();
  ASSERT_TRUE(members.ok());
  EXPECT_EQ((*members)[0].first, "z");
}

TEST(Json, NumbersKeepTheirKind) {
  const auto document = JsonDocument::Parse("[18446744073709551615, -3, 0.5]");
  ASSERT_TRUE(document.ok());
  const auto items = *document->root().Items();
  EXPECT_EQ(items[0].Number()->bits, ~uint64_t{0});
  EXPECT_EQ(items[1].Number()->kind, Literal::Kind::kNegative);
  EXPECT_EQ(items[2].Number()->real, 0.5);
}

}  // namespace
}  // namespace hetgpu::tools
