// Command lines to jobs.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/hetgpu-run/options.h"

namespace hetgpu::tools {
namespace {

using ::testing::HasSubstr;

Options Launch() {
  Options options;
  options.file = "m.ptx";
  options.kernel = "k";
  options.grid = "4,2";
  options.block = "256";
  return options;
}

TEST(MakeJob, ACommandLineIsAPlanOfOneLaunch) {
  Options options = Launch();
  options.shared = "1K";
  options.cooperative = true;
  options.args = {"u32:7", "x=in:f32[4]=iota", "out:f32[4]=o.npy", "ptr:b+8"};
  options.buffers = {"b=u8[16]"};
  options.symbols = {"g=f32:1"};
  options.prints = {"x:2", "g"};
  options.saves = {"b=b.bin"};
  options.checks = {"arg2=fill(1)"};
  options.atol = 0.5;
  const auto job = MakeJob(options);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->module, "m.ptx");
  ASSERT_EQ(job->buffers.size(), 3u);
  EXPECT_EQ(job->buffers[2].name, "arg2");
  ASSERT_EQ(job->steps.size(), 1u);
  const auto& launch = std::get<LaunchStep>(job->steps[0].action);
  EXPECT_EQ(launch.grid.y, 2u);
  EXPECT_EQ(launch.shared, 1024u);
  EXPECT_TRUE(launch.cooperative);
  ASSERT_EQ(launch.args.size(), 4u);
  EXPECT_EQ(std::get<Address>(launch.args[1].form).name, "x");
  EXPECT_EQ(std::get<Address>(launch.args[3].form).offset, 8u);
  ASSERT_EQ(job->outputs.size(), 4u);
  EXPECT_EQ(job->outputs[0].name, "arg2");  // the out: file and its check
  EXPECT_EQ(job->outputs[0].file, "o.npy");
  EXPECT_EQ(job->outputs[0].check->tolerance.atol, 0.5);
  EXPECT_EQ(job->outputs[1].print, 2u);
  EXPECT_EQ(job->outputs[2].symbol, "g");
  EXPECT_EQ(job->outputs[3].file, "b.bin");
}

TEST(MakeJob, ResultsAreShownOnlyWhenNothingIsAskedFor) {
  Options options = Launch();
  options.args = {"in:f32[4]", "y=inout:f32[4]", "out:f32[4]"};
  auto job = MakeJob(options);
  ASSERT_TRUE(job.ok()) << job.status();
  ASSERT_EQ(job->outputs.size(), 2u);
  EXPECT_EQ(job->outputs[0].buffer, "y");
  EXPECT_TRUE(job->outputs[1].print.has_value());
  options.saves = {"y=y.npy"};
  job = MakeJob(options);
  ASSERT_TRUE(job.ok()) << job.status();
  EXPECT_EQ(job->outputs.size(), 1u);
}

TEST(MakeJob, RefusesByName) {
  struct Case {
    void (*change)(Options& options);
    const char* message;
  };
  const Case cases[] = {
      {[](Options& o) { o.grid = ""; }, "--grid"},
      {[](Options& o) {
         o.args = {"y=in:u8[1]", "y=in:u8[1]"};
       },
       "'y'"},
      {[](Options& o) { o.prints = {"z"}; }, "'z'"},
      {[](Options& o) { o.saves = {"z=f"}; }, "'z'"},
      {[](Options& o) { o.checks = {"nothing"}; }, "NAME="},
      {[](Options& o) { o.buffers = {"u8[1]"}; }, "NAME="},
      {[](Options& o) { o.symbols = {"g=out:u8[1]"}; }, "initial content"},
      {[](Options& o) { o.shared = "-1"; }, "count"},
  };
  for (const Case& c : cases) {
    Options options = Launch();
    c.change(options);
    const auto job = MakeJob(options);
    ASSERT_FALSE(job.ok()) << c.message;
    EXPECT_THAT(std::string(job.status().message()), HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace hetgpu::tools
