#include "backends/cuda/window.h"

#include "gtest/gtest.h"

namespace hetgpu::cuda {
namespace {

constexpr Window kWindow = {0x600000000000, 0x10000000000,
                            static_cast<uint64_t>(-0x100000000000)};

TEST(WindowTest, ATargetNamesIt) {
  const std::string target = "sm_90" + TargetSuffix(kWindow);
  EXPECT_EQ(target, "sm_90/arena=600000000000:10000000000:fffff00000000000");
  EXPECT_EQ(WindowOf(target), kWindow);
  EXPECT_EQ(WithoutWindow(target), "sm_90");
}

TEST(WindowTest, AUsualTargetNamesNone) {
  EXPECT_EQ(TargetSuffix(Window{kWindow.base, kWindow.bytes, 0}), "");
  EXPECT_EQ(WindowOf("sm_90"), Window());
  EXPECT_EQ(WithoutWindow("sm_90"), "sm_90");
}

TEST(WindowTest, WhatIsNoWindowIsNone) {
  for (const char* target :
       {"sm_90/arena=", "sm_90/arena=1", "sm_90/arena=1:2",
        "sm_90/arena=1:2:3:4", "sm_90/arena=1:0:3", "sm_90/arena=x:2:3",
        "sm_90/arena=1:2:3 "}) {
    EXPECT_EQ(WindowOf(target), std::nullopt) << target;
  }
}

TEST(WindowTest, RangesThatOverlapAreNotApart) {
  EXPECT_TRUE(kWindow.IsApart());
  for (const uint64_t delta : {uint64_t{0}, uint64_t{4096}, -uint64_t{4096},
                               kWindow.bytes - 1, -(kWindow.bytes - 1)}) {
    EXPECT_FALSE((Window{kWindow.base, kWindow.bytes, delta}.IsApart()))
        << delta;
  }
  EXPECT_TRUE(
      (Window{kWindow.base, kWindow.bytes, kWindow.bytes}.IsApart()));
}

}  // namespace
}  // namespace hetgpu::cuda
