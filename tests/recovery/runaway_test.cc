// A kernel that does not end, in the program's own process: its GPU goes on,
// and so does unified memory, though copies on their way were lost. An
// executable of its own, because such a kernel runs until the process ends.
#include <cstdlib>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hetgpu/hetgpu.h"
#include "runtime/testing/expect.h"

namespace hetgpu {
namespace {

using testing::HasSubstr;

constexpr uint32_t kCount = 1 << 20;
const std::string kKernels = HETGPU_SOURCE_DIR "/tests/conformance/kernels/";

class RunawayTest : public testing::Test {
 protected:
  struct Member {
    hetgpuContext context = nullptr;
    hetgpuModule structures = nullptr, faults = nullptr;
    hetgpuStream stream = nullptr;
  };

  void SetUp() override {
    const char* const name = std::getenv("HETGPU_TEST_DEVICE");
    hetgpuDevice device = nullptr;
    if (hetgpuDeviceGetByName(name == nullptr ? "cuda" : name, &device) !=
        HETGPU_SUCCESS) {
      GTEST_SKIP() << hetgpuGetLastErrorDetail();
    }
    gpu_ = Join(device);
    ASSERT_SUCCESS(hetgpuDeviceGetByName("cpu", &device));
    cpu_ = Join(device);
  }
  void TearDown() override {
    for (const Member& member : {cpu_, gpu_}) {
      if (member.context) EXPECT_SUCCESS(hetgpuContextDestroy(member.context));
    }
  }

  static Member Join(hetgpuDevice device) {
    Member member;
    EXPECT_SUCCESS(
        hetgpuContextCreate(device, HETGPU_CONTEXT_UNIFIED, &member.context));
    EXPECT_SUCCESS(hetgpuModuleLoadFile(member.context,
                                        (kKernels + "structures.ptx").c_str(),
                                        &member.structures));
    EXPECT_SUCCESS(hetgpuModuleLoadFile(
        member.context, (kKernels + "faults.ptx").c_str(), &member.faults));
    EXPECT_SUCCESS(
        hetgpuContextGetDefaultStream(member.context, &member.stream));
    return member;
  }
  hetgpuDevicePtr Alloc() {
    hetgpuDevicePtr address = 0;
    EXPECT_SUCCESS(hetgpuMemAlloc(gpu_.context, kCount * 4, &address));
    return address;
  }
  // dst[i] = src[i] * 2 + 1
  void Scale(const Member& member, hetgpuDevicePtr dst, hetgpuDevicePtr src) {
    hetgpuFunction function = nullptr;
    EXPECT_SUCCESS(
        hetgpuModuleGetFunction(member.structures, "scale", &function));
    float factor = 2;
    uint32_t count = kCount;
    void* arguments[] = {&dst, &src, &factor, &count};
    EXPECT_SUCCESS(hetgpuLaunchKernel(function, {kCount / 128, 1, 1},
                                      {128, 1, 1}, 0, nullptr, arguments));
  }
  std::vector<float> Download(const Member& member, hetgpuDevicePtr address) {
    std::vector<float> values(kCount);
    EXPECT_SUCCESS(hetgpuMemCopyDtoH(member.context, values.data(), address,
                                     kCount * 4));
    return values;
  }
  static std::vector<float> All(float value) {
    return std::vector<float>(kCount, value);
  }

  Member cpu_, gpu_;
};

TEST_F(RunawayTest, CopiesThatItTookAlongAreMadeAgain) {
  const hetgpuDevicePtr data = Alloc(), result = Alloc();
  const std::vector<float> host = All(20);
  EXPECT_SUCCESS(
      hetgpuMemCopyHtoD(gpu_.context, data, host.data(), kCount * 4));
  Scale(gpu_, data, data);
  EXPECT_SUCCESS(hetgpuContextSynchronize(gpu_.context));
  EXPECT_SUCCESS(hetgpuContextSetLimit(
      gpu_.context, HETGPU_LIMIT_LAUNCH_TIMEOUT_MS, 300));
  hetgpuFunction forever = nullptr;
  EXPECT_SUCCESS(
      hetgpuModuleGetFunction(gpu_.faults, "forever_alone", &forever));
  EXPECT_SUCCESS(hetgpuLaunchKernel(forever, {1, 1, 1}, {32, 1, 1}, 0, nullptr,
                                    nullptr));
  // Behind it, so what the CPU is to read is on its way for good.
  EXPECT_SUCCESS(hetgpuMemFillAsync(data, 0, 4, kCount, gpu_.stream));
  Scale(cpu_, result, data);
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TIMEOUT,
                hetgpuStreamSynchronize(gpu_.stream));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_FAILED,
                hetgpuStreamSynchronize(cpu_.stream));
  EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr("void"));
  EXPECT_SUCCESS(hetgpuStreamSynchronize(cpu_.stream));
  // The fill was lost, the data was not, and all devices go on.
  Scale(cpu_, result, data);
  EXPECT_EQ(Download(cpu_, result), All(83));
  EXPECT_EQ(Download(gpu_, data), All(41));
  Scale(gpu_, data, result);
  EXPECT_EQ(Download(cpu_, data), All(167));
}

}  // namespace
}  // namespace hetgpu
