// Kernels that fail: who learns of it, and what becomes of memory.
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/device.h"
#include "backends/cuda/test_device.h"
#include "memory/arena.h"

namespace hetgpu::cuda {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr uint64_t kMiB = uint64_t{1} << 20;

class FaultTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    queue_ = NewQueue();
    other_ = NewQueue();
    a_ = Alloc(64);
    flag_ = Alloc(4);
    Write(*other_, flag_, 0);
  }
  void TearDown() override {
    queue_.reset();
    other_.reset();
    CudaTest::TearDown();
  }
  void Fail(const std::string& kernel) {
    EXPECT_OK(Launch(*queue_, kernel));
    EXPECT_TRUE(absl::IsAborted(queue_->Synchronize(nullptr)));
  }
  std::unique_ptr<Device> OpenAnother(OpenOptions options = {}) {
    auto opened = CudaDevice::Open(TestLibrary(), 0, device_->info(),
                                   std::move(options));
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  std::unique_ptr<Queue> queue_, other_;
  uint64_t a_ = 0, flag_ = 0;
};

TEST_F(FaultTest, LosesTheDeviceAndSaysWhy) {
  auto event = *device_->CreateEvent();
  bool called = false;
  EXPECT_OK(device_->Lost());
  EXPECT_OK(Launch(*queue_, "illegal"));
  EXPECT_OK(queue_->HostFunction([&] { called = true; }));
  EXPECT_OK(queue_->Record(event.get()));
  LaunchError error;
  EXPECT_TRUE(absl::IsAborted(queue_->Synchronize(&error)));
  EXPECT_EQ(error.kind, LaunchError::Kind::kIllegalAddress);
  EXPECT_EQ(error.kernel, "illegal");
  EXPECT_FALSE(error.has_address);
  EXPECT_THAT(Describe(error), testing::StartsWith("illegal: illegal address"));
  EXPECT_THAT(Describe(error), testing::Not(HasSubstr("0x")));
  EXPECT_THAT(error.detail, HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_OK(event->Wait());
  EXPECT_FALSE(called);
  // Once; from then on the loss.
  EXPECT_OK(queue_->Synchronize(nullptr));
  const absl::Status lost = device_->Lost();
  EXPECT_TRUE(absl::IsUnavailable(lost));
  EXPECT_THAT(std::string(lost.message()),
              AllOf(HasSubstr("lost to this process"),
                    HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS")));
  EXPECT_EQ(Launch(*queue_, "nothing"), lost);
  EXPECT_EQ(queue_->Fill(a_, 0, 4, 1), lost);
  EXPECT_TRUE(absl::IsUnavailable(device_->Allocate(4 * kMiB).status()));
}

TEST_F(FaultTest, QueuesWithWorkInFlightLearnOfIt) {
  Write(*other_, flag_, 1);  // what waits for it ends
  EXPECT_OK(Launch(*other_, "wait", Bytes(flag_)));
  EXPECT_OK(Launch(*queue_, "trap"));
  LaunchError error;
  EXPECT_TRUE(absl::IsAborted(queue_->Synchronize(&error)));
  EXPECT_EQ(error.kind, LaunchError::Kind::kTrap);
  EXPECT_THAT(error.kernel, AllOf(HasSubstr("trap"), HasSubstr("wait")));
  EXPECT_TRUE(absl::IsAborted(other_->Synchronize(&error)));
  EXPECT_OK(other_->Synchronize(nullptr));
}

TEST_F(FaultTest, SkipsUntilTheFailureWasReported) {
  EXPECT_OK(Launch(*queue_, "trap"));
  EXPECT_OK(other_->Synchronize(nullptr));  // had no work in flight
  auto event = *device_->CreateEvent();
  EXPECT_OK(queue_->Fill(a_, 9, 4, 1));
  EXPECT_OK(queue_->Record(event.get()));
  EXPECT_OK(event->Wait());
  EXPECT_TRUE(absl::IsAborted(queue_->Synchronize(nullptr)));
}

TEST_F(FaultTest, TakesOtherContextsAlongThatLostNothing) {
  auto another = OpenAnother();
  auto idle = *another->CreateQueue();
  Fail("illegal");
  EXPECT_TRUE(absl::IsUnavailable(another->Lost()));
  EXPECT_TRUE(absl::IsUnavailable(idle->Fill(a_, 0, 4, 1)));
  EXPECT_OK(idle->Synchronize(nullptr));
}

TEST_F(FaultTest, AnotherContextFindsOutByItsOwnCalls) {
  auto another = OpenAnother();
  auto idle = *another->CreateQueue();
  const uint64_t theirs = *another->Allocate(64);
  Fail("illegal");
  const absl::Status refused = idle->Fill(theirs, 0, 4, 1);
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused.message();
  EXPECT_FALSE(another->Allocate(8 * kMiB).ok());
  EXPECT_TRUE(absl::IsUnavailable(another->Lost()));
}

TEST_F(FaultTest, MemoryCanBeTakenOver) {
  const uint64_t large = Alloc(5 * kMiB), freed = Alloc(4 * kMiB);
  EXPECT_OK(device_->Free(freed));
  Write(*queue_, a_, 11);
  Write(*queue_, large + 5 * kMiB - 4, 12);
  Fail("illegal");
  auto exported = device_->ExportMemory();
  ASSERT_TRUE(exported.ok()) << exported.status().message();
  EXPECT_EQ(exported->blocks.size(), 2u);
  EXPECT_EQ(exported->allocations.size(), 3u);
  device_->ReleaseLost();
  EXPECT_EQ(DriverCounts().mapped_bytes, 0u);

  // As in a process that has not used these addresses.
  ForgetFaults();
  for (const MemoryExport::Block& block : exported->blocks) {
    memory::Arena::Process().Free(block.range.address, block.range.bytes);
  }
  OpenOptions options;
  options.memory = *std::move(exported);
  auto next = OpenAnother(std::move(options));
  ASSERT_NE(next, nullptr);
  {
    auto queue = *next->CreateQueue();
    EXPECT_EQ(Read(*queue, a_), 11u);
    EXPECT_EQ(Read(*queue, large + 5 * kMiB - 4), 12u);
  }
  // Allocations are known: they can be freed, and nothing is put over them.
  const uint64_t small = *next->Allocate(64);
  EXPECT_NE(small, a_);
  EXPECT_NE(small, flag_);
  EXPECT_OK(next->Free(a_));
  EXPECT_TRUE(absl::IsInvalidArgument(next->Free(a_)));
  EXPECT_OK(next->Free(large));
  next.reset();
  EXPECT_EQ(DriverCounts().mapped_bytes, 0u);
}

TEST_F(FaultTest, MemoryThatCannotBeTakenOverIsRefused) {
  Fail("illegal");
  auto exported = device_->ExportMemory();
  ASSERT_TRUE(exported.ok());
  ForgetFaults();
  // The addresses are still taken here.
  OpenOptions options;
  options.memory = *std::move(exported);
  auto opened = CudaDevice::Open(TestLibrary(), 0, device_->info(),
                                 std::move(options));
  EXPECT_TRUE(absl::IsUnavailable(opened.status()))
      << opened.status().message();
  options = OpenOptions();
  options.memory.reserved = {{uint64_t{1} << 45, 64 * kMiB}};
  options.memory.allocations = {{(uint64_t{1} << 45) + 256, 256}};
  opened = CudaDevice::Open(TestLibrary(), 0, device_->info(),
                            std::move(options));
  EXPECT_TRUE(absl::IsInvalidArgument(opened.status()))
      << opened.status().message();
}

}  // namespace
}  // namespace hetgpu::cuda
