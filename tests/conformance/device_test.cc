#include "tests/conformance/conformance.h"

namespace hetgpu::conformance {
namespace {

using DeviceSuite = DeviceTest;

TEST_P(DeviceSuite, PropertiesMakeSense) {
  hetgpuDeviceProperties properties = {};
  properties.struct_size = sizeof(properties);
  ASSERT_SUCCESS(hetgpuDeviceGetProperties(device_, &properties));
  EXPECT_STRNE(properties.name, "");
  EXPECT_STRNE(properties.target, "");
  EXPECT_EQ(GetParam().rfind(properties.backend, 0), 0u);
  EXPECT_GE(properties.total_memory, uint64_t{256} << 20);
  EXPECT_GE(properties.compute_units, 1u);
  EXPECT_EQ(properties.warp_size, 32u);
  EXPECT_GE(properties.max_threads_per_block, 1024u);
  EXPECT_GE(properties.max_grid.x, 2147483647u);
  EXPECT_GE(properties.max_grid.y, 65535u);
  EXPECT_GE(properties.max_grid.z, 65535u);
  EXPECT_GE(properties.max_block.z, 64u);
  EXPECT_GE(properties.max_shared_per_block, 49152u);
}

TEST_P(DeviceSuite, NameFindsTheDevice) {
  hetgpuDevice same = nullptr;
  ASSERT_SUCCESS(hetgpuDeviceGetByName(GetParam().c_str(), &same));
  EXPECT_EQ(same, device_);
  hetgpuDevice found = nullptr;
  ASSERT_SUCCESS(hetgpuContextGetDevice(context_, &found));
  EXPECT_EQ(found, device_);
}

TEST_P(DeviceSuite, ContextsAreIndependent) {
  hetgpuContext other = nullptr;
  ASSERT_SUCCESS(hetgpuContextCreate(device_, 0, &other));
  hetgpuDevicePtr mine = Alloc(64), theirs = 0;
  ASSERT_SUCCESS(hetgpuMemAlloc(other, 64, &theirs));
  ASSERT_SUCCESS(hetgpuContextDestroy(other));
  EXPECT_SUCCESS(hetgpuMemFill(context_, mine, 1, 1, 64));
  ExpectUsable();
}

TEST_P(DeviceSuite, ContextsComeAndGo) {
  for (int i = 0; i < 20; ++i) {
    hetgpuContext context = nullptr;
    hetgpuDevicePtr address = 0;
    ASSERT_SUCCESS(hetgpuContextCreate(device_, 0, &context));
    ASSERT_SUCCESS(hetgpuMemAlloc(context, 1 << 20, &address));
    ASSERT_SUCCESS(hetgpuMemFill(context, address, i, 1, 1 << 20));
    ASSERT_SUCCESS(hetgpuContextDestroy(context));
  }
}

HETGPU_CONFORMANCE(DeviceSuite);

}  // namespace
}  // namespace hetgpu::conformance
