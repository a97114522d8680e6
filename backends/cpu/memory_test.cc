#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>

#include "backends/cpu/arena.h"
#include "backends/cpu/heap.h"
#include "backends/cpu/options.h"

namespace hetgpu::cpu {
namespace {

constexpr uint64_t kMiB = 1 << 20;

std::unique_ptr<Arena> NewArena(uint64_t limit) {
  auto arena = Arena::Create(limit);
  EXPECT_TRUE(arena.ok()) << arena.status();
  return *std::move(arena);
}

TEST(ArenaTest, AllocationsAreAlignedZeroedAndApart) {
  auto arena = NewArena(64 * kMiB);
  std::map<uint64_t, uint64_t> live;
  for (uint64_t bytes : {uint64_t{1}, uint64_t{255}, uint64_t{4096},
                         uint64_t{4097}, 3 * kMiB + 5, uint64_t{100000}}) {
    auto address = arena->Allocate(bytes);
    ASSERT_TRUE(address.ok()) << address.status();
    EXPECT_EQ(*address % 256, 0u);
    auto* data = reinterpret_cast<uint8_t*>(*address);
    for (uint64_t i = 0; i < bytes; ++i) ASSERT_EQ(data[i], 0);
    std::memset(data, 0xab, bytes);
    for (const auto& [start, size] : live) {
      EXPECT_TRUE(*address >= start + size + 4096 ||
                  *address + bytes + 4096 <= start);
    }
    live[*address] = bytes;
  }
  for (const auto& [start, size] : live) EXPECT_TRUE(arena->Free(start).ok());
  EXPECT_EQ(arena->FreeBytes(), 64 * kMiB);
}

TEST(ArenaTest, TheLimitIsKeptAndNamed) {
  auto arena = NewArena(kMiB);
  auto first = arena->Allocate(kMiB / 2);
  ASSERT_TRUE(first.ok());
  const auto second = arena->Allocate(kMiB);
  EXPECT_TRUE(absl::IsResourceExhausted(second.status()));
  EXPECT_NE(second.status().message().find("1048576 bytes asked for, 524288 "
                                           "free"),
            std::string::npos)
      << second.status();
  EXPECT_TRUE(
      absl::IsResourceExhausted(arena->Allocate(UINT64_MAX - 10).status()));
  ASSERT_TRUE(arena->Free(*first).ok());
  EXPECT_TRUE(arena->Allocate(kMiB).ok());
}

TEST(ArenaTest, OnlyStartsOfLiveAllocationsAreFreed) {
  auto arena = NewArena(kMiB);
  auto address = arena->Allocate(512);
  ASSERT_TRUE(address.ok());
  EXPECT_TRUE(absl::IsInvalidArgument(arena->Free(*address + 256)));
  EXPECT_TRUE(absl::IsInvalidArgument(arena->Free(0)));
  ASSERT_TRUE(arena->Free(*address).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(arena->Free(*address)));
}

TEST(ArenaTest, FreedAddressesAreNotReusedSoon) {
  auto arena = NewArena(kMiB);
  auto first = arena->Allocate(4096);
  ASSERT_TRUE(first.ok() && arena->Free(*first).ok());
  for (int i = 0; i < 100; ++i) {
    auto next = arena->Allocate(4096);
    ASSERT_TRUE(next.ok());
    ASSERT_NE(*next, *first);
    ASSERT_TRUE(arena->Free(*next).ok());
  }
}

// Turns the reservation over several times, so that addresses are reused.
TEST(ArenaTest, AddressesComeBackWhenTheReservationIsUsedUp) {
  auto arena = NewArena(uint64_t{1} << 42);
  const uint64_t size = arena->size() / 8;
  for (int i = 0; i < 100; ++i) {
    auto address = arena->Allocate(size);
    ASSERT_TRUE(address.ok()) << address.status();
    *reinterpret_cast<uint32_t*>(*address) = 1;
    ASSERT_TRUE(arena->Free(*address).ok());
  }
}

TEST(ArenaTest, ThreadsMayAllocateAtOnce) {
  auto arena = NewArena(256 * kMiB);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&arena, t] {
      std::mt19937 random(t);
      std::vector<uint64_t> live;
      for (int i = 0; i < 300; ++i) {
        if (live.size() < 10) {
          auto address = arena->Allocate(random() % 20000 + 1);
          ASSERT_TRUE(address.ok());
          *reinterpret_cast<uint64_t*>(*address) = *address;
          live.push_back(*address);
        } else {
          const size_t pick = random() % live.size();
          ASSERT_EQ(*reinterpret_cast<uint64_t*>(live[pick]), live[pick]);
          ASSERT_TRUE(arena->Free(live[pick]).ok());
          live.erase(live.begin() + static_cast<ptrdiff_t>(pick));
        }
      }
      for (uint64_t address : live) ASSERT_TRUE(arena->Free(address).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(arena->FreeBytes(), 256 * kMiB);
}

TEST(DeviceHeapTest, AllocatesFreesAndMerges) {
  auto arena = NewArena(kMiB);
  DeviceHeap heap(arena.get(), 4096);
  EXPECT_EQ(heap.Allocate(0), 0u);
  EXPECT_EQ(heap.Allocate(5000), 0u);
  const uint64_t a = heap.Allocate(1000);
  const uint64_t b = heap.Allocate(1000);
  const uint64_t c = heap.Allocate(2000);
  ASSERT_TRUE(a != 0 && b != 0 && c != 0);
  EXPECT_EQ(a % 16, 0u);
  EXPECT_EQ(heap.Allocate(2000), 0u);
  EXPECT_FALSE(heap.Free(a + 16));
  EXPECT_TRUE(heap.Free(b));
  EXPECT_FALSE(heap.Free(b));
  EXPECT_TRUE(heap.Free(a));
  EXPECT_TRUE(heap.Free(c));
  EXPECT_NE(heap.Allocate(4096), 0u);
}

TEST(OptionsTest, SizesHaveSuffixes) {
  EXPECT_EQ(*ParseBytes("123"), 123u);
  EXPECT_EQ(*ParseBytes("64K"), 64u << 10);
  EXPECT_EQ(*ParseBytes("8m"), 8u << 20);
  EXPECT_EQ(*ParseBytes("2G"), uint64_t{2} << 30);
  for (const char* bad :
       {"", "K", "-1", "12Q", "12KB", "99999999999999999999", "99999999T"}) {
    EXPECT_FALSE(ParseBytes(bad).ok()) << bad;
  }
}

TEST(OptionsTest, VariablesAreReadAndRefusedByName) {
  setenv("HETGPU_CPU_THREADS", "1", 1);
  setenv("HETGPU_CPU_MEMORY", "1G", 1);
  const auto options = ReadOptions();
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->threads, 1u);
  EXPECT_EQ(options->memory_bytes, uint64_t{1} << 30);
  setenv("HETGPU_CPU_THREADS", "none", 1);
  EXPECT_NE(ReadOptions().status().message().find("HETGPU_CPU_THREADS=none"),
            std::string::npos);
  unsetenv("HETGPU_CPU_THREADS");
  unsetenv("HETGPU_CPU_MEMORY");
}

}  // namespace
}  // namespace hetgpu::cpu
