// A driver that does not give the addresses it is asked for.
#include "backends/cuda/address_space.h"

#include <sys/mman.h>

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

  uint64_t base_ = 0;
  void* taken_ = nullptr;
};

TEST_F(ElsewhereTest, TheDeviceWorksAtADistanceButNotUnified) {
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

}  // namespace
}  // namespace hetgpu::cuda
