// Unified contexts through the C API, on simulated devices.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "runtime/testing/unified_fixture.h"

namespace hetgpu::runtime {
namespace {

TEST_F(UnifiedTest, OneAddressEverywhere) {
  const hetgpuDevicePtr a = Alloc(1000 * 8, 1);
  EXPECT_SUCCESS(Launch(0, "set", a, 1000, 5));
  uint64_t expected = 1004;
  for (int device = 0; device < 4; ++device) {
    EXPECT_EQ(Word(device, a + 999 * 8), expected);
    EXPECT_SUCCESS(Launch(device, "mix", a, a, 1000));
    expected = 4 * expected + 1;
  }
  EXPECT_EQ(Word(2, a + 999 * 8), expected);
  EXPECT_EQ(Attributes(3, a + 8).base, a);
  EXPECT_EQ(Attributes(3, a).is_unified, 1u);
  EXPECT_EQ(Attributes(3, a).resident_bytes, 8000u);
  EXPECT_EQ(Attributes(0, a).resident_bytes, 0u);
  EXPECT_SUCCESS(hetgpuMemFree(Context(3), a));
}

TEST_F(UnifiedTest, WrongAddressesAreNamedInEveryContext) {
  const hetgpuDevicePtr a = Alloc(64, 0);
  EXPECT_RESULT(HETGPU_ERROR_INTERIOR_POINTER,
                hetgpuMemFree(Context(1), a + 8));
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_RANGE,
                hetgpuMemFill(Context(2), a, 0, 1, 65));
  EXPECT_SUCCESS(hetgpuMemFree(Context(1), a));
  EXPECT_RESULT(HETGPU_ERROR_DOUBLE_FREE, hetgpuMemFree(Context(0), a));
  EXPECT_RESULT(HETGPU_ERROR_USE_AFTER_FREE,
                hetgpuMemFill(Context(2), a, 0, 1, 4));
  EXPECT_RESULT(HETGPU_ERROR_USE_AFTER_FREE,
                hetgpuMemPrefetch(Context(2), a, 4));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS,
                hetgpuMemAdvise(Context(2), 0x10, HETGPU_MEM_ADVICE_NONE));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE, [&] {
    hetgpuDevicePtr none;
    return hetgpuMemAlloc(Context(0), 0, &none);
  }());
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_MEMORY, [&] {
    hetgpuDevicePtr none;
    return hetgpuMemAlloc(Context(0), uint64_t{1} << 50, &none);
  }());
}

TEST_F(UnifiedTest, OtherContextsDoNotTakePart) {
  const Member alone = Make(0, 0);
  const hetgpuDevicePtr mine = Alloc(64, 0);
  hetgpuDevicePtr theirs;
  ASSERT_SUCCESS(hetgpuMemAlloc(alone.context, 64, &theirs));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS,
                hetgpuMemFree(alone.context, mine));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_ADDRESS,
                hetgpuMemFree(Context(0), theirs));
  EXPECT_RESULT(HETGPU_ERROR_UNSUPPORTED,
                hetgpuContextSetLimit(alone.context,
                                      HETGPU_LIMIT_RESIDENT_BYTES, kMiB));
  EXPECT_SUCCESS(hetgpuMemPrefetch(alone.context, theirs, 64));
  EXPECT_SUCCESS(hetgpuContextDestroy(alone.context));
  hetgpuDevice device;
  hetgpuContext context;
  ASSERT_SUCCESS(hetgpuDeviceGet(0, &device));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuContextCreate(device, 2, &context));
}

TEST_F(UnifiedTest, AListBuiltOnOneDeviceIsWalkedOnAnother) {
  const hetgpuDevicePtr nodes = Alloc(100 * 16, 1), out = Alloc(8, 1);
  // A second list, which only memory points to.
  const hetgpuDevicePtr more = Alloc(50 * 16, 1);
  EXPECT_SUCCESS(Launch(1, "link", nodes, 100));
  EXPECT_SUCCESS(Launch(2, "link", more, 50));
  EXPECT_SUCCESS(hetgpuMemCopyHtoD(Context(0), nodes + 99 * 16, &more, 8));
  const uint64_t sum = 99 * 50 + 49 * 25;
  for (int device : {0, 1, 2, 3}) {
    EXPECT_SUCCESS(Launch(device, "walk", nodes, out));
    EXPECT_EQ(Word(device, out), sum) << device;
  }
  EXPECT_SUCCESS(Launch(1, "bump", nodes));
  EXPECT_SUCCESS(Launch(0, "walk", nodes, out));
  EXPECT_EQ(Word(3, out), sum + 150);
}

TEST_F(UnifiedTest, ReadersShareAndMoveNothingTwice) {
  const hetgpuDevicePtr a = Alloc(kMiB), b = Alloc(kMiB), c = Alloc(kMiB);
  EXPECT_SUCCESS(Launch(1, "set", a, kMiB / 8, 1));
  EXPECT_SUCCESS(Launch(0, "set", b, kMiB / 8, 1));
  EXPECT_SUCCESS(Launch(1, "set", c, kMiB / 8, 1));
  const uint64_t before = Counter(HETGPU_COUNTER_BYTES_MOVED);
  EXPECT_SUCCESS(Launch(0, "mix", b, a, kMiB / 8));
  EXPECT_EQ(Counter(HETGPU_COUNTER_BYTES_MOVED), before + kMiB);
  for (int i = 0; i < 5; ++i) {
    EXPECT_SUCCESS(Launch(0, "mix", b, a, kMiB / 8));
    EXPECT_SUCCESS(Launch(1, "mix", c, a, kMiB / 8));
  }
  EXPECT_EQ(Counter(HETGPU_COUNTER_BYTES_MOVED), before + kMiB);
}

TEST_F(UnifiedTest, AdviceSavesTransfers) {
  const hetgpuDevicePtr first = Alloc(kMiB), read = Alloc(kMiB);
  const hetgpuDevicePtr out = Alloc(64);
  EXPECT_SUCCESS(Launch(1, "set", first, kMiB / 8, 1));
  EXPECT_SUCCESS(Launch(1, "set", read, kMiB / 8, 0));
  EXPECT_SUCCESS(
      hetgpuMemAdvise(Context(2), first, HETGPU_MEM_ADVICE_WRITE_FIRST));
  EXPECT_SUCCESS(
      hetgpuMemAdvise(Context(2), read, HETGPU_MEM_ADVICE_READ_ONLY));
  EXPECT_EQ(Attributes(0, read).advice, HETGPU_MEM_ADVICE_READ_ONLY);
  uint64_t before = Counter(HETGPU_COUNTER_BYTES_MOVED);
  EXPECT_SUCCESS(Launch(0, "set", first, kMiB / 8, 7));
  EXPECT_EQ(Counter(HETGPU_COUNTER_BYTES_MOVED), before);
  EXPECT_EQ(Word(1, first + kMiB - 8), 7 + kMiB / 8 - 1);
  // What may write anywhere leaves what is only read where it is.
  EXPECT_SUCCESS(hetgpuMemFree(Context(0), first));
  EXPECT_SUCCESS(Launch(0, "opaque", out, 8, 3));
  EXPECT_EQ(Attributes(1, read).resident_bytes, kMiB);
  EXPECT_EQ(Attributes(0, read).resident_bytes, kMiB);
  before = Counter(HETGPU_COUNTER_BYTES_MOVED);
  EXPECT_SUCCESS(Launch(1, "walk", read, out));
  EXPECT_EQ(Counter(HETGPU_COUNTER_BYTES_MOVED), before + 64);
}

TEST_F(UnifiedTest, PrefetchedDataIsThereWhenNeeded) {
  const hetgpuDevicePtr a = Alloc(kMiB), b = Alloc(kMiB);
  EXPECT_SUCCESS(Launch(1, "set", a, kMiB / 8, 1));
  EXPECT_SUCCESS(hetgpuMemPrefetch(Context(0), a, kMiB));
  EXPECT_SUCCESS(hetgpuMemPrefetchAsync(b, 100, Stream(0)));
  EXPECT_EQ(Attributes(0, a).resident_bytes, kMiB);
  const uint64_t before = Counter(HETGPU_COUNTER_BYTES_MOVED);
  EXPECT_SUCCESS(Launch(0, "mix", b, a, kMiB / 8));
  EXPECT_EQ(Counter(HETGPU_COUNTER_BYTES_MOVED), before);
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_RANGE,
                hetgpuMemPrefetch(Context(0), a, kMiB + 1));
}

TEST_F(UnifiedTest, MoreThanADeviceHolds) {
  std::vector<hetgpuDevicePtr> all;
  for (int i = 0; i < 10; ++i) all.push_back(Alloc(4 * kMiB, 1));  // 40 MiB
  for (int i = 0; i < 10; ++i) {
    EXPECT_SUCCESS(Launch(1, "set", all[i], kMiB / 2, i * 1000));
  }
  for (int i = 0; i + 1 < 10; ++i) {
    EXPECT_SUCCESS(Launch(1, "mix", all[i], all[i + 1], kMiB / 2));
    EXPECT_LE(SimMappedBytes(1), kSimMemory);
  }
  for (uint64_t i = 0; i < 9; ++i) {
    EXPECT_EQ(Word(i % 4, all[i] + 800), (i * 1000 + 100) * 3 +
                                             (i * 1000 + 1100) + 1);
  }
}

TEST_F(UnifiedTest, ALimitBoundsWhatIsResident) {
  ASSERT_SUCCESS(hetgpuContextSetLimit(Context(1), HETGPU_LIMIT_RESIDENT_BYTES,
                                       8 * kMiB));
  uint64_t limit = 0;
  EXPECT_SUCCESS(hetgpuContextGetLimit(Context(1), HETGPU_LIMIT_RESIDENT_BYTES,
                                       &limit));
  EXPECT_EQ(limit, 8 * kMiB);
  const hetgpuDevicePtr a = Alloc(6 * kMiB), b = Alloc(6 * kMiB);
  EXPECT_SUCCESS(Launch(1, "set", a, 10, 1));
  EXPECT_SUCCESS(Launch(1, "set", b, 10, 2));
  EXPECT_EQ(SimMappedBytes(1), 6 * kMiB);
  // Both at once cannot be there: refused before it starts, nothing changes.
  EXPECT_RESULT(HETGPU_ERROR_WORKING_SET_TOO_LARGE,
                Launch(1, "mix", a, b, 10));
  EXPECT_NE(std::string(hetgpuGetLastErrorDetail()).find("sim:1 holds at most "
                                                         "8388608"),
            std::string::npos);
  EXPECT_RESULT(HETGPU_ERROR_WORKING_SET_TOO_LARGE,
                Launch(1, "opaque", a, 10, 1));
  EXPECT_EQ(Word(1, a), 1u);
  EXPECT_SUCCESS(Launch(2, "mix", a, b, 10));
  EXPECT_EQ(Word(1, a), 6u);
  EXPECT_SUCCESS(
      hetgpuContextSetLimit(Context(1), HETGPU_LIMIT_RESIDENT_BYTES, 0));
  EXPECT_SUCCESS(Launch(1, "mix", a, b, 10));
}

TEST_F(UnifiedTest, OthersMayHaveTakenTheMemory) {
  const hetgpuDevicePtr a = Alloc(4 * kMiB), b = Alloc(4 * kMiB);
  EXPECT_SUCCESS(Launch(1, "set", a, 10, 1));
  Sim().taken = kSimMemory - 6 * kMiB;
  EXPECT_SUCCESS(Launch(1, "set", b, 10, 2));
  EXPECT_EQ(SimMappedBytes(1), 4 * kMiB);
  EXPECT_RESULT(HETGPU_ERROR_WORKING_SET_TOO_LARGE, Launch(1, "mix", a, b, 10));
  EXPECT_EQ(Word(0, a), 1u);
  EXPECT_EQ(Word(0, b), 2u);
}

TEST_F(UnifiedTest, DevicesWorkAtTheSameTimeOnDifferentData) {
  const hetgpuDevicePtr a = Alloc(8), b = Alloc(800), c = Alloc(8);
  EXPECT_SUCCESS(Launch(1, "set", b, 100, 1));
  Sim().gate_open = false;
  EXPECT_SUCCESS(Launch(0, "gate", a));
  EXPECT_SUCCESS(Launch(1, "set", b, 100, 5));
  EXPECT_EQ(Word(1, b), 5u);
  EXPECT_SUCCESS(Launch(2, "mix", b, b, 100));
  EXPECT_EQ(Word(2, b), 21u);
  EXPECT_RESULT(HETGPU_ERROR_NOT_READY, hetgpuStreamQuery(Stream(0)));
  // Who needs what the gate's kernel writes waits.
  std::thread opener([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Sim().gate_open = true;
  });
  EXPECT_SUCCESS(Launch(1, "mix", c, a, 1));
  EXPECT_SUCCESS(hetgpuContextSynchronize(Context(1)));
  opener.join();
  EXPECT_EQ(Word(3, a), 1u);
}

TEST_F(UnifiedTest, ContextsOnOneDeviceWaitForEachOther) {
  members_.push_back(Make(1, HETGPU_CONTEXT_UNIFIED));
  std::swap(members_[2], members_.back());
  const hetgpuDevicePtr a = Alloc(800), b = Alloc(8);
  for (int round = 0; round < 200; ++round) {
    EXPECT_SUCCESS(Launch(round % 2 == 0 ? 1 : 2, "mix", a, a, 100));
  }
  EXPECT_SUCCESS(Launch(1, "set", a, 100, 1));
  EXPECT_SUCCESS(Launch(2, "mix", a, a, 100));
  EXPECT_EQ(Word(0, a), 5u);
  Sim().gate_open = false;
  EXPECT_SUCCESS(Launch(1, "gate", b));
  EXPECT_SUCCESS(Launch(2, "mix", a, b, 1));
  EXPECT_RESULT(HETGPU_ERROR_NOT_READY, hetgpuStreamQuery(Stream(2)));
  Sim().gate_open = true;
  EXPECT_EQ(Word(2, a), 5u * 3 + 2);
}

TEST_F(UnifiedTest, SmallWritesTravelTogether) {
  const hetgpuDevicePtr a = Alloc(64 << 10);
  EXPECT_SUCCESS(Launch(1, "set", a, 8 << 10, 0));
  EXPECT_SUCCESS(hetgpuContextSynchronize(Context(1)));
  const uint64_t before = Sim().copies;
  for (uint64_t i = 0; i < 1000; ++i) {
    const uint64_t value = 10 * i;
    EXPECT_SUCCESS(hetgpuMemCopyHtoD(Context(1), a + 8 * i, &value, 8));
  }
  const std::vector<uint64_t> all = Download(1, a, 1001);
  EXPECT_LE(Sim().copies - before, 3u);
  for (uint64_t i = 0; i < 1000; ++i) ASSERT_EQ(all[i], 10 * i);
  EXPECT_EQ(all[1000], 1000u);
  EXPECT_EQ(Word(0, a + 80), 100u);
}

TEST_F(UnifiedTest, ReadingOnFetchesAhead) {
  const hetgpuDevicePtr a = Alloc(2 * kMiB), b = Alloc(64);
  EXPECT_SUCCESS(Launch(1, "set", a, kMiB / 4, 0));
  EXPECT_SUCCESS(Launch(2, "set", b, 8, 0));
  EXPECT_SUCCESS(hetgpuContextSynchronize(Context(1)));
  const uint64_t before = Sim().copies;
  for (uint64_t i = 0; i < 256; ++i) {
    EXPECT_EQ(Word(2, a + 8 * i), i);
  }
  EXPECT_LE(Sim().copies - before, 3u);
}

TEST_F(UnifiedTest, AFailedLaunchCostsNobodyElsesData) {
  const hetgpuDevicePtr a = Alloc(800), b = Alloc(800);
  EXPECT_SUCCESS(Launch(1, "set", a, 100, 1));
  EXPECT_SUCCESS(Launch(2, "fail", b));
  // The stream skips these until the failure has been reported.
  const std::vector<uint64_t> other(100, 77);
  EXPECT_SUCCESS(hetgpuMemCopyHtoDAsync(a, other.data(), 800, Stream(2)));
  EXPECT_SUCCESS(Launch(2, "set", a, 100, 99));
  EXPECT_SUCCESS(hetgpuMemFillAsync(a, 5, 8, 100, Stream(2)));
  EXPECT_RESULT(HETGPU_ERROR_LAUNCH_TRAP, hetgpuContextSynchronize(Context(2)));
  EXPECT_EQ(Word(2, a + 80), 11u);
  EXPECT_EQ(Word(0, a + 80), 11u);
}

TEST_F(UnifiedTest, DataOutlivesTheContextsOfItsDevice) {
  const hetgpuDevicePtr a = Alloc(kMiB, 1);
  EXPECT_SUCCESS(Launch(1, "set", a, 100, 1));
  EXPECT_SUCCESS(hetgpuContextDestroy(Context(1)));
  EXPECT_EQ(SimMappedBytes(1), 0u);
  EXPECT_EQ(Word(2, a + 80), 11u);
  members_[1] = Make(1, HETGPU_CONTEXT_UNIFIED);
  EXPECT_SUCCESS(Launch(1, "mix", a, a, 100));
  EXPECT_EQ(Word(0, a), 5u);
  const Member second = Make(1, HETGPU_CONTEXT_UNIFIED);
  EXPECT_SUCCESS(hetgpuContextDestroy(Context(1)));
  members_[1] = second;
  EXPECT_EQ(Word(1, a), 5u);
}

TEST_F(UnifiedTest, LostContentsAreCountedAndReplicasServe) {
  const hetgpuDevicePtr a = Alloc(kMiB), b = Alloc(kMiB);
  EXPECT_SUCCESS(Launch(1, "set", a, 100, 1));
  EXPECT_EQ(Word(0, a), 1u);  // a replica on the host
  EXPECT_SUCCESS(hetgpuMemPrefetch(Context(0), a, kMiB));
  EXPECT_SUCCESS(Launch(1, "set", b, 100, 2));
  EXPECT_SUCCESS(hetgpuContextSynchronize(Context(1)));
  const uint64_t before = Counter(HETGPU_COUNTER_BYTES_LOST);
  LoseSimMemory(1);
  EXPECT_SUCCESS(Launch(1, "mix", a, a, 100));
  EXPECT_EQ(Word(1, a), 5u);
  EXPECT_EQ(Counter(HETGPU_COUNTER_BYTES_LOST), before + kMiB);
  EXPECT_SUCCESS(Launch(1, "set", b, 100, 3));
  EXPECT_EQ(Word(0, b), 3u);
}

TEST_F(UnifiedTest, TheOthersGoOnWithoutALostDevice) {
  const hetgpuDevicePtr a = Alloc(kMiB), b = Alloc(kMiB);
  EXPECT_SUCCESS(Launch(1, "set", a, 100, 1));
  EXPECT_SUCCESS(hetgpuMemPrefetch(Context(0), a, kMiB));
  EXPECT_SUCCESS(Launch(1, "set", b, 100, 2));
  EXPECT_SUCCESS(hetgpuContextSynchronize(Context(1)));
  const uint64_t before = Counter(HETGPU_COUNTER_BYTES_LOST);
  Sim().is_lost = true;
  EXPECT_SUCCESS(Launch(2, "mix", a, a, 100));
  EXPECT_EQ(Word(3, a), 5u);
  EXPECT_EQ(Counter(HETGPU_COUNTER_BYTES_LOST), before + kMiB);
  EXPECT_SUCCESS(Launch(2, "set", b, 100, 3));
  EXPECT_EQ(Word(0, b), 3u);
  Sim().is_lost = false;
}

// Random calls on four devices, with steps that fail, against flat memory.
class UnifiedModelTest : public UnifiedTest {
 protected:
  void Run(uint64_t seed, int steps) {
    random_.seed(seed);
    live_.clear();
    Sim().fail_one_in = 60;
    for (int i = 0; i < steps && !HasFailure(); ++i) {
      SCOPED_TRACE("HETGPU_MODEL_SEED=" + std::to_string(seed) + ", step " +
                   std::to_string(i));
      OneStep();
    }
    Sim().fail_one_in = 0;
    for (auto& [address, words] : live_) {
      CheckAll(random_() % 4, address, words);
      EXPECT_SUCCESS(hetgpuMemFree(Context(random_() % 4), address));
    }
  }

 private:
  using Live = std::map<hetgpuDevicePtr, std::vector<uint64_t>>;

  Live::iterator Any() {
    auto it = live_.begin();
    std::advance(it, random_() % live_.size());
    return it;
  }

  void CheckAll(int device, hetgpuDevicePtr address,
                const std::vector<uint64_t>& words) {
    std::vector<uint64_t> host(words.size());
    const hetgpuResult read = hetgpuMemCopyDtoH(Context(device), host.data(),
                                                address, 8 * words.size());
    if (read != HETGPU_SUCCESS) return;  // injected
    ASSERT_EQ(host, words);
  }

  void Allocate() {
    const uint64_t sizes[] = {1 + random_() % 100, 1 + random_() % 20000,
                              1 + random_() % 400000};
    const uint64_t count = sizes[random_() % 3];
    const hetgpuDevicePtr address = Alloc(8 * count, random_() % 4);
    ASSERT_NE(address, 0u);
    // Everything is defined: all of it written once, whatever fails.
    std::vector<uint64_t> words(count, count);
    while (hetgpuMemCopyHtoD(Context(random_() % 4), address, words.data(),
                             8 * count) != HETGPU_SUCCESS) {
    }
    live_[address] = std::move(words);
  }

  void OneStep() {
    const int device = random_() % 4;
    if (live_.size() < 2) return Allocate();
    const auto a = Any(), b = Any();
    const uint64_t n = 1 + random_() % std::min(a->second.size(),
                                                b->second.size());
    switch (random_() % 12) {
      case 0:
        if (live_.size() < 12) return Allocate();
        [[fallthrough]];
      case 1:
        EXPECT_SUCCESS(hetgpuMemFree(Context(device), a->first));
        live_.erase(a);
        return;
      case 2:
        return CheckAll(device, a->first, a->second);
      case 3: {
        const uint64_t value = random_(), at = random_() % a->second.size();
        if (hetgpuMemCopyHtoD(Context(device), a->first + 8 * at, &value, 8) ==
            HETGPU_SUCCESS) {
          a->second[at] = value;
        }
        return;
      }
      case 4:
        if (hetgpuMemFillAsync(a->first, 42, 8, n, Stream(device)) ==
            HETGPU_SUCCESS) {
          std::fill_n(a->second.begin(), n, 42);
        }
        return;
      case 5:
        if (a == b || hetgpuMemCopyDtoD(Context(device), a->first, b->first,
                                        8 * n) != HETGPU_SUCCESS) {
          return;
        }
        std::copy_n(b->second.begin(), n, a->second.begin());
        return;
      case 6: {
        const hetgpuMemAdvice advices[] = {HETGPU_MEM_ADVICE_NONE,
                                           HETGPU_MEM_ADVICE_PREFER_DEVICE,
                                           HETGPU_MEM_ADVICE_PREFER_HOST};
        EXPECT_SUCCESS(hetgpuMemAdvise(Context(device), a->first,
                                       advices[random_() % 3]));
        return;
      }
      case 7:
        (void)hetgpuMemPrefetchAsync(a->first, 8 * n, Stream(device));
        return;
      case 8: {
        const uint64_t value = random_();
        if (Launch(device, random_() % 2 == 0 ? "set" : "opaque", a->first, n,
                   value) == HETGPU_SUCCESS) {
          for (uint64_t i = 0; i < n; ++i) a->second[i] = value + i;
        }
        return;
      }
      default:
        if (Launch(device, "mix", a->first, b->first, n) == HETGPU_SUCCESS) {
          for (uint64_t i = 0; i < n; ++i) {
            a->second[i] = a->second[i] * 3 + b->second[i] + 1;
          }
        }
        return;
    }
  }

  std::mt19937_64 random_;
  Live live_;
};

TEST_F(UnifiedModelTest, DevicesSeeWhatWasWrittenLast) {
  const char* seed = std::getenv("HETGPU_MODEL_SEED");
  const uint64_t first = seed == nullptr ? 1 : std::strtoull(seed, nullptr, 0);
  const uint64_t failures = Sim().failures;
  for (uint64_t i = first; i < first + 4; ++i) Run(i, 600);
  EXPECT_GT(Sim().failures, failures + 10);
}

TEST_F(UnifiedTest, ThreadsWorkOnAllDevicesAtOnce) {
  constexpr int kRounds = 60;
  const hetgpuDevicePtr shared = Alloc(800);
  EXPECT_SUCCESS(Launch(0, "set", shared, 100, 1));
  std::vector<std::thread> threads;
  for (int device = 0; device < 4; ++device) {
    threads.emplace_back([this, device, shared] {
      std::vector<uint64_t> expected(100, 0);
      const hetgpuDevicePtr mine = Alloc(800, device);
      EXPECT_SUCCESS(Launch(device, "set", mine, 100, 0));
      for (uint64_t i = 0; i < 100; ++i) expected[i] = i;
      for (int round = 0; round < kRounds; ++round) {
        const int where = (device + round) % 4;
        EXPECT_SUCCESS(Launch(where, "mix", mine, shared, 100));
        for (uint64_t i = 0; i < 100; ++i) {
          expected[i] = expected[i] * 3 + (i + 1) + 1;
        }
        const hetgpuDevicePtr more = Alloc(3 * kMiB, where);
        EXPECT_SUCCESS(Launch(where, "set", more, 10, round));
        EXPECT_SUCCESS(hetgpuMemFree(Context(device), more));
      }
      EXPECT_EQ(Download(device, mine, 100), expected);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace hetgpu::runtime
