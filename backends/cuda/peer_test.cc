// Copies between devices.
#include <vector>

#include "backends/cuda/device.h"
#include "backends/cuda/test_device.h"
#include "memory/arena.h"

namespace hetgpu::cuda {
namespace {

class PeerTest : public CudaTest {
 protected:
  void SetUp() override {
    setenv("HETGPU_FAKE_CUDA_DEVICES", "3", 1);
    CudaTest::SetUp();
    other_ = OpenDevice(2);
    ASSERT_NE(other_, nullptr);
  }
  void TearDown() override {
    other_.reset();
    CudaTest::TearDown();
    unsetenv("HETGPU_FAKE_CUDA_DEVICES");
  }

  std::unique_ptr<Device> OpenDevice(CUdevice ordinal) {
    auto info = Describe(TestLibrary(), ordinal);
    if (!info.ok()) return nullptr;
    auto device =
        CudaDevice::Open(TestLibrary(), ordinal, *std::move(info));
    return device.ok() ? *std::move(device) : nullptr;
  }

  std::unique_ptr<Device> other_;
};

TEST_F(PeerTest, OtherDevicesCanBeReachedWhereTheDriverSaysSo) {
  EXPECT_TRUE(device_->CanAccessPeer(*other_));
  EXPECT_TRUE(other_->CanAccessPeer(*device_));
  EXPECT_FALSE(device_->CanAccessPeer(*device_));
  FailCall("cuDeviceCanAccessPeer", CUDA_ERROR_INVALID_VALUE);
  EXPECT_FALSE(device_->CanAccessPeer(*other_));
  // Another opening of the same device.
  const auto again = OpenDevice(0);
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(again->CanAccessPeer(*device_));
}

TEST_F(PeerTest, CopiesComeFromTheOtherDevicesMemory) {
  const uint64_t bytes = 3 << 20;
  const uint64_t here = Alloc(bytes);
  const uint64_t there = *other_->Allocate(bytes);
  const auto queue = NewQueue();
  const auto writer = *other_->CreateQueue();
  EXPECT_OK(writer->Fill(there, 0x01020304, 4, bytes / 4));
  EXPECT_OK(writer->Synchronize(nullptr));
  EXPECT_OK(queue->Fill(here, 0, 4, bytes / 4));
  EXPECT_OK(queue->CopyPeer(here + 256, *other_, there, bytes - 256));
  std::vector<uint32_t> result(bytes / 4);
  EXPECT_OK(queue->CopyFromDevice(result.data(), here, bytes));
  EXPECT_OK(queue->Synchronize(nullptr));
  EXPECT_EQ(result[63], 0u);
  EXPECT_EQ(result[64], 0x01020304u);
  EXPECT_EQ(result.back(), 0x01020304u);
  EXPECT_OK(device_->Free(here));
  EXPECT_OK(other_->Free(there));
}

TEST_F(PeerTest, ARefusedCopyIsReportedAtOnce) {
  const uint64_t here = Alloc(4);
  const uint64_t there = *other_->Allocate(4);
  const auto queue = NewQueue();
  FailCall("cuMemcpyPeerAsync", CUDA_ERROR_OUT_OF_MEMORY);
  const absl::Status status = queue->CopyPeer(here, *other_, there, 4);
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(status.message()),
              testing::HasSubstr("cuMemcpyPeerAsync"));
  EXPECT_OK(queue->CopyPeer(here, *other_, there, 4));
  EXPECT_OK(queue->Synchronize(nullptr));
}

TEST_F(PeerTest, MappingsAreTakenOverWithTheirContents) {
  constexpr uint64_t kBytes = 4 << 20;
  memory::Arena& arena = memory::Arena::Process();
  const uint64_t address = arena.Allocate(kBytes, 2 << 20);
  ASSERT_TRUE(other_->Map(address, kBytes).ok());
  const auto writer = *other_->CreateQueue();
  EXPECT_OK(writer->Fill(address, 0x01020304, 4, kBytes / 4));
  EXPECT_OK(writer->Synchronize(nullptr));
  // Every step may fail; the contents stay where they were.
  for (const char* call : {"cuMemCreate", "cuMemMap", "cuMemSetAccess",
                           "cuStreamCreate", "cuMemcpyPeerAsync"}) {
    FailCall(call, CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_FALSE(device_->TakeMapping(*other_, address, kBytes).ok()) << call;
    EXPECT_EQ(Read(*writer, address), 0x01020304u) << call;
    EXPECT_EQ(DriverCounts().mapped_bytes, kBytes) << call;
  }
  FailCall("cuMemMap", CUDA_ERROR_OUT_OF_MEMORY, 1);
  EXPECT_FALSE(device_->TakeMapping(*other_, address, kBytes).ok());
  EXPECT_EQ(Read(*writer, address), 0x01020304u);
  EXPECT_TRUE(absl::IsInvalidArgument(
      device_->TakeMapping(*other_, address, kBytes / 2)));
  EXPECT_OK(device_->TakeMapping(*other_, address, kBytes));
  const auto queue = NewQueue();
  EXPECT_EQ(Read(*queue, address + kBytes - 4), 0x01020304u);
  EXPECT_TRUE(absl::IsInvalidArgument(other_->Unmap(address, kBytes)));
  EXPECT_OK(device_->Unmap(address, kBytes));
  EXPECT_EQ(DriverCounts().physical_bytes, 0u);
  arena.Free(address, kBytes);
}

}  // namespace
}  // namespace hetgpu::cuda
