// Streams and events.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/conformance/conformance.h"

namespace hetgpu::conformance {
namespace {

class StreamSuite : public DeviceTest {
 protected:
  // A kernel that runs until Release().
  void Block(hetgpuStream stream) {
    flag_ = Zeroes(1);
    ASSERT_SUCCESS(Launch(Function("faults", "forever"), {}, stream, flag_));
  }
  // From another stream, so that it does not queue behind the kernel.
  void Release() {
    if (releaser_ == nullptr) releaser_ = NewStream();
    ASSERT_SUCCESS(hetgpuMemFillAsync(flag_, 1, 4, 1, releaser_));
    ASSERT_SUCCESS(hetgpuStreamSynchronize(releaser_));
  }

  hetgpuDevicePtr flag_ = 0;
  hetgpuStream releaser_ = nullptr;
};

TEST_P(StreamSuite, WorkRunsInOrder) {
  const hetgpuStream stream = NewStream();
  const hetgpuDevicePtr a = Alloc(4);
  uint32_t first = 0, second = 0;
  ASSERT_SUCCESS(hetgpuMemFillAsync(a, 5, 4, 1, stream));
  ASSERT_SUCCESS(
      Launch(Function("basic", "count"), {{1, 1, 1}, {10, 1, 1}}, stream, a));
  ASSERT_SUCCESS(hetgpuMemCopyDtoHAsync(&first, a, 4, stream));
  ASSERT_SUCCESS(
      Launch(Function("basic", "count"), {{2, 1, 1}, {10, 1, 1}}, stream, a));
  ASSERT_SUCCESS(hetgpuMemCopyDtoHAsync(&second, a, 4, stream));
  ASSERT_SUCCESS(hetgpuStreamSynchronize(stream));
  EXPECT_EQ(first, 15u);
  EXPECT_EQ(second, 35u);
}

TEST_P(StreamSuite, QueryWhileRunningAndAfter) {
  const hetgpuStream stream = NewStream();
  EXPECT_SUCCESS(hetgpuStreamQuery(stream));
  Block(stream);
  EXPECT_RESULT(HETGPU_ERROR_NOT_READY, hetgpuStreamQuery(stream));
  Release();
  EXPECT_SUCCESS(hetgpuStreamSynchronize(stream));
  EXPECT_SUCCESS(hetgpuStreamQuery(stream));
}

TEST_P(StreamSuite, StreamsDoNotWaitForEachOther) {
  const hetgpuStream busy = NewStream(), free_stream = NewStream();
  Block(busy);
  const hetgpuDevicePtr a = Alloc(4);
  ASSERT_SUCCESS(hetgpuMemFillAsync(a, 9, 4, 1, free_stream));
  EXPECT_SUCCESS(hetgpuStreamSynchronize(free_stream));
  EXPECT_RESULT(HETGPU_ERROR_NOT_READY, hetgpuStreamQuery(busy));
  Release();
  EXPECT_SUCCESS(hetgpuStreamSynchronize(busy));
}

TEST_P(StreamSuite, WaitingForAnEventOfAnotherStream) {
  const hetgpuStream producer = NewStream(), consumer = NewStream();
  const hetgpuEvent event = NewEvent();
  const hetgpuDevicePtr a = Zeroes(1);
  uint32_t seen = 0;
  Block(producer);
  ASSERT_SUCCESS(hetgpuMemFillAsync(a, 77, 4, 1, producer));
  ASSERT_SUCCESS(hetgpuEventRecord(event, producer));
  ASSERT_SUCCESS(hetgpuStreamWaitEvent(consumer, event));
  ASSERT_SUCCESS(hetgpuMemCopyDtoHAsync(&seen, a, 4, consumer));
  EXPECT_RESULT(HETGPU_ERROR_NOT_READY, hetgpuStreamQuery(consumer));
  EXPECT_RESULT(HETGPU_ERROR_NOT_READY, hetgpuEventQuery(event));
  Release();
  ASSERT_SUCCESS(hetgpuStreamSynchronize(consumer));
  EXPECT_EQ(seen, 77u);
  EXPECT_SUCCESS(hetgpuEventQuery(event));
}

TEST_P(StreamSuite, HostFunctionsRunBetweenTheirNeighbours) {
  const hetgpuStream stream = NewStream();
  struct State {
    uint32_t copied = 0;
    std::atomic<uint32_t> seen = 0;
  } state;
  const hetgpuDevicePtr a = Zeroes(1);
  ASSERT_SUCCESS(
      Launch(Function("basic", "count"), {{1, 1, 1}, {7, 1, 1}}, stream, a));
  ASSERT_SUCCESS(hetgpuMemCopyDtoHAsync(&state.copied, a, 4, stream));
  ASSERT_SUCCESS(hetgpuStreamHostFunction(
      stream,
      [](void* user) {
        auto* s = static_cast<State*>(user);
        s->seen = s->copied;
      },
      &state));
  ASSERT_SUCCESS(hetgpuStreamSynchronize(stream));
  EXPECT_EQ(state.seen, 7u);
}

TEST_P(StreamSuite, EventsMeasureTheWorkBetweenThem) {
  const hetgpuEvent start = NewEvent(), middle = NewEvent(), end = NewEvent();
  const hetgpuFunction busy = Function("basic", "busy");
  const hetgpuDevicePtr out = Zeroes(256);
  ASSERT_SUCCESS(Run(busy, {{1, 1, 1}, {256, 1, 1}}, out, 10u));  // compiles
  double little = 1, much = 0;
  // A thousandfold difference shows at once unless the machine is busy.
  for (int attempt = 0; attempt < 20 && much <= little; ++attempt) {
    ASSERT_SUCCESS(hetgpuEventRecord(start, nullptr));
    ASSERT_SUCCESS(Launch(busy, {{1, 1, 1}, {256, 1, 1}}, nullptr, out, 1000u));
    ASSERT_SUCCESS(hetgpuEventRecord(middle, nullptr));
    ASSERT_SUCCESS(
        Launch(busy, {{1, 1, 1}, {256, 1, 1}}, nullptr, out, 1000000u));
    ASSERT_SUCCESS(hetgpuEventRecord(end, nullptr));
    ASSERT_SUCCESS(hetgpuEventSynchronize(end));
    ASSERT_SUCCESS(hetgpuEventElapsedMs(start, middle, &little));
    ASSERT_SUCCESS(hetgpuEventElapsedMs(middle, end, &much));
    EXPECT_GE(little, 0);
  }
  EXPECT_GT(much, little);
  double backwards = 0;
  ASSERT_SUCCESS(hetgpuEventElapsedMs(end, start, &backwards));
  EXPECT_LT(backwards, 0);
}

TEST_P(StreamSuite, DestroyingWaits) {
  const hetgpuDevicePtr a = Zeroes(1);
  const hetgpuStream stream = NewStream();
  for (int i = 0; i < 10; ++i) {
    ASSERT_SUCCESS(Launch(Function("basic", "count"), {{100, 1, 1}, {64, 1, 1}},
                          stream, a));
  }
  ASSERT_SUCCESS(hetgpuStreamDestroy(stream));
  EXPECT_EQ(Download<uint32_t>(a, 1)[0], 64000u);
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuStreamSynchronize(stream));
}

TEST_P(StreamSuite, ManyStreams) {
  const hetgpuDevicePtr a = Zeroes(1);
  std::vector<hetgpuStream> streams;
  for (int i = 0; i < 32; ++i) {
    streams.push_back(NewStream());
    ASSERT_SUCCESS(Launch(Function("basic", "count"), {{8, 1, 1}, {8, 1, 1}},
                          streams.back(), a));
  }
  ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
  EXPECT_EQ(Download<uint32_t>(a, 1)[0], 32u * 64);
}

HETGPU_CONFORMANCE(StreamSuite);

}  // namespace
}  // namespace hetgpu::conformance
