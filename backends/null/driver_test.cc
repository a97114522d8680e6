#include "backends/null/driver.h"

#include <gtest/gtest.h>

#include "backends/null/device.h"

namespace hetgpu::null {
namespace {

TEST(NullDriverTest, IsAbsentWithAReason) {
  auto driver = CreateDriver();
  EXPECT_EQ(driver->name(), "null");
  const auto devices = driver->Enumerate();
  EXPECT_TRUE(absl::IsUnavailable(devices.status()));
  EXPECT_NE(devices.status().message().find("skeleton"), std::string::npos);
  EXPECT_TRUE(absl::IsUnavailable(driver->Open(0).status()));
}

TEST(NullDeviceTest, RefusesByName) {
  NullDevice device(DeviceInfo{});
  EXPECT_TRUE(absl::IsResourceExhausted(device.Allocate(16).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(device.Free(4096)));
  auto queue = device.CreateQueue();
  ASSERT_TRUE(queue.ok());
  EXPECT_TRUE(absl::IsUnimplemented((*queue)->Launch({})));
  EXPECT_TRUE((*queue)->Synchronize(nullptr).ok());
}

}  // namespace
}  // namespace hetgpu::null
