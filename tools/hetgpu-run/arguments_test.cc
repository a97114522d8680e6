#include "tools/hetgpu-run/arguments.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/hetgpu-run/spec.h"

namespace hetgpu::tools {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<uint64_t> Resolve(const Address& address) {
  if (address.base == Address::Base::kNull) return 0;
  if (address.name != "a") return absl::InvalidArgumentError("no such buffer");
  return 0x1000 + address.offset;
}

absl::StatusOr<std::string> Encode(std::string_view spec) {
  const auto argument = ParseArgumentSpec(spec);
  if (!argument.ok()) return argument.status();
  return EncodeArgument(*argument->value, {}, Resolve);
}

TEST(Arguments, Encode) {
  EXPECT_EQ(*Encode("u16:258"), std::string("\x02\x01", 2));
  EXPECT_EQ(*Encode("null"), std::string(8, '\0'));
  EXPECT_EQ(*Encode("ptr:a+16"), std::string("\x10\x10\0\0\0\0\0\0", 8));
  EXPECT_EQ(*Encode("hex:0a0b0c"), "\x0a\x0b\x0c");
  EXPECT_FALSE(Encode("ptr:b").ok());
}

TEST(Arguments, StructsHaveCLayout) {
  EXPECT_EQ(*Encode("struct(u8:1,u32:2,u8:3)"),
            std::string("\1\0\0\0\2\0\0\0\3\0\0\0", 12));
  EXPECT_EQ(Encode("struct(u8:1,struct(u8:2,f64:0),u16:3)")->size(), 32u);
  EXPECT_EQ(Encode("struct(hex:0102,u8:1)")->size(), 3u);
}

absl::StatusOr<std::string> Pack(std::vector<std::string_view> specs) {
  std::vector<Argument> arguments;
  for (const std::string_view spec : specs) {
    arguments.push_back(*ParseArgumentSpec(spec)->value);
  }
  return PackArguments(arguments, {{"n", 0, 4}, {"x", 8, 8}}, 16, {}, Resolve);
}

TEST(Arguments, PackAtOffsets) {
  const auto block = Pack({"u32:7", "ptr:a"});
  ASSERT_TRUE(block.ok()) << block.status();
  EXPECT_EQ(*block, std::string("\7\0\0\0\0\0\0\0\0\x10\0\0\0\0\0\0", 16));
}

TEST(Arguments, WrongNumberOrSizeIsRefusedByName) {
  EXPECT_THAT(std::string(Pack({"u32:7"}).status().message()),
              HasSubstr("1 arguments are given, but the kernel has 2"));
  EXPECT_THAT(std::string(Pack({"u32:7", "u32:7"}).status().message()),
              HasSubstr("argument 1 has 4 bytes, but parameter 'x' has 8"));
  EXPECT_THAT(std::string(Pack({"u64:7", "null"}).status().message()),
              HasSubstr("parameter 'n' has 4"));
}

TEST(Arguments, VariablesAreSubstituted) {
  Literal variable;
  variable.kind = Literal::Kind::kVariable;
  variable.name = "k";
  const Argument argument{Argument::Scalar{ElementType::kF32, variable}};
  const auto bytes =
      EncodeArgument(argument, {{"k", Literal::Unsigned(1)}}, Resolve);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(*bytes, std::string("\0\0\x80\x3f", 4));
  EXPECT_FALSE(EncodeArgument(argument, {}, Resolve).ok());
}

}  // namespace
}  // namespace hetgpu::tools
