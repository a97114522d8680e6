#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

using testing::HasSubstr;

class ApiStreamTest : public FakeTest {
 protected:
  hetgpuStream NewStream() {
    hetgpuStream stream = nullptr;
    EXPECT_SUCCESS(hetgpuStreamCreate(context_, 0, &stream));
    return stream;
  }
  hetgpuEvent NewEvent() {
    hetgpuEvent event = nullptr;
    EXPECT_SUCCESS(hetgpuEventCreate(context_, 0, &event));
    return event;
  }
};

TEST_F(ApiStreamTest, LaunchesBothWays) {
  const hetgpuDevicePtr where = Alloc(8);
  const auto read = [&] {
    uint32_t value = 0;
    EXPECT_SUCCESS(hetgpuMemCopyDtoH(context_, &value, where, 4));
    return value;
  };
  hetgpuDevicePtr pointer = where;
  uint32_t what = 41;
  void* args[] = {&pointer, &what};
  ASSERT_SUCCESS(hetgpuLaunchKernel(Function("store"), {1, 1, 1}, {1, 1, 1}, 0,
                                    nullptr, args));
  EXPECT_EQ(read(), 41u);
  char block[12];
  what = 42;
  std::memcpy(block, &pointer, 8);
  std::memcpy(block + 8, &what, 4);
  ASSERT_SUCCESS(hetgpuLaunchKernelPacked(Function("store"), {1, 1, 1},
                                          {1, 1, 1}, 0, nullptr, block, 12));
  EXPECT_EQ(read(), 42u);
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ARGUMENTS,
                hetgpuLaunchKernelPacked(Function("store"), {1, 1, 1},
                                         {1, 1, 1}, 0, nullptr, block, 11));
}

TEST_F(ApiStreamTest, LaunchesAfterAGoodOneAreCheckedWhereTheyDiffer) {
  const hetgpuFunction nothing = Function("nothing");
  const auto launch = [&](hetgpuDim3 grid, hetgpuDim3 block, uint32_t shared) {
    return hetgpuLaunchKernel(nothing, grid, block, shared, nullptr, nullptr);
  };
  for (int round = 0; round < 3; ++round) {
    EXPECT_SUCCESS(launch({4, 1, 1}, {32, 1, 1}, 0));
    EXPECT_SUCCESS(launch({4, 1, 1}, {32, 1, 1}, 0));
    EXPECT_RESULT(HETGPU_ERROR_INVALID_CONFIGURATION,
                  launch({0, 1, 1}, {32, 1, 1}, 0));
    EXPECT_RESULT(HETGPU_ERROR_INVALID_CONFIGURATION,
                  launch({4, 1, 1}, {1025, 1, 1}, 0));
    EXPECT_RESULT(HETGPU_ERROR_OUT_OF_RESOURCES,
                  launch({4, 1, 1}, {32, 1, 1}, UINT32_MAX));
    EXPECT_SUCCESS(launch({5, 1, 1}, {32, 1, 1}, 0));
    if (round == 1) EXPECT_SUCCESS(hetgpuContextSynchronize(context_));
  }
}

TEST_F(ApiStreamTest, AModuleUnloadedBetweenLaunchesIsNotLaunchedAgain) {
  const hetgpuDevicePtr where = Alloc(8);
  for (uint32_t value = 1; value < 6; ++value) {
    hetgpuModule module = nullptr;
    hetgpuFunction store = nullptr;
    ASSERT_SUCCESS(hetgpuModuleLoadData(context_, "ok", 2, nullptr, &module));
    ASSERT_SUCCESS(hetgpuModuleGetFunction(module, "store", &store));
    hetgpuDevicePtr pointer = where;
    void* args[] = {&pointer, &value};
    const auto launch = [&] {
      return hetgpuLaunchKernel(store, {1, 1, 1}, {1, 1, 1}, 0, nullptr, args);
    };
    ASSERT_SUCCESS(launch());
    ASSERT_SUCCESS(launch());
    if (value % 2 == 0) ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
    ASSERT_SUCCESS(hetgpuModuleUnload(module));
    EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, launch());
    uint32_t read = 0;
    ASSERT_SUCCESS(hetgpuMemCopyDtoH(context_, &read, where, 4));
    EXPECT_EQ(read, value);
  }
}

TEST_F(ApiStreamTest, FailedLaunchIsReportedOnceWithItsPlace) {
  const hetgpuStream stream = NewStream();
  ASSERT_SUCCESS(Launch("fail_1", stream));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS,
                hetgpuStreamSynchronize(stream));
  EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr("fail_1"));
  hetgpuLaunchErrorInfo info = {};
  info.struct_size = sizeof(info);
  ASSERT_SUCCESS(hetgpuGetLastLaunchError(&info));
  EXPECT_EQ(info.kind, HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS);
  EXPECT_STREQ(info.kernel, "fail_1");
  EXPECT_EQ(info.has_thread, 1u);
  EXPECT_EQ(info.block.y, 2u);
  EXPECT_EQ(info.thread.z, 6u);
  EXPECT_EQ(info.line, 7u);
  EXPECT_EQ(info.address, 0x10u);
  EXPECT_SUCCESS(hetgpuStreamSynchronize(stream));
}

TEST_F(ApiStreamTest, WorkBehindAFailureIsSkipped) {
  const hetgpuStream stream = NewStream();
  const hetgpuDevicePtr a = Alloc(4);
  ASSERT_SUCCESS(hetgpuMemFill(context_, a, 0, 4, 1));
  ASSERT_SUCCESS(Launch("fail_3", stream));
  ASSERT_SUCCESS(hetgpuMemFillAsync(a, 5, 4, 1, stream));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TRAP, hetgpuStreamSynchronize(stream));
  uint32_t value = 9;
  ASSERT_SUCCESS(hetgpuMemCopyDtoH(context_, &value, a, 4));
  EXPECT_EQ(value, 0u);
}

TEST_F(ApiStreamTest, FailureStaysWithItsStream) {
  const hetgpuStream bad = NewStream(), good = NewStream();
  ASSERT_SUCCESS(Launch("fail_3", bad));
  ASSERT_SUCCESS(Launch("nothing", good));
  EXPECT_SUCCESS(hetgpuStreamSynchronize(good));
  EXPECT_SUCCESS(hetgpuMemFree(context_, Alloc(4)));  // waits for both
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TRAP, hetgpuStreamSynchronize(bad));
}

TEST_F(ApiStreamTest, SynchronousCopyReportsTheDefaultStreamsFailure) {
  const hetgpuDevicePtr a = Alloc(4);
  uint32_t value = 0;
  ASSERT_SUCCESS(Launch("fail_2"));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_MISALIGNED_ADDRESS,
                hetgpuMemCopyDtoH(context_, &value, a, 4));
  EXPECT_SUCCESS(hetgpuMemCopyDtoH(context_, &value, a, 4));
}

TEST_F(ApiStreamTest, ContextSynchronizeReportsEachFailureInTurn) {
  ASSERT_SUCCESS(Launch("fail_1", NewStream()));
  ASSERT_SUCCESS(Launch("fail_3", NewStream()));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS,
                hetgpuContextSynchronize(context_));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TRAP, hetgpuContextSynchronize(context_));
  EXPECT_SUCCESS(hetgpuContextSynchronize(context_));
}

TEST_F(ApiStreamTest, LoadingAModuleIsNotDisturbedByAFailure) {
  ASSERT_SUCCESS(Launch("fail_1"));
  hetgpuModule module;
  ASSERT_SUCCESS(hetgpuModuleLoadData(context_, "ok", 2, nullptr, &module));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS,
                hetgpuContextSynchronize(context_));
}

TEST_F(ApiStreamTest, QueryCancelAndTimeout) {
  const hetgpuStream stream = NewStream();
  EXPECT_SUCCESS(hetgpuStreamQuery(stream));
  ASSERT_SUCCESS(Launch("spin", stream));
  EXPECT_RESULT(HETGPU_ERROR_NOT_READY, hetgpuStreamQuery(stream));
  ASSERT_SUCCESS(hetgpuStreamCancel(stream));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_CANCELLED, hetgpuStreamSynchronize(stream));
  EXPECT_SUCCESS(hetgpuStreamQuery(stream));
  ASSERT_SUCCESS(
      hetgpuContextSetLimit(context_, HETGPU_LIMIT_LAUNCH_TIMEOUT_MS, 10));
  ASSERT_SUCCESS(Launch("spin", stream));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TIMEOUT, hetgpuStreamSynchronize(stream));
}

TEST_F(ApiStreamTest, QueryReportsAFailure) {
  const hetgpuStream stream = NewStream();
  ASSERT_SUCCESS(Launch("fail_4", stream));
  hetgpuResult result;
  while ((result = hetgpuStreamQuery(stream)) == HETGPU_ERROR_NOT_READY) {
    std::this_thread::yield();
  }
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ASSERT, result);
  EXPECT_SUCCESS(hetgpuStreamQuery(stream));
}

TEST_F(ApiStreamTest, NotReadyIsNoFailure) {
  (void)hetgpuContextDestroy(nullptr);
  const std::string before = hetgpuGetLastErrorDetail();
  const hetgpuStream stream = NewStream();
  ASSERT_SUCCESS(Launch("spin", stream));
  EXPECT_EQ(hetgpuStreamQuery(stream), HETGPU_ERROR_NOT_READY);
  EXPECT_EQ(before, hetgpuGetLastErrorDetail());
  ASSERT_SUCCESS(hetgpuStreamCancel(stream));
}

TEST_F(ApiStreamTest, HostFunctionRunsInOrder) {
  const hetgpuStream stream = NewStream();
  std::atomic<int> calls = 0;
  const auto add = [](void* user) { ++*static_cast<std::atomic<int>*>(user); };
  ASSERT_SUCCESS(hetgpuStreamHostFunction(stream, add, &calls));
  ASSERT_SUCCESS(hetgpuStreamHostFunction(stream, add, &calls));
  ASSERT_SUCCESS(hetgpuStreamSynchronize(stream));
  EXPECT_EQ(calls, 2);
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuStreamHostFunction(stream, nullptr, nullptr));
}

TEST_F(ApiStreamTest, DefaultStreamBelongsToTheContext) {
  hetgpuStream stream = nullptr;
  ASSERT_SUCCESS(hetgpuContextGetDefaultStream(context_, &stream));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE, hetgpuStreamDestroy(stream));
  hetgpuContext context = nullptr;
  ASSERT_SUCCESS(hetgpuStreamGetContext(stream, &context));
  EXPECT_EQ(context, context_);
}

TEST_F(ApiStreamTest, DestroyedStreamIsStale) {
  const hetgpuStream stream = NewStream();
  ASSERT_SUCCESS(hetgpuStreamDestroy(stream));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuStreamDestroy(stream));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, Launch("nothing", stream));
}

TEST_F(ApiStreamTest, EventsMeasureTime) {
  const hetgpuEvent start = NewEvent(), end = NewEvent();
  double ms = -1;
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuEventElapsedMs(start, end, &ms));
  ASSERT_SUCCESS(hetgpuEventRecord(start, nullptr));
  hetgpuStream stream;
  ASSERT_SUCCESS(hetgpuContextGetDefaultStream(context_, &stream));
  ASSERT_SUCCESS(hetgpuStreamHostFunction(
      stream,
      [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); },
      nullptr));
  ASSERT_SUCCESS(hetgpuEventRecord(end, nullptr));
  ASSERT_SUCCESS(hetgpuEventSynchronize(end));
  ASSERT_SUCCESS(hetgpuEventElapsedMs(start, end, &ms));
  EXPECT_GE(ms, 5.0);
  EXPECT_LT(ms, 5000.0);
}

TEST_F(ApiStreamTest, EventQueryAndWaitAcrossStreams) {
  const hetgpuStream first = NewStream(), second = NewStream();
  const hetgpuEvent event = NewEvent();
  EXPECT_SUCCESS(hetgpuEventQuery(event));
  EXPECT_SUCCESS(hetgpuEventSynchronize(event));
  EXPECT_SUCCESS(hetgpuStreamWaitEvent(second, event));
  ASSERT_SUCCESS(Launch("spin", first));
  ASSERT_SUCCESS(hetgpuEventRecord(event, first));
  ASSERT_SUCCESS(hetgpuStreamWaitEvent(second, event));
  EXPECT_RESULT(HETGPU_ERROR_NOT_READY, hetgpuEventQuery(event));
  EXPECT_RESULT(HETGPU_ERROR_NOT_READY, hetgpuStreamQuery(second));
  ASSERT_SUCCESS(hetgpuStreamCancel(first));
  EXPECT_SUCCESS(hetgpuStreamSynchronize(second));
  EXPECT_SUCCESS(hetgpuEventQuery(event));
}

TEST_F(ApiStreamTest, RecordingAgainDoesNotDisturbWaiters) {
  const hetgpuStream first = NewStream(), second = NewStream();
  const hetgpuEvent event = NewEvent();
  ASSERT_SUCCESS(hetgpuEventRecord(event, first));
  ASSERT_SUCCESS(hetgpuStreamWaitEvent(second, event));
  ASSERT_SUCCESS(Launch("spin", first));
  ASSERT_SUCCESS(hetgpuEventRecord(event, first));
  EXPECT_SUCCESS(hetgpuStreamSynchronize(second));
  EXPECT_RESULT(HETGPU_ERROR_NOT_READY, hetgpuEventQuery(event));
  ASSERT_SUCCESS(hetgpuEventDestroy(event));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuEventQuery(event));
  ASSERT_SUCCESS(hetgpuStreamCancel(first));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_CANCELLED, hetgpuStreamSynchronize(first));
}

TEST_F(ApiStreamTest, RecordingForEverKeepsWorking) {
  const hetgpuStream first = NewStream(), second = NewStream();
  const hetgpuEvent event = NewEvent();
  for (int i = 0; i < 5000; ++i) {
    ASSERT_SUCCESS(hetgpuEventRecord(event, first));
    if (i % 3 == 0) ASSERT_SUCCESS(hetgpuStreamWaitEvent(second, event));
  }
  EXPECT_SUCCESS(hetgpuEventSynchronize(event));
  EXPECT_SUCCESS(hetgpuContextSynchronize(context_));
}

TEST_F(ApiStreamTest, EventBehindAFailureIsReached) {
  const hetgpuStream stream = NewStream();
  const hetgpuEvent event = NewEvent();
  ASSERT_SUCCESS(Launch("fail_1", stream));
  ASSERT_SUCCESS(hetgpuEventRecord(event, stream));
  EXPECT_SUCCESS(hetgpuEventSynchronize(event));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS,
                hetgpuStreamSynchronize(stream));
}

TEST_F(ApiStreamTest, PrintfGoesToTheCallback) {
  std::string printed;
  const auto append = [](void* user, const char* text, size_t size) {
    static_cast<std::string*>(user)->append(text, size);
  };
  ASSERT_SUCCESS(hetgpuContextSetPrintf(context_, append, &printed));
  ASSERT_SUCCESS(Launch("print"));
  ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
  EXPECT_EQ(printed, "hello\n");
  ASSERT_SUCCESS(hetgpuContextSetPrintf(context_, nullptr, nullptr));
}

TEST_F(ApiStreamTest, FlagsAreReserved) {
  hetgpuStream stream = nullptr;
  hetgpuEvent event = nullptr;
  hetgpuContext context = nullptr;
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuStreamCreate(context_, 1, &stream));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuEventCreate(context_, 1, &event));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuContextCreate(device_, 2, &context));
}

}  // namespace
}  // namespace hetgpu::runtime
