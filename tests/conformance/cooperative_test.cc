#include <vector>

#include "tests/conformance/conformance.h"

namespace hetgpu::conformance {
namespace {

using testing::HasSubstr;

class CooperativeSuite : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (context_ == nullptr) return;
    uint64_t blocks = 0;
    const hetgpuResult result = hetgpuFunctionGetMaxCooperativeBlocks(
        Function("cooperative", "grid_rounds"), {64, 1, 1}, 0, &blocks);
    if (result == HETGPU_ERROR_UNSUPPORTED) {
      GTEST_SKIP() << hetgpuGetLastErrorDetail();
    }
    ASSERT_SUCCESS(result);
    ASSERT_GT(blocks, 0u);
    most_ = blocks;
  }

  hetgpuResult Launch(uint32_t blocks, uint32_t shared, hetgpuDevicePtr arrived,
                      hetgpuDevicePtr slots, uint32_t rounds) {
    void* args[] = {&arrived, &slots, &rounds};
    return hetgpuLaunchCooperativeKernel(
        Function("cooperative", "grid_rounds"), {blocks, 1, 1}, {64, 1, 1},
        shared, nullptr, args);
  }

  uint64_t most_ = 0;
};

TEST_P(CooperativeSuite, BlocksWaitForEachOther) {
  for (const uint64_t wanted : {uint64_t{1}, uint64_t{7}, uint64_t{50}}) {
    const auto blocks = static_cast<uint32_t>(std::min(wanted, most_));
    constexpr uint32_t kRounds = 5;
    const hetgpuDevicePtr slots = Zeroes(2 * blocks);
    ASSERT_SUCCESS(Launch(blocks, 0, Zeroes(1), slots, kRounds));
    ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
    std::vector<uint32_t> expected(blocks, 0);
    for (uint32_t round = 0; round < kRounds; ++round) {
      uint32_t sum = 0;
      for (const uint32_t value : expected) sum += value;
      for (uint32_t i = 0; i < blocks; ++i) expected[i] = sum + i;
    }
    EXPECT_EQ(Download<uint32_t>(slots + kRounds % 2 * blocks * 4, blocks),
              expected);
  }
}

TEST_P(CooperativeSuite, GridGroupsWaitForEachOther) {
  const hetgpuFunction function = Function("grid_sync", "mirror_rounds");
  const hetgpuDim3 block = {8, 2, 3};
  uint64_t most = 0;
  ASSERT_SUCCESS(
      hetgpuFunctionGetMaxCooperativeBlocks(function, block, 0, &most));
  for (const uint64_t wanted : {uint64_t{1}, uint64_t{5}, uint64_t{48}}) {
    const auto blocks = static_cast<uint32_t>(std::min(wanted, most));
    const uint32_t threads = blocks * 48;
    uint32_t rounds = 9;
    hetgpuDevicePtr slots = Zeroes(2 * threads);
    void* args[] = {&slots, &rounds};
    ASSERT_SUCCESS(hetgpuLaunchCooperativeKernel(function, {blocks, 1, 1},
                                                 block, 0, nullptr, args));
    ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
    std::vector<uint32_t> expected(threads, 0);
    for (uint32_t round = 0; round < rounds; ++round) {
      const std::vector<uint32_t> before = expected;
      for (uint32_t i = 0; i < threads; ++i) {
        expected[i] = before[i] + before[threads - 1 - i] + i;
      }
    }
    EXPECT_EQ(Download<uint32_t>(slots + rounds % 2 * threads * 4, threads),
              expected);
  }
}

TEST_P(CooperativeSuite, OtherLaunchesHaveNoGridBarrier) {
  const hetgpuFunction function = Function("grid_sync", "is_cooperative");
  hetgpuDevicePtr result = Zeroes(1);
  void* args[] = {&result};
  ASSERT_SUCCESS(hetgpuLaunchCooperativeKernel(function, {1, 1, 1}, {1, 1, 1},
                                               0, nullptr, args));
  EXPECT_EQ(Download<uint32_t>(result, 1)[0], 1u);
  ASSERT_SUCCESS(Run(function, {}, result));
  EXPECT_EQ(Download<uint32_t>(result, 1)[0], 0u);
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TRAP,
                Run(Function("grid_sync", "mirror_rounds"), {}, result, 1u));
}

TEST_P(CooperativeSuite, GridsThatCannotRunAtOnceAreRefused) {
  if (most_ >= 2147483647u) GTEST_SKIP() << "every grid runs at once";
  const hetgpuDevicePtr word = Zeroes(1);
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_RESOURCES,
                Launch(static_cast<uint32_t>(most_) + 1, 0, word, word, 0));
  EXPECT_THAT(hetgpuGetLastErrorDetail(),
              HasSubstr("kernel grid_rounds: cooperative launch of " +
                        std::to_string(most_ + 1) + " blocks"));
  ExpectUsable();
}

TEST_P(CooperativeSuite, WrongArgumentsAreRefused) {
  uint64_t blocks = 0;
  const hetgpuFunction function = Function("cooperative", "grid_rounds");
  EXPECT_RESULT(
      HETGPU_ERROR_INVALID_VALUE,
      hetgpuFunctionGetMaxCooperativeBlocks(function, {1, 1, 1}, 0, nullptr));
  EXPECT_RESULT(
      HETGPU_ERROR_INVALID_CONFIGURATION,
      hetgpuFunctionGetMaxCooperativeBlocks(function, {0, 1, 1}, 0, &blocks));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE,
                hetgpuFunctionGetMaxCooperativeBlocks(nullptr, {1, 1, 1}, 0,
                                                      &blocks));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ARGUMENTS,
                hetgpuLaunchCooperativeKernel(function, {1, 1, 1}, {1, 1, 1}, 0,
                                              nullptr, nullptr));
}

HETGPU_CONFORMANCE(CooperativeSuite);

}  // namespace
}  // namespace hetgpu::conformance
