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

}  // namespace
}  // namespace hetgpu
