// Queues and events; what kernels that fail do to them.
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "backends/cuda/clock.h"
#include "backends/cuda/test_device.h"

namespace hetgpu::cuda {
namespace {

using testing::HasSubstr;

class QueueTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    queue_ = NewQueue();
    other_ = NewQueue();
    a_ = Alloc(64 << 20);
    flag_ = Alloc(4);
    Write(*other_, flag_, 0);
  }
  void TearDown() override {
    queue_.reset();
    other_.reset();
    CudaTest::TearDown();
  }
  // A kernel on queue_ that runs until Release().
  void Block() { EXPECT_OK(Launch(*queue_, "wait", Bytes(flag_))); }
  void Release() { Write(*other_, flag_, 1); }

  std::unique_ptr<Queue> queue_, other_;
  uint64_t a_ = 0, flag_ = 0;
};

TEST_F(QueueTest, CommandsRunInOrder) {
  uint32_t first = 0, second = 0;
  EXPECT_OK(queue_->Fill(a_, 5, 4, 1));
  EXPECT_OK(queue_->CopyFromDevice(&first, a_, 4));
  EXPECT_OK(Launch(*queue_, "store", Bytes(a_) + Bytes(uint32_t{9})));
  EXPECT_OK(queue_->Copy(a_ + 256, a_, 4));
  EXPECT_OK(queue_->CopyFromDevice(&second, a_ + 256, 4));
  EXPECT_OK(queue_->Synchronize(nullptr));
  EXPECT_EQ(first, 5u);
  EXPECT_EQ(second, 9u);
  EXPECT_TRUE(queue_->Idle());
}

// The second launch of a kernel goes without a current context.
TEST_F(QueueTest, DriversThatLaunchInTheCurrentContextOnly) {
  const auto store = [&](uint32_t value) {
    return Launch(*queue_, "store", Bytes(a_) + Bytes(value));
  };
  EXPECT_OK(store(1));
  EXPECT_OK(store(2));
  EXPECT_EQ(Read(*queue_, a_), 2u);
  FailCall("cuLaunchKernel", CUDA_ERROR_INVALID_CONTEXT, 1);
  const uint64_t launches = DriverCounts().launches;
  for (const uint32_t value : {3, 4, 5}) EXPECT_OK(store(value));
  EXPECT_EQ(Read(*queue_, a_), 5u);
  EXPECT_EQ(DriverCounts().launches, launches + 3);
}

TEST_F(QueueTest, FillsOfEveryWidth) {
  for (const uint32_t width : {1u, 2u, 4u, 8u}) {
    for (const uint64_t pattern : {0x1122334455667788u, 0x7777777777777777u}) {
      std::vector<char> bytes(width * 1000 + 1, 0), expected = bytes;
      for (int i = 0; i < 1000; ++i) {
        std::memcpy(expected.data() + i * width, &pattern, width);
      }
      EXPECT_OK(queue_->Fill(a_, 0, 1, bytes.size()));
      EXPECT_OK(queue_->Fill(a_, pattern, width, 1000));
      EXPECT_OK(queue_->CopyFromDevice(bytes.data(), a_, bytes.size()));
      EXPECT_OK(queue_->Synchronize(nullptr));
      EXPECT_EQ(bytes, expected) << width;
    }
  }
}

TEST_F(QueueTest, NothingBlocksTheCallerBehindARunningKernel) {
  const size_t size = (9 << 20) + 5;  // several pieces of the staging buffer
  std::vector<uint8_t> in(size, 1), out(size, 0);
  std::atomic<int> calls = 0;
  Block();
  EXPECT_OK(queue_->HostFunction([&] { in.assign(size, ++calls + 2); }));
  EXPECT_OK(queue_->CopyToDevice(a_, in.data(), size));
  EXPECT_OK(queue_->CopyFromDevice(out.data(), a_, size));
  EXPECT_OK(queue_->HostFunction([&] { ++calls; }));
  EXPECT_FALSE(queue_->Idle());
  EXPECT_EQ(calls, 0);
  Release();
  EXPECT_OK(queue_->Synchronize(nullptr));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(out, std::vector<uint8_t>(size, 3));
}

// Sizes around the limits between the ways that copies take.
TEST_F(QueueTest, CopiesOfEverySizeIdleAndBehindWork) {
  for (const uint64_t size : {uint64_t{1}, uint64_t{4096}, (uint64_t{512} << 10),
                              (uint64_t{512} << 10) + 3, (uint64_t{3} << 20) - 1,
                              (uint64_t{29} << 20) + 7}) {
    std::vector<uint32_t> in(size / 4 + 1);
    for (size_t i = 0; i < in.size(); ++i) in[i] = i * 2654435761u;
    for (const bool now : {false, true}) {
      for (const bool busy : {false, true}) {
        std::vector<uint32_t> out(in.size(), 0);
        EXPECT_OK(queue_->Fill(a_, 0xee, 1, size + 1));
        EXPECT_OK(queue_->Synchronize(nullptr));
        if (busy) Block();
        EXPECT_OK(now ? queue_->CopyToDeviceNow(a_, in.data(), size)
                      : queue_->CopyToDevice(a_, in.data(), size));
        EXPECT_OK(now ? queue_->CopyFromDeviceNow(out.data(), a_, size)
                      : queue_->CopyFromDevice(out.data(), a_, size));
        if (busy) Release();
        EXPECT_OK(queue_->Synchronize(nullptr));
        EXPECT_EQ(std::memcmp(in.data(), out.data(), size), 0)
            << size << (now ? " now" : "") << (busy ? " busy" : "");
        EXPECT_OK(queue_->CopyFromDevice(out.data(), a_ + size, 1));
        EXPECT_OK(queue_->Synchronize(nullptr));
        EXPECT_EQ(out[0] & 0xff, 0xeeu);
        Write(*other_, flag_, 0);
      }
    }
  }
}

// More than all pinned buffers hold.
TEST_F(QueueTest, LargeCopiesIdleAndBehindWork) {
  const uint64_t size = (uint64_t{150} << 20) + 13;
  const uint64_t big = Alloc(size);
  std::vector<uint32_t> in(size / 4 + 1);
  for (size_t i = 0; i < in.size(); ++i) in[i] = i * 2654435761u;
  for (const bool busy : {false, true}) {
    std::vector<uint32_t> out(in.size(), 0);
    if (busy) Block();
    EXPECT_OK(busy ? queue_->CopyToDevice(big, in.data(), size)
                   : queue_->CopyToDeviceNow(big, in.data(), size));
    EXPECT_OK(busy ? queue_->CopyFromDevice(out.data(), big, size)
                   : queue_->CopyFromDeviceNow(out.data(), big, size));
    if (busy) Release();
    EXPECT_OK(queue_->Synchronize(nullptr));
    EXPECT_EQ(std::memcmp(in.data(), out.data(), size), 0) << busy;
  }
}

// A copy that cannot be enqueued to its end leaves the caller's memory alone.
TEST_F(QueueTest, CopiesThatFailMidway) {
  for (const bool in : {false, true}) {
    for (const bool busy : {false, true}) {
      auto data = std::make_unique<std::vector<char>>(40 << 20, 'x');
      if (busy) Block();
      FailCall(in ? "cuMemcpyHtoDAsync_v2" : "cuMemcpyDtoHAsync_v2",
               CUDA_ERROR_OUT_OF_MEMORY, 3);
      absl::Status status;
      if (in) {
        status = busy
                     ? queue_->CopyToDevice(a_, data->data(), data->size())
                     : queue_->CopyToDeviceNow(a_, data->data(), data->size());
      } else {
        status =
            busy ? queue_->CopyFromDevice(data->data(), a_, data->size())
                 : queue_->CopyFromDeviceNow(data->data(), a_, data->size());
      }
      EXPECT_TRUE(absl::IsResourceExhausted(status)) << status;
      data.reset();
      if (busy) Release();
      EXPECT_OK(queue_->Synchronize(nullptr));
      Write(*other_, flag_, 0);
      // The queue goes on.
      std::vector<char> again(9 << 20, 'y'), back(again.size());
      EXPECT_OK(queue_->CopyToDevice(a_, again.data(), again.size()));
      EXPECT_OK(queue_->CopyFromDevice(back.data(), a_, back.size()));
      EXPECT_OK(queue_->Synchronize(nullptr));
      EXPECT_EQ(again, back);
    }
  }
}

// When no more memory can be pinned.
TEST_F(QueueTest, CopiesThroughFewBuffers) {
  const uint64_t size = (uint64_t{30} << 20) + 3;
  std::vector<uint32_t> in(size / 4 + 1);
  for (size_t i = 0; i < in.size(); ++i) in[i] = i * 2654435761u;
  for (const int buffers : {1, 1, 2, 3}) {
    for (const bool now : {false, true}) {
      auto queue = NewQueue();
      std::vector<uint32_t> out(in.size(), 0);
      FailCall("cuMemHostAlloc", CUDA_ERROR_OUT_OF_MEMORY, buffers);
      EXPECT_OK(now ? queue->CopyToDeviceNow(a_, in.data(), size)
                    : queue->CopyToDevice(a_, in.data(), size));
      FailCall("cuMemHostAlloc", CUDA_ERROR_OUT_OF_MEMORY);
      EXPECT_OK(now ? queue->CopyFromDeviceNow(out.data(), a_, size)
                    : queue->CopyFromDevice(out.data(), a_, size));
      EXPECT_OK(queue->Synchronize(nullptr));
      EXPECT_EQ(std::memcmp(in.data(), out.data(), size), 0) << buffers;
    }
  }
}

TEST_F(QueueTest, LargeCopiesOfManyQueuesAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const uint64_t size = (uint64_t{9} << 20) + 11;
      const uint64_t at = a_ + t * (uint64_t{10} << 20);
      auto queue = NewQueue();
      std::vector<char> in(size), out(size);
      for (int round = 0; round < 3; ++round) {
        for (size_t i = 0; i < size; ++i) in[i] = i * 31 + t + round;
        wrong += !(round == 0 ? queue->CopyToDeviceNow(at, in.data(), size)
                              : queue->CopyToDevice(at, in.data(), size))
                      .ok();
        wrong += !queue->CopyFromDevice(out.data(), at, size).ok();
        wrong += !queue->Synchronize(nullptr).ok();
        wrong += in != out;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(QueueTest, StagingBuffersAreSharedByQueues) {
  std::vector<char> data(40 << 20);
  EXPECT_OK(queue_->CopyFromDeviceNow(data.data(), a_, data.size()));
  EXPECT_OK(queue_->Synchronize(nullptr));
  const uint64_t pinned = DriverCounts().pinned_bytes;
  EXPECT_GT(pinned, 0u);
  EXPECT_OK(other_->CopyToDevice(a_, data.data(), data.size()));
  EXPECT_OK(other_->Synchronize(nullptr));
  // The words of its own.
  EXPECT_LE(DriverCounts().pinned_bytes, pinned + 4096);
}

TEST_F(QueueTest, PinnedMemoryIsCopiedDirectly) {
  const uint64_t bytes = 8 << 20;
  std::vector<char> memory(bytes, 5);
  EXPECT_OK(device_->RegisterHost(memory.data(), bytes));
  EXPECT_EQ(DriverCounts().pinned_bytes, bytes);
  Block();
  EXPECT_OK(queue_->CopyToDevice(a_, memory.data(), bytes));
  EXPECT_OK(queue_->Fill(a_, 6, 1, 1));
  EXPECT_OK(queue_->CopyFromDevice(memory.data(), a_, bytes));
  Release();
  EXPECT_OK(queue_->Synchronize(nullptr));
  EXPECT_EQ(memory[0], 6);
  EXPECT_EQ(memory[bytes - 1], 5);
  EXPECT_EQ(DriverCounts().pinned_bytes, bytes);  // no staging
  device_->UnregisterHost(memory.data());
  EXPECT_EQ(DriverCounts().pinned_bytes, 0u);
}

TEST_F(QueueTest, MemoryIsPinnedOnRequest) {
  std::vector<char> data(1 << 20);
  EXPECT_OK(device_->RegisterHost(data.data(), data.size()));
  EXPECT_EQ(DriverCounts().pinned_bytes, data.size());
  EXPECT_FALSE(device_->RegisterHost(data.data() + 5, 1).ok());
  device_->UnregisterHost(data.data());
  EXPECT_EQ(DriverCounts().pinned_bytes, 0u);
  FailCall("cuMemHostRegister_v2", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_TRUE(absl::IsResourceExhausted(
      device_->RegisterHost(data.data(), data.size())));
}

TEST_F(QueueTest, CopiesWithoutPinnedMemoryAreRefused) {
  std::vector<char> data(1 << 20, 7);
  FailCall("cuMemHostAlloc", CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_TRUE(absl::IsResourceExhausted(
      queue_->CopyToDevice(a_, data.data(), data.size())));
  EXPECT_OK(queue_->CopyToDevice(a_, data.data(), data.size()));
  EXPECT_OK(queue_->Synchronize(nullptr));
}

TEST_F(QueueTest, EventsOrderQueuesAndTellTheTime) {
  auto first = *device_->CreateEvent(), second = *device_->CreateEvent();
  EXPECT_TRUE(first->Done());
  EXPECT_OK(queue_->Record(first.get()));
  Block();
  EXPECT_OK(queue_->Fill(a_, 4, 4, 1));
  EXPECT_OK(queue_->Record(second.get()));
  auto waiting = NewQueue();
  uint32_t seen = 0;
  EXPECT_OK(waiting->Wait(second.get()));
  EXPECT_OK(waiting->CopyFromDevice(&seen, a_, 4));
  // Reached before the clock of this test starts.
  EXPECT_OK(first->Wait());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(second->Done());
  EXPECT_FALSE(waiting->Idle());
  Release();
  EXPECT_OK(second->Wait());
  EXPECT_OK(waiting->Synchronize(nullptr));
  EXPECT_EQ(seen, 4u);
  ASSERT_TRUE(first->Done());
  const uint64_t took = second->TimestampNs() - first->TimestampNs();
  EXPECT_GT(took, 20000000u);
  EXPECT_LT(took, 10000000000u);
}

TEST_F(QueueTest, EventsTellTheTimeThoughNobodyAskedWhetherTheyAreDone) {
  auto first = *device_->CreateEvent(), second = *device_->CreateEvent();
  EXPECT_EQ(first->TimestampNs(), 0u);
  const uint64_t start = Clock::NowNs();
  EXPECT_OK(queue_->Record(first.get()));
  Block();
  EXPECT_OK(queue_->Record(second.get()));
  EXPECT_EQ(second->TimestampNs(), 0u);
  Release();
  EXPECT_OK(queue_->Synchronize(nullptr));
  const uint64_t begin = first->TimestampNs(), end = second->TimestampNs();
  // The clocks of host and device differ by what it takes to read them.
  EXPECT_GT(begin, start - 1000000000);
  EXPECT_GE(end, begin);
  EXPECT_LT(end - begin, Clock::NowNs() - start);
}

TEST_F(QueueTest, DynamicSharedMemoryBeyond48KiB) {
  EXPECT_OK(Launch(*queue_, "nothing", "", 0, 200 << 10));
  EXPECT_OK(Launch(*queue_, "nothing", "", 0, 100 << 10));
  EXPECT_OK(queue_->Synchronize(nullptr));
}

TEST_F(QueueTest, ARefusedCommandIsReportedAtOnceAndHarmless) {
  FailCall("cuLaunchKernel", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  const absl::Status refused = Launch(*queue_, "nothing");
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"));
  EXPECT_OK(Launch(*queue_, "nothing"));
  EXPECT_OK(queue_->Synchronize(nullptr));
}

TEST_F(QueueTest, CooperativeLaunchesRunWhatFits) {
  EXPECT_OK(Launch(*queue_, "store", Bytes(a_) + Bytes(uint32_t{3})));
  EXPECT_OK(queue_->Synchronize(nullptr));
  KernelInfo& info = infos_["store"];
  info.params = {{"to", 0, 8}, {"value", 8, 4}};
  LaunchDesc desc;
  desc.kernel = kernels_["store"].get();
  desc.info = &info;
  desc.block = {1024, 1, 1};
  desc.cooperative = true;
  const auto limit = device_->CooperativeLimit(desc);
  ASSERT_TRUE(limit.ok()) << limit.status().message();
  EXPECT_EQ(*limit, 8u);
  desc.params = Bytes(a_) + Bytes(uint32_t{4});
  desc.grid.x = 8;
  EXPECT_OK(queue_->Launch(desc));
  EXPECT_EQ(Read(*queue_, a_), 4u);
  desc.grid.x = 9;
  EXPECT_THAT(std::string(queue_->Launch(desc).message()),
              HasSubstr("CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"));
}

TEST_F(QueueTest, LimitsOfTheContext) {
  EXPECT_EQ(*device_->GetLimit(DeviceLimit::kStackBytes), 1024u);
  EXPECT_OK(device_->SetLimit(DeviceLimit::kStackBytes, 4096));
  EXPECT_OK(device_->SetLimit(DeviceLimit::kHeapBytes, 1 << 20));
  EXPECT_TRUE(absl::IsInvalidArgument(
      device_->SetLimit(DeviceLimit::kHeapBytes, uint64_t{1} << 60)));
  EXPECT_EQ(*device_->GetLimit(DeviceLimit::kStackBytes), 4096u);
  EXPECT_EQ(*device_->GetLimit(DeviceLimit::kHeapBytes), 1u << 20);
}

TEST_F(QueueTest, PrintingCannotBeRedirected) {
  EXPECT_TRUE(absl::IsUnimplemented(device_->CanRedirectPrintf()));
}

TEST_F(QueueTest, CancelOfFiniteWorkKeepsTheContext) {
  EXPECT_OK(Launch(*queue_, "nothing"));
  Block();
  std::thread releaser([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    Release();
  });
  queue_->Cancel();
  releaser.join();
  LaunchError error;
  EXPECT_TRUE(absl::IsAborted(queue_->Synchronize(&error)));
  EXPECT_EQ(error.kind, LaunchError::Kind::kCancelled);
  EXPECT_OK(Launch(*queue_, "nothing"));
  EXPECT_OK(queue_->Synchronize(nullptr));
  queue_->Cancel();  // nothing to cancel
  EXPECT_OK(queue_->Synchronize(nullptr));
}

}  // namespace
}  // namespace hetgpu::cuda
