#include "backends/init.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace hetgpu {
namespace {

int CountNamed(std::string_view name) {
  int count = 0;
  for (const auto& driver : CreateDrivers()) count += driver->name() == name;
  return count;
}

TEST(CreateDriversTest, NullIsListedOnlyOnRequest) {
  unsetenv("HETGPU_ENABLE_NULL");
  EXPECT_EQ(CountNamed("null"), 0);
  setenv("HETGPU_ENABLE_NULL", "0", 1);
  EXPECT_EQ(CountNamed("null"), 0);
  setenv("HETGPU_ENABLE_NULL", "1", 1);
  EXPECT_EQ(CountNamed("null"), 1);
  unsetenv("HETGPU_ENABLE_NULL");
}

TEST(CheckIsolationTest, RefusesUnknownBackendsByName) {
  for (const char* good : {"", "cpu", "cuda,cpu"}) {
    setenv("HETGPU_ISOLATE", good, 1);
    EXPECT_TRUE(CheckIsolation().ok()) << good;
  }
  for (const char* bad : {"x", "cpu,x", "null,x"}) {
    setenv("HETGPU_ISOLATE", bad, 1);
    EXPECT_TRUE(absl::IsInvalidArgument(CheckIsolation())) << bad;
  }
  setenv("HETGPU_ISOLATE", "cuda, cpu", 1);
  EXPECT_EQ(std::string(CheckIsolation().message()),
            "HETGPU_ISOLATE names \" cpu\", expected backends out of cpu, cuda, "
            "separated by commas");
  unsetenv("HETGPU_ISOLATE");
  EXPECT_TRUE(CheckIsolation().ok());
}

TEST(CreateDriversTest, TheProcessorIsAlwaysThere) {
  EXPECT_EQ(CountNamed("cpu"), 1);
  for (const auto& driver : CreateDrivers()) {
    if (driver->name() != "cpu") continue;
    const auto devices = driver->Enumerate();
    ASSERT_TRUE(devices.ok()) << devices.status();
    ASSERT_EQ(devices->size(), 1u);
    EXPECT_GT((*devices)[0].compute_units, 0u);
    EXPECT_TRUE(driver->Open(0).ok());
  }
}

}  // namespace
}  // namespace hetgpu
