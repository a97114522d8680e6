// The C++ wrapper.
#include <utility>

#include "hetgpu/hetgpu.hpp"
#include "tests/conformance/conformance.h"

namespace hetgpu::conformance {
namespace {

using testing::HasSubstr;

class WrapperSuite : public DeviceTest {
 protected:
  static constexpr char kPath[] =
      HETGPU_SOURCE_DIR "/tests/conformance/kernels/basic.ptx";
};

TEST_P(WrapperSuite, RunsVecadd) {
  auto context = Context::Create(GetParam()).value();
  auto module = hetgpu::Module::FromFile(context, kPath).value();
  auto vecadd = module.GetFunction("vecadd").value();
  const std::vector<float> a = {1, 2, 3}, b = {10, 20, 30};
  auto device_a = Buffer<float>::FromHost(context, a).value();
  auto device_b = Buffer<float>::FromHost(context, b).value();
  auto device_c = Buffer<float>::Create(context, 3).value();
  ASSERT_TRUE(
      vecadd.Launch({1}, {32}, device_a, device_b, device_c, uint32_t{3}).ok());
  EXPECT_THAT(*device_c.ToHost(), testing::ElementsAre(11, 22, 33));
}

TEST_P(WrapperSuite, StreamsEventsAndGlobals) {
  auto context = Context::Create(GetParam()).value();
  auto module = hetgpu::Module::FromFile(context, kPath).value();
  auto count = module.GetFunction("count").value();
  auto stream = Stream::Create(context).value();
  auto start = Event::Create(context).value();
  auto end = Event::Create(context).value();
  auto total = Buffer<uint32_t>::Create(context, 1).value();
  total.Fill(5).Check();
  stream.Record(start).Check();
  count.LaunchOn(stream.handle(), {4}, {8}, 0, total).Check();
  stream.Record(end).Check();
  uint32_t value = 0;
  total.CopyTo(&value, stream).Check();
  stream.Synchronize().Check();
  EXPECT_EQ(value, 37u);
  EXPECT_GE(*start.ElapsedMs(end), 0.0);
  EXPECT_EQ(module.GetGlobal("table").value().size, 16u);
  EXPECT_THAT(*module.Kernels(), testing::Contains("vecadd"));
  EXPECT_NE(*count.Explain(), "");
}

TEST_P(WrapperSuite, FailuresSayWhy) {
  auto context = Context::Create(GetParam()).value();
  const auto missing = hetgpu::Module::FromFile(context, "/nowhere.ptx");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), HETGPU_ERROR_FILE_UNREADABLE);
  EXPECT_THAT(missing.status().ToString(), HasSubstr("/nowhere.ptx"));
  EXPECT_EQ(Context::Create("toaster").status().code(), HETGPU_ERROR_NO_DEVICE);
  EXPECT_EQ(Buffer<double>::Create(context, UINT64_MAX).status().code(),
            HETGPU_ERROR_OUT_OF_MEMORY);
}

TEST_P(WrapperSuite, WrongArgumentsAreRefused) {
  auto context = Context::Create(GetParam()).value();
  auto module = hetgpu::Module::FromFile(context, kPath).value();
  auto count = module.GetFunction("count").value();
  EXPECT_EQ(count.Launch({1}, {1}).code(), HETGPU_ERROR_INVALID_ARGUMENTS);
  const Status status = count.Launch({1}, {1}, uint32_t{0});
  EXPECT_EQ(status.code(), HETGPU_ERROR_INVALID_ARGUMENTS);
  EXPECT_THAT(status.detail(), HasSubstr("has 4 bytes, expected 8"));
}

TEST_P(WrapperSuite, MovedObjectsFreeOnce) {
  auto context = Context::Create(GetParam()).value();
  auto first = Buffer<int>::Create(context, 100).value();
  const hetgpuDevicePtr address = first.address();
  Buffer<int> second = std::move(first);
  EXPECT_EQ(second.address(), address);
  second = Buffer<int>::Create(context, 10).value();
  EXPECT_EQ(hetgpuMemFree(context.handle(), address), HETGPU_ERROR_DOUBLE_FREE);
  Context moved = std::move(context);
  EXPECT_TRUE(moved.Synchronize().ok());
}

HETGPU_CONFORMANCE(WrapperSuite);

}  // namespace
}  // namespace hetgpu::conformance
