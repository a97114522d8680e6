// A driver that does not give the addresses it is asked for.
#include "backends/cuda/address_space.h"

#include <sys/mman.h>

#include <cstdlib>
#include <optional>

#include "backends/cuda/device.h"
#include "backends/cuda/test_device.h"
#include "memory/arena.h"

namespace hetgpu::cuda {
namespace {

class ElsewhereTest : public CudaTest {
 protected:
  void SetUp() override {
    // Something that is no part of this project sits in the arena.
    memory::Arena& arena = memory::Arena::Process();
    base_ = arena.base();
    taken_ = mmap(reinterpret_cast<void*>(base_), 4096, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    ASSERT_NE(taken_, MAP_FAILED);
    arena.Free(arena.Allocate(4096, 4096), 4096);  // settles it
    CudaTest::SetUp();
  }
  void TearDown() override {
    CudaTest::TearDown();
    munmap(taken_, 4096);
  }

  absl::StatusOr<std::unique_ptr<Device>> OpenUnified() {
    OpenOptions options;
    options.unified = true;
    auto info = Describe(TestLibrary(), 0);
    if (!info.ok()) return info.status();
    return CudaDevice::Open(TestLibrary(), 0, *std::move(info),
                            std::move(options));
  }

  uint64_t base_ = 0;
  void* taken_ = nullptr;
};

TEST_F(ElsewhereTest, TheDeviceWorksAtADistance) {
  memory::Arena& arena = memory::Arena::Process();
  EXPECT_FALSE(arena.is_reserved());
  EXPECT_EQ(arena.base(), base_);
  EXPECT_EQ(device_->MapGranularity(), 0u);
  const uint64_t small = Alloc(100), large = Alloc(4 << 20);
  EXPECT_FALSE(arena.Contains(small));
  EXPECT_FALSE(arena.Contains(large));
  const auto queue = NewQueue();
  Write(*queue, small, 7);
  EXPECT_OK(queue->Copy(large + 100, small, 4));
  EXPECT_EQ(Read(*queue, large + 100), 7u);
  EXPECT_OK(device_->Free(small));
  EXPECT_OK(device_->Free(large));
}

TEST_F(ElsewhereTest, AUnifiedDeviceHasMemoryAtNeutralAddresses) {
  memory::Arena& arena = memory::Arena::Process();
  auto unified = OpenUnified();
  ASSERT_TRUE(unified.ok()) << unified.status().message();
  Device& device = **unified;
  const uint64_t unit = device.MapGranularity();
  ASSERT_NE(unit, 0u);
  const std::optional<Window> window = WindowOf(device.info().target);
  ASSERT_TRUE(window.has_value()) << device.info().target;
  EXPECT_EQ(window->base, arena.base());
  EXPECT_NE(window->delta, 0u);
  const uint64_t neutral = arena.Allocate(unit, unit);
  EXPECT_OK(device.Map(neutral, unit));
  // Its own memory has the GPU's addresses, also for module data.
  const absl::StatusOr<uint64_t> own = device.Allocate(4096);
  ASSERT_TRUE(own.ok());
  EXPECT_FALSE(arena.Contains(*own));
  {
    const auto queue = *device.CreateQueue();
    Write(*queue, neutral + 64, 9);
    EXPECT_OK(queue->Copy(*own, neutral + 64, 4));
    EXPECT_EQ(Read(*queue, *own), 9u);
    // The GPU finds it at its own address.
    EXPECT_EQ(Read(*queue, neutral + 64 + window->delta), 9u);
    const uint32_t value = 11;
    EXPECT_OK(queue->CopyToDevice(neutral, &value, 4));
    EXPECT_EQ(Read(*queue, neutral), 11u);
  }
  ModuleInfo module;
  module.name = "test.ptx";
  module.ptx_version = 70;
  const auto native = device.LoadModule(module, TestPtx());
  ASSERT_TRUE(native.ok()) << native.status().message();
  EXPECT_EQ(*native, nullptr);
  EXPECT_OK(device.Free(*own));
  EXPECT_OK(device.Unmap(neutral, unit));
  arena.Free(neutral, unit);
}

TEST_F(ElsewhereTest, TheNativeRouteIsRefusedToUnifiedDevices) {
  setenv("HETGPU_CUDA_ROUTE", "native", 1);
  const auto refused = OpenUnified().status();
  unsetenv("HETGPU_CUDA_ROUTE");
  EXPECT_EQ(refused.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(refused.message()),
              testing::HasSubstr("HETGPU_CUDA_ROUTE is native"));
}

}  // namespace
}  // namespace hetgpu::cuda
