#include <gtest/gtest.h>

#include "backends/common/driver.h"

namespace hetgpu {
namespace {

TEST(DescribeTest, NamesKernelAddressPlaceAndLine) {
  LaunchError error;
  error.kind = LaunchError::Kind::kIllegalAddress;
  error.kernel = "vecadd";
  error.has_address = true;
  error.address = 0x10;
  error.has_thread = true;
  error.thread = {3, 0, 0};
  error.line = 41;
  EXPECT_EQ(Describe(error),
            "vecadd: illegal address 0x10 at block (0,0,0) thread (3,0,0), "
            "PTX line 41");
}

TEST(DescribeTest, LeavesOutWhatIsNotKnown) {
  LaunchError error;
  error.kind = LaunchError::Kind::kTimeout;
  error.kernel = "spin";
  error.detail = "stopped after 20 ms";
  EXPECT_EQ(Describe(error), "spin: timeout: stopped after 20 ms");
}

TEST(DescribeTest, AnAddressMayBeUnknown) {
  LaunchError error;
  error.kernel = "k";
  error.kind = LaunchError::Kind::kMisalignedAddress;
  EXPECT_EQ(Describe(error), "k: misaligned address");
  error.kind = LaunchError::Kind::kIllegalAddress;
  EXPECT_EQ(Describe(error), "k: illegal address");
  error.has_address = true;
  EXPECT_EQ(Describe(error), "k: illegal address 0x0");
}

TEST(DescribeTest, EveryKindHasItsOwnName) {
  std::vector<std::string> seen;
  for (int kind = 0; kind <= 10; ++kind) {
    LaunchError error;
    error.kind = static_cast<LaunchError::Kind>(kind);
    const std::string text = Describe(error);
    EXPECT_EQ(text.find("unknown"), std::string::npos) << kind;
    for (const std::string& other : seen) EXPECT_NE(text, other);
    seen.push_back(text);
  }
}

}  // namespace
}  // namespace hetgpu
