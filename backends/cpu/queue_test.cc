// Queues, events, several launches at once.
#include <atomic>
#include <chrono>
#include <thread>

#include "backends/cpu/host_cpu.h"
#include "backends/cpu/target_name.h"
#include "backends/cpu/test_device.h"

namespace hetgpu::cpu {
namespace {

using Kind = LaunchError::Kind;

class QueueTest : public testing::Test {
 protected:
  uint64_t Allocate(uint64_t bytes) {
    auto address = device_.device().Allocate(bytes);
    EXPECT_TRUE(address.ok()) << address.status();
    return *address;
  }
  std::unique_ptr<Event> NewEvent() { return *device_.device().CreateEvent(); }
  TestDevice device_;
};

TEST_F(QueueTest, CopiesAndFillsRunInOrder) {
  Queue& queue = device_.queue();
  const uint64_t a = Allocate(1000 * 8), b = Allocate(1000 * 8);
  std::vector<uint64_t> in(1000), out(1000);
  for (uint64_t i = 0; i < 1000; ++i) in[i] = i * i;
  ASSERT_TRUE(queue.CopyToDevice(a, in.data(), 8000).ok());
  ASSERT_TRUE(queue.Copy(b, a, 8000).ok());
  ASSERT_TRUE(queue.Fill(a, 0x1122334455667788, 8, 1000).ok());
  ASSERT_TRUE(queue.Fill(b, 0xabab, 2, 4).ok());
  ASSERT_TRUE(queue.Fill(b + 8, 0x99, 1, 8).ok());
  ASSERT_TRUE(queue.Fill(b + 16, 0x12345678, 4, 2).ok());
  ASSERT_TRUE(queue.CopyFromDevice(out.data(), b, 8000).ok());
  ASSERT_TRUE(queue.Synchronize(nullptr).ok());
  EXPECT_EQ(out[0], 0xababababababababu);
  EXPECT_EQ(out[1], 0x9999999999999999u);
  EXPECT_EQ(out[2], 0x1234567812345678u);
  for (uint64_t i = 3; i < 1000; ++i) ASSERT_EQ(out[i], i * i);
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(a), 0x1122334455667788u);
  EXPECT_FALSE(queue.Fill(a, 0, 3, 1).ok());
}

// Several blocks of a transfer, an odd tail, ranges that overlap both ways.
TEST_F(QueueTest, LargeTransfersCopyEveryByte) {
  constexpr uint64_t kBytes = (5 << 20) + 13;
  constexpr uint64_t kShift = 1000003;
  const uint64_t a = Allocate(kBytes + kShift), b = Allocate(kBytes);
  Queue& queue = device_.queue();
  std::string in(kBytes, '\0'), out(kBytes, '\0');
  for (uint64_t i = 0; i < kBytes; ++i) {
    in[i] = static_cast<char>(i * 0x9e3779b97f4a7c15u >> 56);
  }
  ASSERT_TRUE(queue.CopyToDevice(a, in.data(), kBytes).ok());
  ASSERT_TRUE(queue.Copy(a + kShift, a, kBytes).ok());
  ASSERT_TRUE(queue.Copy(a, a + kShift, kBytes).ok());
  ASSERT_TRUE(queue.Copy(b, a, kBytes).ok());
  ASSERT_TRUE(queue.CopyFromDevice(out.data(), b, kBytes).ok());
  ASSERT_TRUE(queue.Fill(b, 0x7766, 2, kBytes / 2).ok());
  ASSERT_TRUE(queue.Synchronize(nullptr).ok());
  EXPECT_EQ(in, out);
  for (uint64_t i = 0; i < kBytes / 2; ++i) {
    ASSERT_EQ(reinterpret_cast<uint16_t*>(b)[i], 0x7766);
  }
  EXPECT_EQ(*reinterpret_cast<char*>(b + kBytes - 1), in[kBytes - 1]);
}

#ifndef __SANITIZE_ADDRESS__  // its memmove reports the address itself
TEST_F(QueueTest, ATransferToAFreedAddressFailsTheQueueOnly) {
  const uint64_t memory = Allocate(3 << 20);
  ASSERT_TRUE(device_.device().Free(memory).ok());
  ASSERT_TRUE(device_.queue().Fill(memory, 0, 4, 1 << 18).ok());
  LaunchError error = device_.Finish();
  EXPECT_EQ(error.kind, Kind::kIllegalAddress);
  EXPECT_EQ(error.kernel, "fill");
  uint64_t word = 0;
  ASSERT_TRUE(device_.queue().CopyFromDevice(&word, memory, 8).ok());
  error = device_.Finish();
  EXPECT_EQ(error.kernel, "copy");
  EXPECT_EQ(error.address, memory);
  EXPECT_EQ(Describe(error).find("thread"), std::string::npos);
}
#endif

TEST_F(QueueTest, EnqueuingDoesNotWait) {
  std::atomic<bool> open{false};
  ASSERT_TRUE(device_.queue()
                  .HostFunction([&] {
                    while (!open) std::this_thread::yield();
                  })
                  .ok());
  int ran = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(device_.queue().HostFunction([&] { ++ran; }).ok());
  }
  EXPECT_FALSE(device_.queue().Idle());
  EXPECT_EQ(ran, 0);
  open = true;
  ASSERT_TRUE(device_.queue().Synchronize(nullptr).ok());
  EXPECT_TRUE(device_.queue().Idle());
  EXPECT_EQ(ran, 100);
}

TEST_F(QueueTest, EventsOrderQueuesAndMeasureTime) {
  auto other = device_.NewQueue();
  auto first = NewEvent(), second = NewEvent();
  EXPECT_TRUE(first->Done());
  EXPECT_TRUE(first->Wait().ok());
  std::atomic<bool> open{false};
  std::string order;
  ASSERT_TRUE(device_.queue()
                  .HostFunction([&] {
                    while (!open) std::this_thread::yield();
                    order += "a";
                  })
                  .ok());
  ASSERT_TRUE(device_.queue().Record(first.get()).ok());
  EXPECT_FALSE(first->Done());
  ASSERT_TRUE(other->Wait(first.get()).ok());
  ASSERT_TRUE(other
                  ->HostFunction([&] {
                    order += "b";
                    std::this_thread::sleep_for(std::chrono::milliseconds(5));
                  })
                  .ok());
  ASSERT_TRUE(other->Record(second.get()).ok());
  open = true;
  ASSERT_TRUE(second->Wait().ok());
  EXPECT_EQ(order, "ab");
  EXPECT_TRUE(first->Done() && second->Done());
  EXPECT_GE(second->TimestampNs(), first->TimestampNs() + 4000000);
}

struct Flag {
  uint32_t* word;
};

HETGPU_EMITTED void Fail(BlockContext* b, uint32_t, uint32_t) {
  b->helpers->trap(b, 0, 0, 5);
}

HETGPU_EMITTED void Increment(BlockContext* b, uint32_t first, uint32_t count) {
  __atomic_fetch_add(ParamsOf<Flag>(b).word, count, __ATOMIC_RELAXED);
}

TEST_F(QueueTest, AFailureSkipsWhatFollowsUntilItIsReportedOnce) {
  uint32_t word = 0;
  bool ran = false;
  auto event = NewEvent();
  device_.Start(device_.Code(Fail, false), {}, Flag{&word});
  device_.Start(device_.Code(Increment, false), {}, Flag{&word});
  ASSERT_TRUE(device_.queue().HostFunction([&] { ran = true; }).ok());
  ASSERT_TRUE(device_.queue().Record(event.get()).ok());
  EXPECT_TRUE(event->Wait().ok());
  LaunchError error;
  const absl::Status status = device_.queue().Synchronize(&error);
  EXPECT_TRUE(absl::IsAborted(status));
  EXPECT_EQ(status.message(), Describe(error));
  EXPECT_EQ(error.kind, Kind::kTrap);
  EXPECT_EQ(word, 0u);
  EXPECT_FALSE(ran);
  EXPECT_TRUE(device_.queue().Synchronize(nullptr).ok());
  device_.Start(device_.Code(Increment, false), {}, Flag{&word});
  EXPECT_EQ(device_.Finish().kind, Kind::kNone);
  EXPECT_EQ(word, 32u);
}

TEST_F(QueueTest, CancelDropsWhatIsQueued) {
  device_.queue().Cancel();
  EXPECT_TRUE(device_.queue().Synchronize(nullptr).ok());
  std::atomic<bool> open{false};
  bool ran = false;
  uint32_t word = 0;
  const auto block = [&] {
    open = false;
    ASSERT_TRUE(device_.queue()
                    .HostFunction([&] {
                      while (!open) std::this_thread::yield();
                    })
                    .ok());
    ASSERT_TRUE(device_.queue().HostFunction([&] { ran = true; }).ok());
  };
  block();  // no launch among it: no error
  device_.queue().Cancel();
  open = true;
  EXPECT_TRUE(device_.queue().Synchronize(nullptr).ok());
  auto event = NewEvent();
  block();
  device_.Start(device_.Code(Increment, false), {}, Flag{&word});
  ASSERT_TRUE(device_.queue().Record(event.get()).ok());
  device_.queue().Cancel();
  open = true;
  EXPECT_TRUE(event->Wait().ok());
  EXPECT_FALSE(ran);
  const LaunchError error = device_.Finish();
  EXPECT_EQ(error.kind, Kind::kCancelled);
  EXPECT_EQ(error.kernel, "kernel");
  EXPECT_EQ(word, 0u);
}

TEST_F(QueueTest, QueuesOfOneDeviceFailAndSucceedOnTheirOwn) {
  constexpr int kQueues = 4;
  std::vector<std::thread> hosts;
  std::atomic<int> failures{0};
  std::vector<uint32_t> words(kQueues, 0);
  for (int q = 0; q < kQueues; ++q) {
    hosts.emplace_back([&, q] {
      CpuKernel good(device_.Code(Increment, q % 2 == 0));
      CpuKernel bad(device_.Code(Fail, q % 2 == 0));
      KernelInfo info;
      auto queue = device_.NewQueue();
      for (int round = 0; round < 100; ++round) {
        LaunchDesc desc;
        desc.kernel = round % 10 == 9 ? &bad : &good;
        desc.info = &info;
        desc.grid = {17, 1, 1};
        desc.block = {33, 1, 1};
        uint32_t* word = &words[static_cast<size_t>(q)];
        desc.params.assign(reinterpret_cast<char*>(&word), sizeof(word));
        ASSERT_TRUE(queue->Launch(desc).ok());
        if (!queue->Synchronize(nullptr).ok()) ++failures;
      }
    });
  }
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(failures.load(), kQueues * 10);
  EXPECT_EQ(words, std::vector<uint32_t>(kQueues, 90 * 17 * 33));
}

TEST_F(QueueTest, TheQueueEndsWithItsWork) {
  int ran = 0;
  {
    auto queue = device_.NewQueue();
    for (int i = 0; i < 50; ++i) {
      ASSERT_TRUE(queue->HostFunction([&] { ++ran; }).ok());
    }
  }
  EXPECT_EQ(ran, 50);
}

HETGPU_EMITTED void Nothing(BlockContext*, uint32_t, uint32_t) {}

TEST_F(QueueTest, HugeGridsOfEmptyBlocksEnd) {
  EXPECT_EQ(device_
                .Run(device_.Code(Nothing, false),
                     {{1u << 24, 1, 1}, {1024, 1, 1}}, 0)
                .kind,
            Kind::kNone);
}

TEST(HostCpuTest, FeaturesAreSortedAndThoseOfTheFirstProcessor) {
  const HostCpu cpu = ParseCpuInfo(
      "processor\t: 0\nmodel name\t: Some CPU\ncpu MHz\t\t: 2000.5\n"
      "flags\t\t: vme sse4_2 avx2 hypervisor avx512f fma\n\n"
      "processor\t: 1\nmodel name\t: Other\nflags\t\t: xop\n");
  EXPECT_EQ(cpu.name, "Some CPU");
  EXPECT_EQ(cpu.clock_khz, 2000500u);
  const size_t slash = cpu.target.rfind('/');
  EXPECT_EQ(cpu.target.substr(slash + 1), "avx2,avx512f,fma,sse4_2");
}

TEST(TargetNameTest, PartsAreFoundAgain) {
  for (std::string_view processor : {"native", "x86-64-v3"}) {
    const std::string target = TargetName(processor, "avx,fma") + "/memcheck";
    EXPECT_EQ(ProcessorOf(target), processor);
    EXPECT_EQ(ArchitectureOf(target), ArchitectureOf(TargetName(processor)));
  }
  EXPECT_EQ(ProcessorOf(""), kNativeTarget);
  EXPECT_EQ(ProcessorOf("x86_64"), kNativeTarget);
  EXPECT_EQ(ArchitectureOf(""), "");
}

TEST(HostCpuTest, ThisMachineHasATarget) {
  const HostCpu cpu = DetectHostCpu();
  EXPECT_FALSE(cpu.name.empty());
  EXPECT_NE(cpu.target.find("/native/"), std::string::npos);
}

}  // namespace
}  // namespace hetgpu::cpu
