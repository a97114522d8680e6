// Contexts whose device is lost: what they go on with, and what they say.
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ReopenTest : public FakeTest {
 protected:
  uint32_t Read(hetgpuDevicePtr address) {
    uint32_t value = 0;
    EXPECT_SUCCESS(hetgpuMemCopyDtoH(context_, &value, address, 4));
    return value;
  }
  hetgpuResult Store(hetgpuDevicePtr where, uint32_t what,
                     hetgpuStream stream = nullptr) {
    void* args[] = {&where, &what};
    return hetgpuLaunchKernel(Function("store"), {1, 1, 1}, {1, 1, 1}, 0,
                              stream, args);
  }
  hetgpuStream NewStream() {
    hetgpuStream stream = nullptr;
    EXPECT_SUCCESS(hetgpuStreamCreate(context_, 0, &stream));
    return stream;
  }
  void Lose() {
    EXPECT_SUCCESS(Launch("lose"));
    EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS,
                  hetgpuContextSynchronize(context_));
  }
};

TEST_F(ReopenTest, MemoryKernelsAndStreamsGoOn) {
  const hetgpuDevicePtr a = Alloc(4096);
  const hetgpuStream stream = NewStream();
  ASSERT_SUCCESS(Store(a, 77));
  ASSERT_SUCCESS(Store(a + 4, 78, stream));
  ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
  for (int i = 0; i < 5; ++i) {
    Lose();
    EXPECT_EQ(Read(a), 77u);
    EXPECT_EQ(Read(a + 4), 78u);
    ASSERT_SUCCESS(Store(a + 8, 100 + i, stream));
    ASSERT_SUCCESS(hetgpuStreamSynchronize(stream));
    EXPECT_EQ(Read(a + 8), 100u + i);
  }
  EXPECT_NE(Alloc(256), a);
  EXPECT_SUCCESS(hetgpuMemFree(context_, a));
}

TEST_F(ReopenTest, TheFailureTellsWhatWasKeptAndLost) {
  Alloc(4096);
  hetgpuModule native = nullptr;
  ASSERT_SUCCESS(
      hetgpuModuleLoadData(context_, "native", 6, "n.ptx", &native));
  EXPECT_SUCCESS(Launch("lose"));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS,
                hetgpuContextSynchronize(context_));
  // The module of the fixture has its 32 bytes of variables in an allocation.
  EXPECT_THAT(hetgpuGetLastErrorDetail(),
              AllOf(HasSubstr("lose: "), HasSubstr("the device was re-opened"),
                    HasSubstr("kept: 4128 bytes"),
                    HasSubstr("24 bytes of module variables")));
  hetgpuLaunchErrorInfo info = {};
  info.struct_size = sizeof(info);
  ASSERT_SUCCESS(hetgpuGetLastLaunchError(&info));
  EXPECT_STREQ(info.kernel, "lose");
  EXPECT_THAT(info.text, HasSubstr("the device was re-opened"));
  EXPECT_SUCCESS(hetgpuContextSynchronize(context_));
}

TEST_F(ReopenTest, VariablesAreWhereTheModuleSays) {
  hetgpuModule native = nullptr;
  ASSERT_SUCCESS(
      hetgpuModuleLoadData(context_, "native", 6, "n.ptx", &native));
  hetgpuDevicePtr before = 0, after = 0, kept = 0;
  ASSERT_SUCCESS(hetgpuModuleGetGlobal(native, "table", &before, nullptr));
  ASSERT_SUCCESS(hetgpuModuleGetGlobal(module_, "table", &kept, nullptr));
  const uint32_t nine = 9;
  ASSERT_SUCCESS(hetgpuMemCopyHtoD(context_, before, &nine, 4));
  ASSERT_SUCCESS(hetgpuMemCopyHtoD(context_, kept, &nine, 4));
  Lose();
  ASSERT_SUCCESS(hetgpuModuleGetGlobal(native, "table", &after, nullptr));
  EXPECT_EQ(Read(after), 0u);
  EXPECT_EQ(Read(kept), 9u);
  EXPECT_SUCCESS(hetgpuModuleUnload(native));
  uint32_t value = 0;
  EXPECT_RESULT(HETGPU_ERROR_USE_AFTER_FREE,
                hetgpuMemCopyDtoH(context_, &value, after, 4));
}

TEST_F(ReopenTest, WorkBehindTheFailureIsSkippedUntilItIsReported) {
  const hetgpuStream stream = NewStream();
  const hetgpuDevicePtr a = Alloc(256);
  ASSERT_SUCCESS(Store(a, 1));
  ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
  hetgpuEvent behind = nullptr;
  ASSERT_SUCCESS(hetgpuEventCreate(context_, 0, &behind));
  ASSERT_SUCCESS(Launch("lose", stream));
  ASSERT_SUCCESS(hetgpuEventRecord(behind, stream));
  ASSERT_SUCCESS(hetgpuEventSynchronize(behind));
  // Another stream finds the loss and moves.
  EXPECT_EQ(Read(a), 1u);
  ASSERT_SUCCESS(Store(a, 2, stream));
  EXPECT_EQ(Read(a), 1u);
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS,
                hetgpuStreamSynchronize(stream));
  EXPECT_SUCCESS(hetgpuStreamSynchronize(stream));
  ASSERT_SUCCESS(Store(a, 3, stream));
  ASSERT_SUCCESS(hetgpuStreamSynchronize(stream));
  EXPECT_EQ(Read(a), 3u);
}

TEST_F(ReopenTest, EventsFromBeforeHaveBeenReached) {
  const hetgpuStream stream = NewStream();
  hetgpuEvent event = nullptr, later = nullptr;
  ASSERT_SUCCESS(hetgpuEventCreate(context_, 0, &event));
  ASSERT_SUCCESS(hetgpuEventCreate(context_, 0, &later));
  ASSERT_SUCCESS(hetgpuEventRecord(event, stream));
  Lose();
  EXPECT_SUCCESS(hetgpuEventSynchronize(event));
  ASSERT_SUCCESS(hetgpuStreamWaitEvent(stream, event));
  ASSERT_SUCCESS(hetgpuEventRecord(later, stream));
  EXPECT_SUCCESS(hetgpuEventSynchronize(later));
  double milliseconds = -1;
  EXPECT_SUCCESS(hetgpuEventElapsedMs(event, later, &milliseconds));
  EXPECT_GE(milliseconds, 0);
  EXPECT_SUCCESS(hetgpuEventDestroy(event));
}

TEST_F(ReopenTest, PrintingGoesOn) {
  std::string text;
  ASSERT_SUCCESS(hetgpuContextSetPrintf(
      context_,
      [](void* user, const char* data, size_t size) {
        static_cast<std::string*>(user)->append(data, size);
      },
      &text));
  Lose();
  ASSERT_SUCCESS(Launch("print"));
  ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
  EXPECT_EQ(text, "hello\n");
}

TEST_F(ReopenTest, ADeviceThatCannotBeReopenedSaysSo) {
  const hetgpuDevicePtr a = Alloc(256);
  EXPECT_SUCCESS(Launch("lose_all"));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS,
                hetgpuContextSynchronize(context_));
  EXPECT_THAT(hetgpuGetLastErrorDetail(),
              HasSubstr("the device could not be re-opened: fake: for good"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_RESULT(HETGPU_ERROR_NO_DEVICE, Store(a, 1));
    EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr("the device is lost"));
  }
  hetgpuDevicePtr b = 0;
  EXPECT_RESULT(HETGPU_ERROR_NO_DEVICE, hetgpuMemAlloc(context_, 256, &b));
}

TEST_F(ReopenTest, ManyThreadsMoveOnce) {
  const hetgpuDevicePtr a = Alloc(4096);
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const hetgpuStream stream = NewStream();
      for (int round = 0; round < 50; ++round) {
        if (i == 0 && round % 10 == 0) {
          EXPECT_SUCCESS(Launch("lose", stream));
          EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS,
                        hetgpuStreamSynchronize(stream));
        }
        // Either done, or lost with the device and said so: never neither.
        const hetgpuDevicePtr mine = a + 64 * i;
        const uint32_t value = 1000 * i + round;
        EXPECT_SUCCESS(Store(mine, value, stream));
        uint32_t seen = 0;
        EXPECT_SUCCESS(hetgpuMemCopyDtoHAsync(&seen, mine, 4, stream));
        if (hetgpuStreamSynchronize(stream) == HETGPU_SUCCESS) {
          EXPECT_EQ(seen, value);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_SUCCESS(hetgpuContextSynchronize(context_));
}

}  // namespace
}  // namespace hetgpu::runtime
