#include <cstring>
#include <string>

#include "gmock/gmock.h"
#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

using testing::HasSubstr;

using ApiDeviceTest = FakeTest;

TEST_F(ApiDeviceTest, VersionMatchesTheHeader) {
  uint32_t version = 0;
  EXPECT_SUCCESS(hetgpuGetVersion(&version));
  EXPECT_EQ(version, static_cast<uint32_t>(HETGPU_VERSION));
  EXPECT_SUCCESS(hetgpuInit(0));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE, hetgpuInit(1));
}

TEST_F(ApiDeviceTest, BackendsPresentAndAbsentWithReason) {
  uint32_t count = 0;
  ASSERT_SUCCESS(hetgpuBackendCount(&count));
  ASSERT_EQ(count, 2u);
  hetgpuBackendInfo info = {};
  info.struct_size = sizeof(info);
  ASSERT_SUCCESS(hetgpuBackendGetInfo(0, &info));
  EXPECT_STREQ(info.name, "fake");
  EXPECT_EQ(info.device_count, 2u);
  EXPECT_EQ(info.available, 1u);
  EXPECT_STREQ(info.reason, "");
  ASSERT_SUCCESS(hetgpuBackendGetInfo(1, &info));
  EXPECT_STREQ(info.name, "absent");
  EXPECT_EQ(info.available, 0u);
  EXPECT_STREQ(info.reason, "libabsent.so.1 cannot be opened");
  EXPECT_RESULT(HETGPU_ERROR_NOT_FOUND, hetgpuBackendGetInfo(2, &info));
}

TEST_F(ApiDeviceTest, ByOrdinalAndByName) {
  uint32_t count = 0;
  ASSERT_SUCCESS(hetgpuDeviceCount(&count));
  ASSERT_EQ(count, 2u);
  hetgpuDevice first, second, named;
  ASSERT_SUCCESS(hetgpuDeviceGet(0, &first));
  ASSERT_SUCCESS(hetgpuDeviceGet(1, &second));
  EXPECT_NE(first, second);
  ASSERT_SUCCESS(hetgpuDeviceGetByName("fake", &named));
  EXPECT_EQ(named, first);
  ASSERT_SUCCESS(hetgpuDeviceGetByName("fake:1", &named));
  EXPECT_EQ(named, second);
  EXPECT_RESULT(HETGPU_ERROR_NO_DEVICE, hetgpuDeviceGet(2, &first));
}

TEST_F(ApiDeviceTest, WrongNamesSayWhy) {
  hetgpuDevice device = nullptr;
  const std::pair<const char*, const char*> wrong[] = {
      {"absent", "libabsent.so.1"},
      {"fake:2", "has 2 device(s)"},
      {"fake:", "number"},
      {"fake:-1", "number"},
      {"fake:1x", "number"},
      {"fake:99999999999", "number"},
      {"", "expected one of: fake, absent"},
      {"toaster", "expected one of: fake, absent"}};
  for (const auto& [name, text] : wrong) {
    EXPECT_RESULT(HETGPU_ERROR_NO_DEVICE, hetgpuDeviceGetByName(name, &device));
    EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr(text)) << name;
  }
  EXPECT_EQ(device, nullptr);
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuDeviceGetByName(nullptr, &device));
}

TEST_F(ApiDeviceTest, PropertiesAsStructAndOneByOne) {
  hetgpuDeviceProperties properties = {};
  properties.struct_size = sizeof(properties);
  ASSERT_SUCCESS(hetgpuDeviceGetProperties(device_, &properties));
  EXPECT_STREQ(properties.name, "Fake device 0");
  EXPECT_STREQ(properties.backend, "fake");
  EXPECT_EQ(properties.max_block.z, 64u);
  uint64_t value = 0;
  const std::pair<hetgpuDeviceProperty, uint64_t> expected[] = {
      {HETGPU_DEVICE_ORDINAL, properties.ordinal},
      {HETGPU_DEVICE_TOTAL_MEMORY, properties.total_memory},
      {HETGPU_DEVICE_WARP_SIZE, 32},
      {HETGPU_DEVICE_MAX_GRID_X, 2147483647},
      {HETGPU_DEVICE_MAX_BLOCK_Z, 64},
      {HETGPU_DEVICE_MAX_SHARED_PER_BLOCK, 4096},
      {HETGPU_DEVICE_HOST_ADDRESSABLE, 1}};
  for (const auto& [property, number] : expected) {
    ASSERT_SUCCESS(hetgpuDeviceGetProperty(device_, property, &value));
    EXPECT_EQ(value, number) << property;
  }
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuDeviceGetProperty(
                    device_, static_cast<hetgpuDeviceProperty>(99), &value));
}

TEST_F(ApiDeviceTest, OlderAndNewerStructsAreServed) {
  struct {
    hetgpuDeviceProperties known;
    uint64_t beyond;
  } newer = {};
  newer.known.struct_size = sizeof(newer);
  newer.beyond = 7;
  ASSERT_SUCCESS(hetgpuDeviceGetProperties(device_, &newer.known));
  EXPECT_EQ(newer.beyond, 7u);
  hetgpuDeviceProperties older;
  std::memset(&older, 0x55, sizeof(older));
  older.struct_size = offsetof(hetgpuDeviceProperties, target);
  ASSERT_SUCCESS(hetgpuDeviceGetProperties(device_, &older));
  EXPECT_STREQ(older.backend, "fake");
  EXPECT_EQ(older.warp_size, 0x55555555u);
}

TEST_F(ApiDeviceTest, ContextKnowsItsDevice) {
  hetgpuDevice device = nullptr;
  EXPECT_SUCCESS(hetgpuContextGetDevice(context_, &device));
  EXPECT_EQ(device, device_);
}

TEST_F(ApiDeviceTest, LimitsOfAContext) {
  uint64_t value = 1;
  EXPECT_SUCCESS(
      hetgpuContextGetLimit(context_, HETGPU_LIMIT_LAUNCH_TIMEOUT_MS, &value));
  EXPECT_EQ(value, 0u);
  EXPECT_SUCCESS(
      hetgpuContextSetLimit(context_, HETGPU_LIMIT_LAUNCH_TIMEOUT_MS, 20));
  EXPECT_SUCCESS(
      hetgpuContextGetLimit(context_, HETGPU_LIMIT_LAUNCH_TIMEOUT_MS, &value));
  EXPECT_EQ(value, 20u);
  EXPECT_RESULT(HETGPU_ERROR_UNSUPPORTED,
                hetgpuContextSetLimit(context_, HETGPU_LIMIT_HEAP_BYTES, 1));
  EXPECT_RESULT(
      HETGPU_ERROR_INVALID_VALUE,
      hetgpuContextSetLimit(context_, static_cast<hetgpuLimit>(9), 1));
}

TEST_F(ApiDeviceTest, HandlesOfADestroyedContextAreStale) {
  hetgpuStream stream;
  hetgpuEvent event;
  ASSERT_SUCCESS(hetgpuStreamCreate(context_, 0, &stream));
  ASSERT_SUCCESS(hetgpuEventCreate(context_, 0, &event));
  const hetgpuFunction function = Function("nothing");
  hetgpuStream default_stream;
  ASSERT_SUCCESS(hetgpuContextGetDefaultStream(context_, &default_stream));
  ASSERT_SUCCESS(hetgpuContextDestroy(context_));
  uint32_t count;
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuContextDestroy(context_));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuStreamSynchronize(stream));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE,
                hetgpuStreamSynchronize(default_stream));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuEventQuery(event));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE,
                hetgpuModuleGetKernelCount(module_, &count));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuFunctionPrepare(function));
  context_ = nullptr;
}

TEST_F(ApiDeviceTest, ForeignHandlesAreRefused) {
  uint64_t something = 0;
  const auto foreign = [&](auto handle) {
    return reinterpret_cast<decltype(handle)>(&something);
  };
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE,
                hetgpuStreamSynchronize(foreign(hetgpuStream())));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE,
                hetgpuContextDestroy(foreign(hetgpuContext())));
  EXPECT_RESULT(
      HETGPU_ERROR_INVALID_HANDLE,
      hetgpuStreamSynchronize(reinterpret_cast<hetgpuStream>(context_)));
  EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr("names a context"));
}

TEST_F(ApiDeviceTest, Counters) {
  uint64_t before = 0, after = 0;
  ASSERT_SUCCESS(hetgpuGetCounter(HETGPU_COUNTER_LAUNCHES, &before));
  ASSERT_SUCCESS(Launch("nothing"));
  ASSERT_SUCCESS(hetgpuGetCounter(HETGPU_COUNTER_LAUNCHES, &after));
  EXPECT_EQ(after, before + 1);
  EXPECT_STREQ(hetgpuCounterName(HETGPU_COUNTER_LAUNCHES), "launches");
  EXPECT_STREQ(hetgpuCounterName(HETGPU_COUNTER_COUNT), "?");
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuGetCounter(HETGPU_COUNTER_COUNT, &after));
}

TEST(ApiEnvironmentDeathTest, WrongEnvironmentFailsEveryCall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto probe = [] {
    setenv("HETGPU_CPU_MODE", "warp9", 1);
    uint32_t count;
    const bool refused =
        hetgpuInit(0) == HETGPU_ERROR_INVALID_ENVIRONMENT &&
        hetgpuDeviceCount(&count) == HETGPU_ERROR_INVALID_ENVIRONMENT;
    std::fputs(hetgpuGetLastErrorDetail(), stderr);
    std::exit(refused ? 0 : 1);
  };
  EXPECT_EXIT(probe(), testing::ExitedWithCode(0),
              "HETGPU_CPU_MODE is \"warp9\", expected auto, simd");
}

}  // namespace
}  // namespace hetgpu::runtime
