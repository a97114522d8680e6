#include "bench/runner/results.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace hetgpu::bench {
namespace {

Row Sample() {
  Row row = {.name = "vecadd", .group = "workload", .device = "cpu"};
  row.bytes = 100;
  row.operations = 10;
  row.unit = Unit::kF32;
  row.series = {{.by = "hetgpu", .seconds = {2, 4, 2}},
                {.by = "openmp", .seconds = {1, 8, 2}},
                {.by = "nvcc", .status = "error", .reason = "wrong result"}};
  return row;
}

TEST(ResultsTest, MedianOfOddAndEvenCounts) {
  EXPECT_DOUBLE_EQ(MedianOf({3, 1, 2}), 2);
  EXPECT_DOUBLE_EQ(MedianOf({4, 1, 2, 3}), 2.5);
  EXPECT_DOUBLE_EQ(MedianOf({}), 0);
}

TEST(ResultsTest, RatioPairsTheSamplesOfARound) {
  const Row row = Sample();
  // 1/2, 8/4, 2/2.
  EXPECT_DOUBLE_EQ(Ratio(row.series[0], row.series[1]), 1);
  EXPECT_DOUBLE_EQ(Ratio(row.series[0], row.series[2]), 0);
}

TEST(ResultsTest, ShareIsOfTheNearerCeiling) {
  Row copy = {.name = "copy", .group = "ceiling", .device = "cpu"};
  copy.bytes = 100;
  copy.series = {{.by = "openmp", .seconds = {2, 1}}};  // best: 100 a second
  Row fma = {.name = "fma", .group = "ceiling", .device = "cpu"};
  fma.operations = 40;
  fma.unit = Unit::kF32;
  fma.series = {{.by = "openmp", .seconds = {1}}};
  Ceilings ceilings;
  ceilings.Take(copy);
  ceilings.Take(fma);
  ceilings.Take(Sample());  // not a ceiling
  std::string bound;
  EXPECT_DOUBLE_EQ(ceilings.Share(Sample(), 2, bound), 0.5);
  EXPECT_EQ(bound, "copy");
  Row heavy = Sample();
  heavy.operations = 60;
  EXPECT_DOUBLE_EQ(ceilings.Share(heavy, 2, bound), 0.75);
  EXPECT_EQ(bound, "f32");
}

TEST(ResultsTest, JsonHasRatesAndReasons) {
  Report report;
  report.rows = {Sample()};
  const auto json = nlohmann::json::parse(ToJson(report));
  EXPECT_EQ(json["format"], "hetgpu-bench 1");
  const auto& series = json["rows"][0]["series"];
  EXPECT_DOUBLE_EQ(series[0]["median_s"], 2);
  EXPECT_DOUBLE_EQ(series[0]["gb_per_s"], 50e-9);
  EXPECT_EQ(series[2]["reason"], "wrong result");
  EXPECT_FALSE(series[2].contains("median_s"));
  ASSERT_EQ(json["rows"][0]["ratios"].size(), 1u);
  EXPECT_EQ(json["rows"][0]["ratios"][0]["twin"], "openmp");
}

}  // namespace
}  // namespace hetgpu::bench
