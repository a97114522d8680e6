#include "tools/hetgpu-run/spec.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu::tools {
namespace {

using enum ElementType;
using ::testing::HasSubstr;

TEST(BufferSpec, Files) {
  const auto npy = ParseBufferSpec("in:x.npy");
  ASSERT_TRUE(npy.ok()) << npy.status();
  EXPECT_EQ(npy->direction, Direction::kIn);
  EXPECT_EQ(std::get<FileInit>(npy->def.init).path, "x.npy");
  EXPECT_FALSE(npy->def.type.has_value());

  const auto raw = ParseBufferSpec("inout:u16=data.bin");
  ASSERT_TRUE(raw.ok()) << raw.status();
  EXPECT_EQ(raw->def.type, kU16);
  EXPECT_FALSE(raw->def.count.has_value());

  const auto sized = ParseBufferSpec("f32[10]=a=b.npy");
  ASSERT_TRUE(sized.ok()) << sized.status();
  EXPECT_EQ(sized->direction, Direction::kInOut);
  EXPECT_EQ(sized->def.count, 10u);
  EXPECT_EQ(std::get<FileInit>(sized->def.init).path, "a=b.npy");
}

TEST(BufferSpec, Outputs) {
  const auto out = ParseBufferSpec("out:f32[1K]=out.npy");
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(out->def.count, 1024u);
  EXPECT_EQ(out->output, "out.npy");
  EXPECT_TRUE(std::holds_alternative<ZeroInit>(out->def.init));
}

TEST(BufferSpec, Generators) {
  const auto rand = ParseBufferSpec("in:f32[1M]=rand(seed=1,min=0,max=1)");
  ASSERT_TRUE(rand.ok()) << rand.status();
  const auto& range = std::get<RandInit>(rand->def.init).range;
  EXPECT_EQ(range.seed, 1u);
  EXPECT_EQ(range.max->bits, 1u);
  EXPECT_TRUE(ParseBufferSpec("u32[4]=iota").ok());
  EXPECT_TRUE(ParseBufferSpec("u32[4]=iota(start=3, step=-1)").ok());
  EXPECT_TRUE(ParseBufferSpec("u32[4]=fill(0xff)").ok());
  EXPECT_TRUE(ParseBufferSpec("u32[4]=zero").ok());
  const auto values = ParseBufferSpec("u32[]=values(1,2,3)");
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(values->def.count, 3u);
}

TEST(BufferSpec, Addresses) {
  for (const char* text : {"addr[a+0,b+64]", "ptr[2]=addr[a,b+64]"}) {
    const auto spec = ParseBufferSpec(text);
    ASSERT_TRUE(spec.ok()) << spec.status();
    EXPECT_EQ(spec->def.type, kPtr);
    EXPECT_EQ(spec->def.count, 2u);
    const auto& list = std::get<AddressesInit>(spec->def.init).addresses;
    EXPECT_EQ(list[1].name, "b");
    EXPECT_EQ(list[1].offset, 64u);
  }
  EXPECT_TRUE(ParseBufferSpec("addr[null,sym:g+8]").ok());
}

class BadBufferSpecs : public ::testing::TestWithParam<const char*> {};

TEST_P(BadBufferSpecs, AreUsageErrors) {
  const auto spec = ParseBufferSpec(GetParam());
  ASSERT_FALSE(spec.ok());
  EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_FALSE(spec.status().message().empty());
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadBufferSpecs,
    ::testing::Values("", "in:", "out:", "in:f32", "in:f33[4]", "f32[4",
                      "f32[x]", "f32[-1]", "f32[99999999999999999999]",
                      "out:x.npy", "out:f32", "out:f32[4]=", "f32[4]=",
                      "f32[4]=rand(seed)", "f32[4]=rand(foo=1)",
                      "f32[4]=rand(seed=-1)", "f32[4]=iota(x=1)",
                      "f32[4]=fill()", "f32[4]=fill(x)", "f32[4]=values(1,,2)",
                      "addr[+1]", "addr[1a]", "ptr[1]=addr[a+x]", "in:x.txt"));

TEST(ArgumentSpec, Values) {
  const auto scalar = ParseArgumentSpec("f32:0x1.8p0");
  ASSERT_TRUE(scalar.ok()) << scalar.status();
  EXPECT_TRUE(std::holds_alternative<Argument::Scalar>(scalar->value->form));
  const auto null = ParseArgumentSpec("null");
  ASSERT_TRUE(null.ok());
  EXPECT_EQ(std::get<Address>(null->value->form).base, Address::Base::kNull);
  const auto pointer = ParseArgumentSpec("ptr:a.b$c+16");
  ASSERT_TRUE(pointer.ok()) << pointer.status();
  EXPECT_EQ(std::get<Address>(pointer->value->form).offset, 16u);
  const auto bytes = ParseArgumentSpec("hex:00fFa1");
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  EXPECT_EQ(std::get<Argument::Bytes>(bytes->value->form).bytes,
            std::string("\x00\xff\xa1", 3));
  const auto record = ParseArgumentSpec("struct(u8:1,struct(f64:2,null))");
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_EQ(std::get<Argument::Struct>(record->value->form).members.size(), 2u);
}

TEST(ArgumentSpec, NamedBuffers) {
  const auto named = ParseArgumentSpec("y=inout:f32[8]=iota");
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(named->name, "y");
  EXPECT_EQ(named->buffer->direction, Direction::kInOut);
  const auto unnamed = ParseArgumentSpec("out:f32[8]=o.npy");
  ASSERT_TRUE(unnamed.ok()) << unnamed.status();
  EXPECT_EQ(unnamed->name, "");
  EXPECT_EQ(unnamed->buffer->output, "o.npy");
}

TEST(ArgumentSpec, ErrorsSayWhatWasExpected) {
  for (const char* bad :
       {"", "7", "u32", "u32:", "u32:x", "u8:256", "f32:1.5x", "y=u32:1",
        "hex:0", "hex:zz", "ptr:", "ptr:+1", "ptr:a+", "struct(u8)",
        "struct(u8:1", "foo:1", "u32:7,8"}) {
    const auto spec = ParseArgumentSpec(bad);
    ASSERT_FALSE(spec.ok()) << bad;
    EXPECT_EQ(spec.status().code(), absl::StatusCode::kInvalidArgument) << bad;
  }
  const auto missing = ParseArgumentSpec("file:/does/not/exist");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
}

TEST(SymbolSpec, TakesScalarsBytesAndBuffers) {
  EXPECT_EQ(ParseSymbolSpec("f32:2")->count, 1u);
  EXPECT_EQ(ParseSymbolSpec("hex:010203")->count, 3u);
  EXPECT_EQ(ParseSymbolSpec("f32[3]=iota")->count, 3u);
  EXPECT_EQ(ParseSymbolSpec("ptr:a")->type, kPtr);
  EXPECT_FALSE(ParseSymbolSpec("out:f32[3]").ok());
  EXPECT_FALSE(ParseSymbolSpec("struct(u8:1)").ok());
}

TEST(Extents, OneToThreeNumbers) {
  EXPECT_EQ(ParseExtent("64")->y, 1u);
  EXPECT_EQ(ParseExtent("64,2,3")->z, 3u);
  EXPECT_EQ(ParseExtent("2147483647")->x, 2147483647u);
  EXPECT_EQ(ParseExtent("0")->x, 0u);  // the device refuses it
  for (const char* bad : {"", ",", "1,2,3,4", "x", "-1", "4294967296", "1,"}) {
    EXPECT_FALSE(ParseExtent(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace hetgpu::tools
