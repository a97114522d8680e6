#include "runtime/error.h"

#include <cstring>
#include <set>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace hetgpu::runtime {
namespace {

TEST(ErrorTest, CodeTravelsInTheStatus) {
  const absl::Status status = Error(HETGPU_ERROR_DOUBLE_FREE, "freed ", 2);
  EXPECT_EQ(ResultOf(status), HETGPU_ERROR_DOUBLE_FREE);
  EXPECT_EQ(ToStd(status.message()), "freed 2");
}

TEST(ErrorTest, LowerLayersMapToTheNearestCode) {
  EXPECT_EQ(ResultOf(absl::OkStatus()), HETGPU_SUCCESS);
  EXPECT_EQ(ResultOf(absl::ResourceExhaustedError("")),
            HETGPU_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(ResultOf(absl::UnavailableError("")), HETGPU_ERROR_NO_DEVICE);
  EXPECT_EQ(ResultOf(absl::UnimplementedError("")), HETGPU_ERROR_UNSUPPORTED);
  EXPECT_EQ(ResultOf(absl::NotFoundError("")), HETGPU_ERROR_NOT_FOUND);
  EXPECT_EQ(ResultOf(absl::AbortedError("")), HETGPU_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(ResultOf(absl::DataLossError("")), HETGPU_ERROR_INTERNAL);
  EXPECT_EQ(ResultOf(LaunchError::Kind::kNone), HETGPU_ERROR_LAUNCH_FAILED);
}

TEST(ErrorTest, TextsAreDistinctLowerCaseAndUnpunctuated) {
  std::set<std::string> texts;
  for (int code = 0; code < 1000; ++code) {
    const auto result = static_cast<hetgpuResult>(code);
    if (!std::strcmp(hetgpuResultName(result), "HETGPU_ERROR_UNKNOWN")) {
      EXPECT_STREQ(hetgpuResultString(result), "unknown result code");
      continue;
    }
    const std::string text = hetgpuResultString(result);
    EXPECT_TRUE(texts.insert(text).second) << text;
    EXPECT_NE(text.back(), '.');
  }
  EXPECT_GE(texts.size(), 30u);
}

TEST(ErrorTest, DetailIsPerThread) {
  Report(Error(HETGPU_ERROR_NOT_FOUND, "here"));
  std::thread([] {
    EXPECT_STREQ(hetgpuGetLastErrorDetail(), "");
    Report(Error(HETGPU_ERROR_NOT_FOUND, "there"));
    EXPECT_STREQ(hetgpuGetLastErrorDetail(), "there");
  }).join();
  EXPECT_STREQ(hetgpuGetLastErrorDetail(), "here");
}

TEST(ErrorTest, SuccessLeavesTheDetailAlone) {
  Report(Error(HETGPU_ERROR_NOT_FOUND, "kept"));
  Report(absl::OkStatus());
  EXPECT_STREQ(hetgpuGetLastErrorDetail(), "kept");
}

TEST(ErrorTest, LaunchErrorInfoHonoursStructSize) {
  hetgpuLaunchErrorInfo info;
  std::memset(&info, 0xee, sizeof(info));
  info.struct_size = offsetof(hetgpuLaunchErrorInfo, has_thread);
  LaunchError error;
  error.kind = LaunchError::Kind::kTrap;
  RememberLaunchError(error);
  EXPECT_EQ(hetgpuGetLastLaunchError(&info), HETGPU_SUCCESS);
  EXPECT_EQ(info.kind, HETGPU_ERROR_LAUNCH_TRAP);
  EXPECT_EQ(info.has_thread, 0xeeeeeeeeu);
  info.struct_size = 0;
  EXPECT_EQ(hetgpuGetLastLaunchError(&info), HETGPU_ERROR_INVALID_VALUE);
  EXPECT_EQ(hetgpuGetLastLaunchError(nullptr), HETGPU_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace hetgpu::runtime
