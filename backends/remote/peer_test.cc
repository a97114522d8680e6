// Copies between devices of two servers, on the CUDA test driver.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "backends/init.h"
#include "backends/remote/device.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hetgpu::remote {
namespace {

using testing::HasSubstr;

constexpr uint64_t kBytes = (uint64_t{9} << 20) + 12;  // several pieces

#define EXPECT_OK(expression)                       \
  do {                                              \
    const absl::Status status_ = (expression);      \
    EXPECT_TRUE(status_.ok()) << status_.message(); \
  } while (false)

class RemotePeerTest : public testing::Test {
 protected:
  struct Side {
    std::unique_ptr<Device> device;
    std::unique_ptr<Queue> queue;
    uint64_t memory = 0;
  };

  static void SetUpTestSuite() {
    setenv("HETGPU_CUDA_LIBRARY", HETGPU_FAKE_CUDA, 1);
    setenv("HETGPU_FAKE_CUDA_DEVICES", "2", 1);
    setenv("HETGPU_ISOLATE", "cuda", 1);
  }

  void SetUp() override {
    drivers_ = CreateDrivers();
    for (uint32_t i = 0; i < 2; ++i) {
      auto device = Cuda().Open(i);
      ASSERT_TRUE(device.ok()) << device.status().message();
      sides_[i].device = *std::move(device);
      sides_[i].queue = *sides_[i].device->CreateQueue();
      sides_[i].memory = *sides_[i].device->Allocate(kBytes);
    }
  }

  Driver& Cuda() {
    return **std::find_if(drivers_.begin(), drivers_.end(), [](auto& driver) {
      return driver->name() == "cuda";
    });
  }
  void Fill(Side& side, uint32_t value) {
    EXPECT_OK(side.queue->Fill(side.memory, value, 4, kBytes / 4));
  }
  std::vector<uint32_t> Read(Side& side) {
    std::vector<uint32_t> words(kBytes / 4);
    EXPECT_OK(side.queue->CopyFromDevice(words.data(), side.memory, kBytes));
    EXPECT_OK(side.queue->Synchronize(nullptr));
    return words;
  }
  static std::vector<uint32_t> All(uint32_t value) {
    return std::vector<uint32_t>(kBytes / 4, value);
  }

  std::vector<std::unique_ptr<Driver>> drivers_;
  Side sides_[2];
};

TEST_F(RemotePeerTest, DevicesOfServersReachEachOther) {
  const auto [a, b] = std::pair(sides_[0].device.get(), sides_[1].device.get());
  EXPECT_TRUE(a->CanAccessPeer(*b));
  EXPECT_TRUE(b->CanAccessPeer(*a));
  EXPECT_FALSE(a->CanAccessPeer(*a));
}

TEST_F(RemotePeerTest, CopiesHaveTheirPlaceInTheQueue) {
  auto& [a, b] = sides_;
  Fill(b, 5);
  EXPECT_OK(b.queue->Synchronize(nullptr));
  std::atomic<bool> go = false;
  EXPECT_OK(a.queue->HostFunction([&] {
    while (!go) std::this_thread::yield();
  }));
  Fill(a, 1);
  EXPECT_OK(a.queue->CopyPeer(a.memory, *b.device, b.memory, kBytes));
  EXPECT_OK(a.queue->Fill(a.memory + 8, 2, 4, 1));
  // What is there when the queue gets to it is what is copied.
  Fill(b, 7);
  EXPECT_OK(b.queue->Synchronize(nullptr));
  go = true;
  std::vector<uint32_t> expected = All(7);
  expected[2] = 2;
  EXPECT_EQ(Read(a), expected);
  EXPECT_EQ(Read(b), All(7));
}

// Both queues wait for the other server at once.
TEST_F(RemotePeerTest, QueuesCopyFromEachOthersDevices) {
  auto& [a, b] = sides_;
  uint64_t to_a = *a.device->Allocate(kBytes);
  uint64_t to_b = *b.device->Allocate(kBytes);
  Fill(a, 3);
  Fill(b, 4);
  EXPECT_OK(a.queue->Synchronize(nullptr));
  EXPECT_OK(b.queue->Synchronize(nullptr));
  for (int round = 0; round < 5; ++round) {
    EXPECT_OK(a.queue->CopyPeer(to_a, *b.device, b.memory, kBytes));
    EXPECT_OK(b.queue->CopyPeer(to_b, *a.device, a.memory, kBytes));
  }
  EXPECT_OK(a.queue->Synchronize(nullptr));
  EXPECT_OK(b.queue->Synchronize(nullptr));
  std::swap(a.memory, to_a);
  std::swap(b.memory, to_b);
  EXPECT_EQ(Read(a), All(4));
  EXPECT_EQ(Read(b), All(3));
}

TEST_F(RemotePeerTest, AServerThatDiesFailsTheCopyOnce) {
  auto& [a, b] = sides_;
  std::atomic<bool> go = false;
  EXPECT_OK(a.queue->HostFunction([&] {
    while (!go) std::this_thread::yield();
  }));
  EXPECT_OK(a.queue->CopyPeer(a.memory, *b.device, b.memory, kBytes));
  const pid_t server = static_cast<RemoteDevice&>(*b.device).server_pid();
  EXPECT_EQ(kill(server, SIGKILL), 0);
  while (b.device->Lost().ok()) std::this_thread::yield();
  go = true;
  const absl::Status failed = a.queue->Synchronize(nullptr);
  EXPECT_TRUE(absl::IsAborted(failed)) << failed.message();
  EXPECT_THAT(std::string(failed.message()),
              HasSubstr("a copy from another device failed"));
  EXPECT_TRUE(absl::IsUnavailable(
      a.queue->CopyPeer(a.memory, *b.device, b.memory, kBytes)));
  // The device that copied goes on.
  EXPECT_OK(a.device->Lost());
  Fill(a, 9);
  EXPECT_EQ(Read(a), All(9));
}

}  // namespace
}  // namespace hetgpu::remote
