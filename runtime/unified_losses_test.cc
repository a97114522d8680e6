// Unified memory when a device is lost, or loses its work in flight.
#include <string>
#include <vector>

#include "runtime/testing/unified_fixture.h"

namespace hetgpu::runtime {
namespace {

// Device 1 is busy with a kernel that writes to one page, and everything that
// its transfers have to do waits for that.
class LostWorkTest : public UnifiedTest {
 protected:
  void SetUp() override {
    UnifiedTest::SetUp();
    data_ = Alloc(kMiB);
    out_ = Alloc(kMiB);
    EXPECT_SUCCESS(Launch(1, "set", data_, 100, 1));
    EXPECT_SUCCESS(Launch(0, "set", out_, 100, 0));
    EXPECT_SUCCESS(hetgpuContextSynchronize(Context(1)));
    EXPECT_SUCCESS(hetgpuContextSynchronize(Context(0)));
    Sim().gate_open = false;
    EXPECT_SUCCESS(Launch(1, "gate", data_));
    // On this device, which waits for nobody's sake but its own.
    EXPECT_SUCCESS(Launch(0, "mix", out_, data_, 100));
  }

  void LoseWork() {
    ++Sim().work_losses;
    EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TIMEOUT,
                  hetgpuContextSynchronize(Context(1)));
    Sim().gate_open = true;
  }
  // What commands on device 0 did without the data they waited for is void, and
  // that is said once.
  void ExpectVoid() {
    EXPECT_RESULT(HETGPU_ERROR_LAUNCH_FAILED,
                  hetgpuStreamSynchronize(Stream(0)));
    EXPECT_NE(std::string(hetgpuGetLastErrorDetail()).find("void"),
              std::string::npos)
        << hetgpuGetLastErrorDetail();
    EXPECT_SUCCESS(hetgpuStreamSynchronize(Stream(0)));
  }

  hetgpuDevicePtr data_ = 0, out_ = 0;
};

TEST_F(LostWorkTest, UnfinishedCopiesAreMadeAgain) {
  LoseWork();
  ExpectVoid();
  EXPECT_SUCCESS(Launch(0, "set", out_, 100, 0));
  EXPECT_SUCCESS(Launch(0, "mix", out_, data_, 100));
  EXPECT_SUCCESS(hetgpuStreamSynchronize(Stream(0)));
  // 3 i + (i + 1) + 1, of what device 1 had before.
  for (int device : {0, 1, 2}) EXPECT_EQ(Word(device, out_ + 80), 42u);
  EXPECT_EQ(Word(2, data_ + 80), 11u);
}

TEST_F(LostWorkTest, WhatTheHostHadSentIsSentAgain) {
  // Not side by side: they travel one by one.
  const hetgpuDevicePtr small = Alloc(1600), result = Alloc(kMiB);
  const std::vector<uint64_t> first(50, 7), second(50, 8);
  EXPECT_SUCCESS(hetgpuMemCopyHtoD(Context(2), small, first.data(), 400));
  EXPECT_SUCCESS(
      hetgpuMemCopyHtoD(Context(2), small + 800, second.data(), 400));
  EXPECT_SUCCESS(Launch(1, "mix", result, small, 10));
  LoseWork();
  for (int device : {2, 1}) {
    EXPECT_EQ(Word(device, small), 7u);
    EXPECT_EQ(Word(device, small + 1192), 8u);
  }
}

TEST_F(LostWorkTest, ALostDeviceMakesWhatOthersDidVoid) {
  Sim().is_lost = true;
  Sim().gate_open = true;
  ExpectVoid();
  // Nothing waits any more.
  EXPECT_SUCCESS(Launch(0, "set", out_, 100, 3));
  EXPECT_SUCCESS(hetgpuStreamSynchronize(Stream(0)));
  EXPECT_EQ(Word(0, out_ + 80), 13u);
  Sim().is_lost = false;
}

}  // namespace
}  // namespace hetgpu::runtime
