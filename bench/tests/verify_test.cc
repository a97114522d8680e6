#include "bench/runner/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "bench/tests/fake_executor.h"

namespace hetgpu::bench {
namespace {

Buffer FloatBuffer(uint64_t count, double tolerance, double scale) {
  return {.name = "out",
          .bytes = count * 4,
          .is_output = true,
          .element = Element::kF32,
          .tolerance = tolerance,
          .scale = scale};
}

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()),
                     values.size() * sizeof(T));
}

uint64_t Compare(const Buffer& buffer, const std::vector<float>& a,
                 const std::vector<float>& b) {
  return FirstDifference(buffer, a.data(), b.data(), a.size());
}

TEST(FirstDifferenceTest, FloatsWithinTheToleranceAreEqual) {
  const Buffer buffer = FloatBuffer(2, 1e-3, 0);
  EXPECT_EQ(Compare(buffer, {1, 1000}, {1, 1000.5f}), 2u);
  EXPECT_EQ(Compare(buffer, {1, 1000}, {1, 1002}), 1u);
}

TEST(FirstDifferenceTest, TheScaleGuardsSumsThatCancel) {
  EXPECT_EQ(Compare(FloatBuffer(1, 1e-3, 1), {0}, {5e-4f}), 1u);
  EXPECT_EQ(Compare(FloatBuffer(1, 1e-3, 0), {0}, {5e-4f}), 0u);
}

TEST(FirstDifferenceTest, NaNIsNoNumber) {
  const Buffer buffer = FloatBuffer(1, 1, 1e9);
  EXPECT_EQ(Compare(buffer, {NAN}, {1}), 0u);
  EXPECT_EQ(Compare(buffer, {1}, {NAN}), 0u);
  EXPECT_EQ(Compare(buffer, {NAN}, {NAN}), 1u);
}

TEST(FirstDifferenceTest, WithoutToleranceEveryBitCounts) {
  EXPECT_EQ(Compare(FloatBuffer(1, 0, 0), {1}, {std::nextafter(1.0f, 2.0f)}),
            0u);
}

TEST(CompareResultsTest, NamesTheFirstDifference) {
  Workload workload;
  workload.buffers = {{.name = "in", .bytes = 4},
                      {.name = "out",
                       .bytes = 12,
                       .is_output = true,
                       .element = Element::kU32}};
  FakeExecutor ours("hetgpu"), twin("openmp");
  ours.buffers = {"abcd", BytesOf<uint32_t>({1, 2, 7})};
  twin.buffers = {"zzzz", BytesOf<uint32_t>({1, 2, 3})};
  const absl::Status status = CompareResults(workload, ours, twin);
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("out[2] is 7, expected 3 as from openmp"));
  twin.buffers[1] = ours.buffers[1];
  EXPECT_TRUE(CompareResults(workload, ours, twin).ok());
}

}  // namespace
}  // namespace hetgpu::bench
