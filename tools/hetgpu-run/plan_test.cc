#include "tools/hetgpu-run/plan.h"

#include <filesystem>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu::tools {
namespace {

using ::testing::HasSubstr;

constexpr char kWhole[] = R"({
  "module": "m.ptx", "description": "all forms",
  "buffers": {
    "z": {"type": "f32", "count": 10},
    "a": {"type": "f32", "count": 10, "readonly": true,
          "init": {"rand": {"seed": 18446744073709551615, "min": -1}}},
    "p": {"type": "ptr", "count": 3,
          "init": {"addresses": [{"buffer": "a", "offset": 16},
                                 {"symbol": "g"}, {"null": true}]}},
    "v": {"type": "u8", "count": 2, "init": {"values": ["0xff", 1]}},
    "f": {"type": "f64", "count": 1, "init": {"fill": "nan"}},
    "r": {"type": "i32", "count": 2, "init": {"file": "sub/r.bin"}}},
  "symbols": {"g": {"type": "i32", "count": 1, "init": {"iota": {}}}},
  "steps": [
    {"repeat": 3, "var": "i", "until": {"buffer": "v", "less_than": 2},
     "steps": [
       {"launch": "k", "grid": [2, 3], "block": 64, "shared": 128,
        "cooperative": true,
        "flops": 10, "bytes": 2.5,
        "args": [{"buffer": "a", "offset": 4}, {"u32": {"var": "i"}},
                 {"null": true}, {"symbol": "g"}, {"f32": "0x3f800000"},
                 {"bytes": "00ff"},
                 {"struct": [{"i8": -1}, {"f64": 1.5}]}]}]},
    {"for": "k", "in": [1, 2.5], "steps": [
      {"fill": {"buffer": "z", "value": {"var": "k"}}}]},
    {"swap": ["a", "z"]},
    {"copy": {"from": "a", "to": "z", "size": 8, "to_offset": 4}}],
  "outputs": {
    "one": {"buffer": "z", "print": 4, "file": "o.npy", "shape": [2, 5],
            "check": {"file": "g.npy", "atol": 1e-6, "bits": true}},
    "two": {"symbol": "g", "type": "i32", "count": 1,
            "picture": {"width": 1, "height": 1}}}
})";

TEST(Plan, ReadsEveryForm) {
  const auto job = ParsePlan(kWhole, "dir/");
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->module, "dir/m.ptx");
  ASSERT_EQ(job->buffers.size(), 6u);
  EXPECT_EQ(job->buffers[0].name, "z");  // order of the file
  EXPECT_TRUE(job->buffers[1].readonly);
  EXPECT_EQ(std::get<RandInit>(job->buffers[1].init).range.seed, ~uint64_t{0});
  EXPECT_EQ(std::get<FileInit>(job->buffers[5].init).path, "dir/sub/r.bin");
  ASSERT_EQ(job->steps.size(), 4u);
  const auto& repeat = std::get<RepeatStep>(job->steps[0].action);
  EXPECT_EQ(repeat.times, 3u);
  EXPECT_EQ(repeat.until->test, Until::Test::kLessThan);
  const auto& launch = std::get<LaunchStep>(repeat.steps[0].action);
  EXPECT_EQ(repeat.steps[0].place, "$.steps[0].steps[0]");
  EXPECT_EQ(launch.grid.y, 3u);
  EXPECT_TRUE(launch.cooperative);
  EXPECT_EQ(launch.args.size(), 7u);
  EXPECT_EQ(launch.bytes, 2.5);
  const auto& loop = std::get<ForStep>(job->steps[1].action);
  EXPECT_EQ(loop.values[1].real, 2.5);
  ASSERT_EQ(job->outputs.size(), 2u);
  EXPECT_EQ(job->outputs[0].file, "dir/o.npy");
  EXPECT_TRUE(job->outputs[0].check->tolerance.bits);
  EXPECT_EQ(job->outputs[1].symbol, "g");
}

TEST(Plan, EveryExampleIsRead) {
  size_t count = 0;
  const std::filesystem::path folder = HETGPU_SOURCE_DIR "/examples";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path();
    if (!path.ends_with(".plan.json")) continue;
    ++count;
    const auto job = ReadPlan(path);
    EXPECT_TRUE(job.ok()) << job.status();
  }
  EXPECT_GT(count, 20u);
}

TEST(Plan, ErrorsNameTheFile) {
  const auto job = ReadPlan("/does/not/exist.json");
  EXPECT_EQ(job.status().code(), absl::StatusCode::kNotFound);
}

struct BadPlan {
  const char* what;  // replaces the marker
  const char* message;
};

// A plan around one faulty part, written as {"module": "m", "steps": [], …}.
class BadPlans : public ::testing::TestWithParam<BadPlan> {};

TEST_P(BadPlans, ErrorsNameThePlace) {
  const std::string text =
      std::string("{\"module\": \"m\", ") + GetParam().what + "}";
  const auto job = ParsePlan(text, "");
  ASSERT_FALSE(job.ok()) << text;
  EXPECT_EQ(job.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(job.status().message()),
              HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Table, BadPlans,
    ::testing::Values(
        BadPlan{"\"x\": 1", "unknown key \"x\""},
        BadPlan{"\"buffers\": {}", "lacks the key \"steps\""},
        BadPlan{"\"steps\": 1", "$.steps: found a number"},
        BadPlan{"\"steps\": [{}]", "$.steps[0]: expected a step"},
        BadPlan{"\"steps\": [{\"launch\": 1}]", "$.steps[0].launch"},
        BadPlan{"\"steps\": [{\"launch\": \"k\", \"grid\": 1}]",
                "lacks the key \"block\""},
        BadPlan{"\"steps\": [{\"launch\": \"k\", \"grid\": 0, \"block\": 1}]",
                "$.steps[0].grid: must be at least 1"},
        BadPlan{"\"steps\": [{\"launch\": \"k\", \"grid\": [], \"block\": 1}]",
                "1 to 3 numbers"},
        BadPlan{"\"steps\": [{\"launch\": \"k\", \"grid\": 4294967296, "
                "\"block\": 1}]",
                "greater than 4294967295"},
        BadPlan{"\"steps\": [{\"launch\": \"k\", \"grid\": 1, \"block\": 1, "
                "\"args\": [{\"u8\": 256}]}]",
                "$.steps[0].args[0].u8: 256 is out of range"},
        BadPlan{"\"steps\": [{\"launch\": \"k\", \"grid\": 1, \"block\": 1, "
                "\"args\": [{\"f8\": 1}]}]",
                "no form of an argument"},
        BadPlan{"\"steps\": [{\"launch\": \"k\", \"grid\": 1, \"block\": 1, "
                "\"args\": [{\"bytes\": \"0\"}]}]",
                "even number"},
        BadPlan{"\"steps\": [{\"launch\": \"k\", \"grid\": 1, \"block\": 1, "
                "\"args\": [{\"null\": false}]}]",
                "{\"null\": true}"},
        BadPlan{"\"steps\": [{\"swap\": [\"a\"]}]", "two names"},
        BadPlan{"\"steps\": [{\"repeat\": -1, \"steps\": []}]",
                "$.steps[0].repeat"},
        BadPlan{"\"steps\": [{\"repeat\": 1, \"until\": {\"buffer\": \"a\"}, "
                "\"steps\": []}]",
                "either \"equals\" or"},
        BadPlan{"\"steps\": [], \"buffers\": {\"a\": {\"type\": \"f31\", "
                "\"count\": 1}}",
                "$.buffers.a.type: unknown element type"},
        BadPlan{"\"steps\": [], \"buffers\": {\"a\": {\"type\": \"b16\", "
                "\"count\": 1}}",
                "unknown element type"},
        BadPlan{"\"steps\": [], \"buffers\": {\"a\": {\"type\": \"f32\", "
                "\"count\": -1}}",
                "$.buffers.a.count"},
        BadPlan{"\"steps\": [], \"buffers\": {\"a\": {\"type\": \"f32\", "
                "\"count\": 1, \"init\": {}}}",
                "expected one of fill"},
        BadPlan{"\"steps\": [], \"buffers\": {\"a\": {\"type\": \"f32\", "
                "\"count\": 1, \"init\": {\"fill\": 1, \"iota\": {}}}}",
                "both \"fill\" and \"iota\""},
        BadPlan{"\"steps\": [], \"buffers\": {\"a\": {\"type\": \"f32\", "
                "\"count\": 1, \"init\": {\"fill\": \"0x1p3\"}}}",
                "is no value"},
        BadPlan{"\"steps\": [], \"symbols\": {\"a\": {\"type\": \"f32\", "
                "\"count\": 1, \"init\": {\"fill\": 1}, \"readonly\": true}}",
                "unknown key \"readonly\""},
        BadPlan{"\"steps\": [], \"outputs\": {\"a\": {}}",
                "either \"buffer\" or \"symbol\""},
        BadPlan{"\"steps\": [], \"outputs\": {\"a\": {\"symbol\": \"g\"}}",
                "lacks the key \"type\""},
        BadPlan{"\"steps\": [], \"outputs\": {\"a\": {\"buffer\": \"g\", "
                "\"check\": {\"fill\": 1, \"atol\": -1}}}",
                "negative"},
        BadPlan{"\"steps\": [], \"outputs\": {\"a\": {\"buffer\": \"g\", "
                "\"picture\": {\"width\": 0, \"height\": 1}}}",
                "at least 1"}));

}  // namespace
}  // namespace hetgpu::tools
