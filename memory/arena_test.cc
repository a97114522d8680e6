#include "memory/arena.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>
#include <vector>

namespace hetgpu::memory {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

TEST(ArenaTest, TheFirstDeviceSettlesWhereItLies) {
  Arena arena;
  EXPECT_EQ(arena.base(), kPreferredArenaBase);
  EXPECT_FALSE(arena.is_reserved());
  EXPECT_EQ(arena.Settle(0x7000000000, 4 * kGiB), 0x7000000000u);
  EXPECT_EQ(arena.Settle(0x9000000000, 8 * kGiB), 0x7000000000u);
  EXPECT_EQ(arena.bytes(), 4 * kGiB);
  EXPECT_EQ(arena.Allocate(4096, 4096), 0x7000000000u);
  EXPECT_TRUE(arena.Contains(0x7000000000 + 4 * kGiB - 1));
  EXPECT_FALSE(arena.Contains(0x7000000000 + 4 * kGiB));
  EXPECT_FALSE(arena.Contains(0x7000000000 - 1));
}

TEST(ArenaTest, AForcedBaseStays) {
  Arena arena(0x100000000000);
  EXPECT_EQ(arena.Settle(0x7000000000, 4 * kGiB), 0x100000000000u);
  EXPECT_EQ(arena.Allocate(1, 1), 0x100000000000u);
}

TEST(ArenaTest, AddressesHandedOutSettleIt) {
  Arena arena;
  const uint64_t first = arena.Allocate(4096, 4096);
  EXPECT_EQ(arena.Settle(0x7000000000, kGiB), kPreferredArenaBase);
  EXPECT_EQ(first, kPreferredArenaBase);
  EXPECT_FALSE(arena.is_reserved());
  arena.Settle(kPreferredArenaBase, kGiB);
  EXPECT_FALSE(arena.is_reserved());  // not all of it
  arena.Settle(kPreferredArenaBase, kArenaBytes);
  EXPECT_TRUE(arena.is_reserved());
}

TEST(ArenaTest, FreedAddressesComeBackOnlyWhenFreshOnesRunOut) {
  Arena arena;
  arena.Settle(kGiB, 10 * 4096);
  const uint64_t first = arena.Allocate(4096, 4096);
  arena.Free(first, 4096);
  for (int i = 1; i < 10; ++i) {
    EXPECT_EQ(arena.Allocate(4096, 4096), kGiB + i * 4096u);
  }
  EXPECT_EQ(arena.Allocate(4096, 4096), first);
  EXPECT_EQ(arena.Allocate(1, 1), 0u);
}

TEST(ArenaTest, GapsOfAlignmentAreNotLost) {
  Arena arena;
  arena.Settle(kGiB, 3 * 4096);
  EXPECT_EQ(arena.Allocate(256, 256), kGiB);
  EXPECT_EQ(arena.Allocate(8192, 4096), kGiB + 4096);
  EXPECT_EQ(arena.Allocate(4096 - 256, 256), kGiB + 256);
  EXPECT_EQ(arena.Allocate(256, 256), 0u);
}

TEST(ArenaTest, TheOccupantIsAwayWhileARangeIsReserved) {
  struct Guest : Occupant {
    void Leave() override { log += "leave "; }
    void Return() override { log += "return "; }
    std::string log;
  } guest;
  Arena arena;
  arena.Vacate([&] { guest.log += "alone "; });
  arena.SetOccupant(&guest);
  arena.Vacate([&] { guest.log += "reserve "; });
  EXPECT_EQ(guest.log, "alone leave reserve return ");
}

TEST(ArenaTest, BasesAreChecked) {
  EXPECT_EQ(ParseArenaBase("0x600000000000"), 0x600000000000u);
  EXPECT_EQ(ParseArenaBase("40000000"), 0x40000000u);
  for (const char* bad : {"", "0", "0x", "0x123", "zebra", "0x600000000000g",
                          "0x7fffc0000000", "0xffffffffffffffff"}) {
    EXPECT_FALSE(ParseArenaBase(bad)) << bad;
  }
}

TEST(ArenaTest, ThreadsGetDistinctAddresses) {
  Arena arena;
  arena.Settle(kGiB, 64 << 20);
  std::vector<std::vector<uint64_t>> held(4);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < held.size(); ++t) {
    threads.emplace_back([&arena, &mine = held[t], t] {
      std::mt19937 random(t);
      for (int i = 0; i < 5000; ++i) {
        if (mine.size() < 20) {
          mine.push_back(arena.Allocate(8192, 4096));
        } else {
          std::swap(mine[random() % mine.size()], mine.back());
          arena.Free(mine.back(), 8192);
          mine.pop_back();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::map<uint64_t, int> seen;
  for (const auto& mine : held) {
    for (const uint64_t address : mine) {
      ASSERT_NE(address, 0u);
      EXPECT_EQ(seen[address]++, 0);
    }
  }
  uint64_t end = 0;
  for (const auto& [address, count] : seen) {
    EXPECT_GE(address, end);
    end = address + 8192;
  }
}

TEST(ArenaTest, IsPlacedOnce) {
  Arena arena(0x100000000000);
  EXPECT_TRUE(arena.Place(0x200000000000, 1 << 30));
  EXPECT_TRUE(arena.is_settled());
  EXPECT_FALSE(arena.is_reserved());
  EXPECT_EQ(arena.base(), 0x200000000000u);
  EXPECT_EQ(arena.bytes(), uint64_t{1} << 30);
  EXPECT_EQ(arena.Allocate(4096, 4096), 0x200000000000u);
  EXPECT_TRUE(arena.Place(0x200000000000, 1 << 30));
  EXPECT_FALSE(arena.Place(0x300000000000, 1 << 30));
  EXPECT_EQ(arena.base(), 0x200000000000u);
}

}  // namespace
}  // namespace hetgpu::memory
