// Kernels that do not end. In a process of its own: from the first on nothing is
// given back.
#include <chrono>
#include <thread>
#include <utility>

#include "backends/cuda/device.h"
#include "backends/cuda/test_device.h"

namespace hetgpu::cuda {
namespace {

using testing::HasSubstr;

class RunawayTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    queue_ = NewQueue();
    a_ = Alloc(4);
    flag_ = Alloc(4);
    Write(*queue_, a_, 5);
    Write(*queue_, flag_, 0);
  }
  // Ends the kernel that was given up; the test driver's mappings stay.
  void TearDown() override {
    Write(*queue_, flag_, 1);
    queue_.reset();
    kernels_.clear();
    module_.reset();
    device_.reset();
    EXPECT_EQ(DriverCounts().misuses, 0u);
  }
  void ExpectGoesOn(LaunchError::Kind kind) {
    LaunchError error;
    EXPECT_TRUE(absl::IsAborted(queue_->Synchronize(&error)));
    EXPECT_EQ(error.kind, kind);
    EXPECT_EQ(error.kernel, "wait");
    EXPECT_THAT(error.detail, HasSubstr("runs on until the process ends"));
    // Contents are kept, what was queued behind is not done.
    EXPECT_EQ(Read(*queue_, a_), 5u);
    EXPECT_OK(Launch(*queue_, "store", Bytes(a_) + Bytes(uint32_t{6})));
    EXPECT_EQ(Read(*queue_, a_), 6u);
  }

  std::unique_ptr<Queue> queue_;
  uint64_t a_ = 0, flag_ = 0;
};

TEST_F(RunawayTest, CancelLeavesTheContextToTheKernel) {
  auto event = *device_->CreateEvent();
  bool called = false;
  EXPECT_OK(Launch(*queue_, "wait", Bytes(flag_)));
  EXPECT_OK(queue_->Fill(a_, 1, 4, 1));
  EXPECT_OK(queue_->HostFunction([&] { called = true; }));
  EXPECT_OK(queue_->Record(event.get()));
  queue_->Cancel();
  EXPECT_OK(event->Wait());
  LaunchError error;
  EXPECT_TRUE(absl::IsAborted(queue_->Synchronize(&error)));
  EXPECT_EQ(error.kind, LaunchError::Kind::kCancelled);
  // Ends the kernel: the fill that the driver was given happens after all, the
  // host function must not.
  Write(*queue_, flag_, 1);
  while (Read(*queue_, a_) != 1) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(called);
}

TEST_F(RunawayTest, TheTimeLimitEndsALaunch) {
  EXPECT_OK(Launch(*queue_, "nothing", "", 50));
  EXPECT_OK(Launch(*queue_, "wait", Bytes(flag_), 50));
  EXPECT_OK(Launch(*queue_, "nothing", "", 50));
  ExpectGoesOn(LaunchError::Kind::kTimeout);
}

TEST_F(RunawayTest, LaunchesWithinTheirTimeAreLeftAlone) {
  EXPECT_OK(Launch(*queue_, "nothing", "", 1000));
  EXPECT_OK(queue_->Synchronize(nullptr));
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_OK(Launch(*queue_, "wait", Bytes(flag_), 10000));
  auto other = NewQueue();
  Write(*other, flag_, 1);
  EXPECT_OK(queue_->Synchronize(nullptr));
}

TEST_F(RunawayTest, CancelledQueuesGoOn) {
  EXPECT_OK(Launch(*queue_, "wait", Bytes(flag_)));
  queue_->Cancel();
  ExpectGoesOn(LaunchError::Kind::kCancelled);
}

TEST_F(RunawayTest, InADisposableProcessTheDeviceIsLost) {
  OpenOptions options;
  options.disposable_process = true;
  auto opened = CudaDevice::Open(TestLibrary(), 0, device_->info(),
                                 std::move(options));
  ASSERT_TRUE(opened.ok());
  Device& another = **opened;
  ModuleInfo info;
  info.name = "test.ptx";
  info.ptx_version = 70;
  auto module = *another.LoadModule(info, TestPtx());
  KernelInfo wait;
  wait.name = "wait";
  auto kernel = *module->Load(wait);
  auto queue = *another.CreateQueue();
  EXPECT_OK(queue->Fill(flag_, 0, 4, 1));
  LaunchDesc desc;
  desc.kernel = kernel.get();
  desc.info = &wait;
  desc.params = Bytes(flag_);
  EXPECT_OK(queue->Launch(desc));
  queue->Cancel();
  LaunchError error;
  EXPECT_TRUE(absl::IsAborted(queue->Synchronize(&error)));
  EXPECT_EQ(error.kind, LaunchError::Kind::kCancelled);
  EXPECT_THAT(error.detail, HasSubstr("process that runs the kernel is ended"));
  EXPECT_TRUE(absl::IsUnavailable(another.Lost()));
  EXPECT_TRUE(another.ExportMemory().ok());
}

}  // namespace
}  // namespace hetgpu::cuda
