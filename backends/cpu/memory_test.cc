#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>

#include "backends/cpu/arena.h"
#include "backends/cpu/device.h"
#include "backends/cpu/heap.h"
#include "backends/cpu/host_cpu.h"
#include "backends/cpu/options.h"
#include "backends/cpu/sanitizers.h"

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
  const uint64_t size = arena->overlay().bytes() / 8;
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

TEST(ArenaTest, TwoArenasNeverShareAddresses) {
  auto one = NewArena(kMiB);
  auto other = NewArena(kMiB);
  const auto a = one->Allocate(4096);
  const auto b = other->Allocate(4096);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_NE(*a, *b);
  EXPECT_TRUE(absl::IsInvalidArgument(other->Free(*a)));
  EXPECT_TRUE(memory::Arena::Process().Contains(*a));
  EXPECT_TRUE(memory::Arena::Process().Contains(*b));
}

TEST(ArenaTest, MappingsCountAndAreTakenBackWhole) {
  auto arena = NewArena(4 * kMiB);
  memory::Arena& addresses = memory::Arena::Process();
  const uint64_t start = addresses.Allocate(3 * kMiB, kMiB);
  ASSERT_TRUE(arena->Map(start, 2 * kMiB).ok());
  *reinterpret_cast<uint64_t*>(arena->overlay().ToHost(start)) = 7;
  EXPECT_EQ(arena->FreeBytes(), 2 * kMiB);
  EXPECT_TRUE(absl::IsResourceExhausted(
      arena->Map(start + 2 * kMiB, 3 * kMiB)));
  EXPECT_TRUE(absl::IsInvalidArgument(arena->Unmap(start, kMiB)));
  EXPECT_TRUE(absl::IsInvalidArgument(arena->Unmap(start + 4096, kMiB)));
  EXPECT_TRUE(arena->Unmap(start, 2 * kMiB).ok());
  EXPECT_EQ(arena->FreeBytes(), 4 * kMiB);
  addresses.Free(start, 3 * kMiB);
}

TEST(OverlayTest, AnotherOverlayHoldsOtherContents) {
  auto other = Overlay::Create(0x500000000000);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_NE((*other)->delta(), 0u);
  auto here = NewArena(kMiB);
  Arena there(**other, kMiB);
  const uint64_t start = memory::Arena::Process().Allocate(4096, 4096);
  ASSERT_TRUE(here->Map(start, 4096).ok());
  ASSERT_TRUE(there.Map(start, 4096).ok());
  auto* const mine =
      reinterpret_cast<uint32_t*>(here->overlay().ToHost(start));
  auto* const theirs =
      reinterpret_cast<uint32_t*>(there.overlay().ToHost(start));
  *mine = 1;
  *theirs = 2;
  EXPECT_NE(mine, theirs);
  EXPECT_EQ(*mine, 1u);
  EXPECT_EQ(*theirs, 2u);
}

// What a GPU driver does that reserves the arena late.
TEST(OverlayTest, LeavesWithItsContentsAndComesBack) {
  auto arena = NewArena(64 * kMiB);
  const uint64_t base = arena->overlay().base();
  std::vector<uint64_t> all;
  for (uint64_t bytes : {100u, 5000u, 3u << 20}) {
    all.push_back(*arena->Allocate(bytes));
    *reinterpret_cast<uint64_t*>(all.back()) = bytes;
  }
  memory::Arena::Process().Vacate([&] {
    void* const taken =
        mmap(reinterpret_cast<void*>(base), arena->overlay().bytes(), PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    EXPECT_EQ(reinterpret_cast<uint64_t>(taken), base);
  });
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(all[0]), 100u);
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(all[1]), 5000u);
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(all[2]), 3u << 20);
  for (uint64_t address : all) EXPECT_TRUE(arena->Free(address).ok());
}

TEST(OverlayTest, ThreadsThatTouchItMeanwhileAreHeld) {
  if (HETGPU_HAS_TSAN) {
    GTEST_SKIP() << "its atomics hold a lock while they fault";
  }
  auto arena = NewArena(64 * kMiB);
  auto* const words =
      reinterpret_cast<std::atomic<uint64_t>*>(*arena->Allocate(3 << 20));
  std::atomic<bool> end = false;
  std::atomic<uint64_t> expected = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      uint64_t i = 0;
      for (; !end; ++i) words[(i * 8 + t) % 300000] += 1;
      expected += i;
    });
  }
  const uint64_t base = arena->overlay().base();
  for (int i = 0; i < 50; ++i) {
    memory::Arena::Process().Vacate([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      mmap(reinterpret_cast<void*>(base), arena->overlay().bytes(), PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    });
  }
  end = true;
  for (std::thread& thread : threads) thread.join();
  uint64_t sum = 0;
  for (int i = 0; i < 300000; ++i) sum += words[i];
  EXPECT_EQ(sum, expected);
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
  setenv("HETGPU_CPU_DEVICES", "2", 1);
  EXPECT_EQ(ReadOptions()->devices, 2u);
  setenv("HETGPU_CPU_DEVICES", "9", 1);
  EXPECT_NE(ReadOptions().status().message().find("HETGPU_CPU_DEVICES=9"),
            std::string::npos);
  unsetenv("HETGPU_CPU_DEVICES");
  EXPECT_EQ(ReadOptions()->target, kNativeTarget);
  for (const std::string& level : HostLevels()) {
    setenv("HETGPU_CPU_TARGET", level.c_str(), 1);
    EXPECT_EQ(ReadOptions()->target, level);
    EXPECT_NE(DescribeHost(*ReadOptions()).target.find(level),
              std::string::npos);
  }
  setenv("HETGPU_CPU_TARGET", "pentium", 1);
  EXPECT_NE(ReadOptions().status().message().find("HETGPU_CPU_TARGET=pentium"),
            std::string::npos);
  unsetenv("HETGPU_CPU_TARGET");
  unsetenv("HETGPU_CPU_THREADS");
  unsetenv("HETGPU_CPU_MEMORY");
}

}  // namespace
}  // namespace hetgpu::cpu
