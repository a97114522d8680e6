#include "tests/isa/run_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu::isa {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kText[] =
    "hetgpu-isa 1\n"
    "form add.s32\n"
    "note two words\n"
    "sm 70\n"
    "grid 2 1 1\n"
    "block 64 2 1\n"
    "shared 16\n"
    "in a b32 4 set:some\n"
    "inout m f32 2 zero ulp 3 abs 2^-4\n"
    "out d f32 3 nan\n"
    "arg s 0a0b\n"
    "ptx\n"
    "line one\n"
    "line two\n"
    "end\n"
    "expect m\n"
    "0*2\n"
    "end\n"
    "expect d\n"
    "1 ff*2\n"
    "end\n";

std::string Replaced(std::string_view from, std::string_view to) {
  std::string text = kText;
  size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

std::string ErrorOf(const std::string& text) {
  absl::StatusOr<RunFile> run = ParseRunFile(text, "x.isa");
  EXPECT_FALSE(run.ok());
  return std::string(run.status().message());
}

TEST(ParseRunFile, ReadsEveryKey) {
  absl::StatusOr<RunFile> run = ParseRunFile(kText, "x.isa");
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(run->forms, ElementsAre("add.s32"));
  EXPECT_EQ(run->sm, 70u);
  EXPECT_THAT(run->grid, ElementsAre(2, 1, 1));
  EXPECT_THAT(run->block, ElementsAre(64, 2, 1));
  EXPECT_EQ(run->shared_bytes, 16u);
  EXPECT_EQ(run->ptx, "line one\nline two\n");
  EXPECT_THAT(run->expect["m"], ElementsAre(0, 0));
  EXPECT_THAT(run->expect["d"], ElementsAre(1, 255, 255));
}

TEST(ParseRunFile, ReadsParameters) {
  absl::StatusOr<RunFile> run = ParseRunFile(kText, "x.isa");
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_EQ(run->params.size(), 4u);
  EXPECT_EQ(run->params[0].set, "some");
  EXPECT_EQ(run->params[0].count, 4u);
  EXPECT_FALSE(run->params[0].IsOutput());
  EXPECT_EQ(run->params[1].source, Param::Source::kZero);
  EXPECT_EQ(run->params[1].compare.ulp, 3u);
  EXPECT_EQ(run->params[1].compare.absolute, 0.0625);
  EXPECT_EQ(run->params[2].compare.kind, Compare::Kind::kNan);
  EXPECT_FALSE(run->params[3].IsBuffer());
  EXPECT_THAT(run->params[3].value, ElementsAre(10, 11));
}

TEST(ParseRunFile, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(ErrorOf("hetgpu-isa 2\n"), "x.isa:1: expected 'hetgpu-isa 1'");
  EXPECT_EQ(ErrorOf(Replaced("sm 70", "sn 70")),
            "x.isa:4: 'sn 70' is no run-file line");
  EXPECT_THAT(ErrorOf(Replaced("f32 3 nan", "f31 3 nan")),
              HasSubstr("x.isa:10: 'out d f31 3 nan'"));
  EXPECT_THAT(ErrorOf(Replaced("3 nan", "3 almost")), HasSubstr("x.isa:10:"));
  EXPECT_THAT(ErrorOf(Replaced("2^-4", "16")), HasSubstr("x.isa:9:"));
  EXPECT_THAT(ErrorOf(Replaced("0a0b", "0a0")), HasSubstr("x.isa:11:"));
  EXPECT_THAT(ErrorOf(Replaced("1 ff*2", "1 fg*2")),
              HasSubstr("'fg*2' is no value"));
}

TEST(ParseRunFile, RefusesIncompleteFiles) {
  EXPECT_THAT(ErrorOf(Replaced("1 ff*2\nend\n", "1 ff*2\n")),
              HasSubstr("the text ends before 'end'"));
  EXPECT_THAT(ErrorOf(Replaced("ff*2", "ff*3")),
              HasSubstr("output 'd' has 3 elements, but 4 expected values"));
  EXPECT_THAT(ErrorOf(Replaced("expect m", "expect q")),
              HasSubstr("output 'm' has 2 elements, but 0 expected"));
  EXPECT_THAT(ErrorOf("hetgpu-isa 1\nform add.s32\n"),
              HasSubstr("no 'ptx' block"));
}

TEST(InputSets, FillBuffers) {
  absl::StatusOr<InputSets> sets =
      ParseInputSets("# comment\nset some b16 3\n1 8000*2\nend\n", "in");
  ASSERT_TRUE(sets.ok()) << sets.status();
  Param param;
  param.type = ElementType::kB16;
  param.count = 2;
  param.source = Param::Source::kSet;
  param.set = "some";
  EXPECT_THAT(InitialBytes(param, *sets).value(), ElementsAre(1, 0, 0, 0x80));
  param.count = 4;
  EXPECT_FALSE(InitialBytes(param, *sets).ok());
  param.count = 2;
  param.type = ElementType::kB32;
  EXPECT_FALSE(InitialBytes(param, *sets).ok());
  param.source = Param::Source::kIota;
  EXPECT_THAT(InitialBytes(param, *sets).value(),
              ElementsAre(0, 0, 0, 0, 1, 0, 0, 0));
  param.source = Param::Source::kNone;
  EXPECT_THAT(InitialBytes(param, *sets).value(), ::testing::Each(0xCD));
}

TEST(InputSets, RefuseWrongCounts) {
  EXPECT_FALSE(ParseInputSets("set some b16 3\n1\nend\n", "in").ok());
  EXPECT_FALSE(ParseInputSets("sets some b16 3\n1*3\nend\n", "in").ok());
}

TEST(ValuesOf, ReadsLittleEndian) {
  EXPECT_THAT(ValuesOf({1, 2, 3, 0x80}, ElementType::kB16),
              ElementsAre(0x201, 0x8003));
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(CommittedFiles, AreRecordedAndHaveTheirInputs) {
  const std::string folder = HETGPU_SOURCE_DIR "/tests/isa";
  absl::StatusOr<InputSets> sets =
      ParseInputSets(ReadText(folder + "/inputs.txt"), "inputs.txt");
  ASSERT_TRUE(sets.ok()) << sets.status();
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder + "/forms")) {
    if (entry.path().extension() != ".isa") continue;
    std::string path = entry.path().string();
    absl::StatusOr<RunFile> run = ParseRunFile(ReadText(path), path);
    ASSERT_TRUE(run.ok()) << run.status();
    EXPECT_FALSE(run->expect.empty()) << path << " has no recorded bits";
    for (const Param& param : run->params) {
      if (!param.IsBuffer()) continue;
      EXPECT_TRUE(InitialBytes(param, *sets).ok()) << path;
    }
    ++files;
  }
  EXPECT_GE(files, 2000);
}

}  // namespace
}  // namespace hetgpu::isa
