// Kernels that go wrong: the launch fails, the process and the device live.
#include <chrono>
#include <thread>

#include "backends/cpu/test_device.h"

namespace hetgpu::cpu {
namespace {

using Kind = LaunchError::Kind;

struct AddressParams {
  uint64_t address;
  uint32_t block;
  uint32_t unit;
};

// One thread of the grid stores to an address.
HETGPU_EMITTED void StoreAt(BlockContext* b, uint32_t first, uint32_t count) {
  const auto& params = ParamsOf<AddressParams>(b);
  for (uint32_t unit = first; unit < first + count; ++unit) {
    b->current_unit = unit;
    if (b->ctaid[0] == params.block && unit == params.unit) {
      *reinterpret_cast<volatile uint32_t*>(params.address) = 1;
    }
  }
}

class FaultTest : public testing::TestWithParam<bool> {
 protected:
  LaunchError Store(uint64_t address) {
    return device_.Run(device_.Code(StoreAt, GetParam()),
                       {{50, 1, 1}, {8, 4, 2}}, AddressParams{address, 37, 45});
  }
  TestDevice device_;
};

INSTANTIATE_TEST_SUITE_P(Fibers, FaultTest, testing::Bool());

TEST_P(FaultTest, AWildStoreNamesItsPlaceAndTheDeviceStaysUsable) {
  for (int round = 0; round < 20; ++round) {
    const LaunchError error = Store(0x10);
    ASSERT_EQ(error.kind, Kind::kIllegalAddress);
    EXPECT_TRUE(error.has_address);
    EXPECT_EQ(error.address, 0x10u);
    EXPECT_TRUE(error.has_thread);
    EXPECT_EQ(error.block.x, 37u);
    EXPECT_EQ(error.thread.x, 45u % 8);
    EXPECT_EQ(error.thread.y, 45u / 8 % 4);
    EXPECT_EQ(error.thread.z, 45u / 32);
    EXPECT_EQ(error.line, 7u);
    uint32_t good = 0;
    ASSERT_EQ(Store(reinterpret_cast<uint64_t>(&good)).kind, Kind::kNone);
    ASSERT_EQ(good, 1u);
  }
}

TEST_P(FaultTest, DanglingAndOutOfBoundsAddressesFault) {
  auto memory = device_.device().Allocate(1000);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(Store(*memory + 996).kind, Kind::kNone);
  EXPECT_EQ(Store(*memory + 1024).kind, Kind::kIllegalAddress);
  EXPECT_EQ(Store(*memory - 4096).kind, Kind::kIllegalAddress);
  ASSERT_TRUE(device_.device().Free(*memory).ok());
  EXPECT_EQ(Store(*memory).kind, Kind::kIllegalAddress);
}

TEST_P(FaultTest, AnAddressThatIsNotCanonicalFaults) {
  const LaunchError error = Store(0xdeadbeefdeadbeef);
  EXPECT_EQ(error.kind, Kind::kIllegalAddress);
  EXPECT_FALSE(error.has_address);
  EXPECT_EQ(error.address, 0u);
}

HETGPU_EMITTED void StoreFarInShared(BlockContext* b, uint32_t, uint32_t) {
  const uint64_t far = uint64_t{0xfffffff0} >> b->ctaid[0];
  *reinterpret_cast<volatile uint32_t*>(b->shared + far) = 1;
}

// Shared addresses have 32 bits: none reaches past the guard.
TEST_P(FaultTest, WildSharedAddressesFault) {
  for (uint32_t shift : {0u, 4u, 8u, 12u}) {
    const LaunchError error =
        device_.Run(device_.Code(StoreFarInShared, GetParam()),
                    {{shift + 1, 1, 1}, {32, 1, 1}}, 0);
    EXPECT_EQ(error.kind, Kind::kIllegalAddress) << Describe(error);
  }
}

// Keeps the compiler from seeing that the recursion has no end.
HETGPU_EMITTED uint32_t Recurse(volatile uint32_t* depth) {
  volatile uint8_t frame[512];
  frame[*depth % 512] = static_cast<uint8_t>(*depth);
  *depth = *depth + 1;
  return *depth == 0 ? 0 : Recurse(depth) + frame[0];
}

HETGPU_EMITTED void RecurseForever(BlockContext* b, uint32_t first, uint32_t) {
  volatile uint32_t depth = 1;
  if (b->ctaid[0] == 3) depth = Recurse(&depth);
}

TEST_P(FaultTest, EndlessRecursionOverflowsTheStack) {
  const LaunchError error = device_.Run(
      device_.Code(RecurseForever, GetParam()), {{8, 1, 1}, {64, 1, 1}}, 0);
  EXPECT_EQ(error.kind, Kind::kStackOverflow) << Describe(error);
  EXPECT_EQ(error.block.x, 3u);
}

HETGPU_EMITTED void DivideByZero(BlockContext* b, uint32_t, uint32_t) {
  volatile uint32_t zero = b->ctaid[0];
  zero = 100 / zero;
}

HETGPU_EMITTED void Illegal(BlockContext*, uint32_t, uint32_t) {
  __builtin_trap();
}

TEST_P(FaultTest, BadInstructionsFail) {
  EXPECT_EQ(device_.Run(device_.Code(DivideByZero, GetParam()), {}, 0).kind,
            Kind::kInvalidInstruction);
  EXPECT_EQ(device_.Run(device_.Code(Illegal, GetParam()), {}, 0).kind,
            Kind::kInvalidInstruction);
}

HETGPU_EMITTED void TrapInLane(BlockContext* b, uint32_t first, uint32_t n) {
  for (uint32_t unit = first; unit < first + n; ++unit) {
    b->current_unit = unit;
    if (unit == 9) {
      b->helpers->trap(b, ParamsOf<uint32_t>(b), 0, 99);
    }
  }
}

TEST_P(FaultTest, TrapsNameKindLineAndThread) {
  const Kind kinds[] = {Kind::kTrap, Kind::kMisalignedAddress,
                        Kind::kInvalidInstruction};
  for (uint32_t kind = 0; kind < 3; ++kind) {
    const LaunchError error =
        device_.Run(device_.Code(TrapInLane, GetParam()), {}, kind);
    EXPECT_EQ(error.kind, kinds[kind]);
    EXPECT_EQ(error.line, 99u);
    EXPECT_EQ(error.thread.x, 9u);
  }
}

// A fault in library code that the kernel called.
struct HelperParams {
  uint64_t format;
  uint64_t arguments;
};

HETGPU_EMITTED void PrintBad(BlockContext* b, uint32_t first, uint32_t count) {
  const auto& params = ParamsOf<HelperParams>(b);
  b->current_unit = first;
  if (b->ctaid[0] == 2 && first == 0) {
    b->helpers->vprintf(b, params.format, params.arguments);
    b->current_unit = 0;  // no tail call
  }
}

HETGPU_EMITTED void CopyBad(BlockContext* b, uint32_t first, uint32_t count) {
  const auto& params = ParamsOf<HelperParams>(b);
  void* (*volatile copy)(void*, const void*, size_t) = std::memcpy;
  if (b->ctaid[0] == 2) {
    copy(b->params, reinterpret_cast<const void*>(params.format), 4096);
    b->current_unit = 0;  // no tail call
  }
}

TEST_P(FaultTest, AFaultInALibraryFunctionIsTheKernels) {
  const uint64_t bad_string = device_.Text(std::string("\x40\0\0\0\0\0\0", 8));
  for (const HelperParams& params :
       {HelperParams{0x20, 0},
        HelperParams{device_.Text("%d"), 8},
        HelperParams{reinterpret_cast<uint64_t>("host"), 0},
        HelperParams{device_.Text("%s"), bad_string}}) {
    const LaunchError error = device_.Run(device_.Code(PrintBad, GetParam()),
                                          {{4, 1, 1}, {32, 1, 1}}, params);
    EXPECT_EQ(error.kind, Kind::kIllegalAddress);
    EXPECT_EQ(error.block.x, 2u);
    EXPECT_EQ(error.line, 7u) << Describe(error);
  }
// The memcpy of the sanitizers has frames of its own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const LaunchError error =
      device_.Run(device_.Code(CopyBad, GetParam()), {{4, 1, 1}, {32, 1, 1}},
                  HelperParams{0x1000, 0});
  EXPECT_EQ(error.kind, Kind::kIllegalAddress);
  EXPECT_EQ(error.line, 7u) << Describe(error);
#endif
}

// ---- Stopping ---------------------------------------------------------------

HETGPU_EMITTED void Forever(BlockContext* b, uint32_t, uint32_t) {
  volatile uint32_t forever = 1;
  while (forever != 0) {
  }
}

HETGPU_EMITTED void SpinForever(BlockContext* b, uint32_t, uint32_t) {
  volatile uint32_t forever = 1;
  while (forever != 0) b->helpers->yield(b);
}

HETGPU_EMITTED void SleepForever(BlockContext* b, uint32_t, uint32_t) {
  volatile uint32_t forever = 1;
  while (forever != 0) b->helpers->nanosleep(b, 1000000);
}

// ThreadSanitizer delivers asynchronous signals late, with a copy of the
// registers: nothing then leaves a loop that calls no helper.
#ifdef __SANITIZE_THREAD__
constexpr bool kCanInterrupt = false;
#else
constexpr bool kCanInterrupt = true;
#endif

TEST_P(FaultTest, TimeoutsEndEveryKindOfLoop) {
  for (Entry entry : {Forever, SpinForever, SleepForever}) {
    if (entry == Forever && !kCanInterrupt) continue;
    const auto start = std::chrono::steady_clock::now();
    const LaunchError error = device_.Run(device_.Code(entry, GetParam()),
                                          {{100, 1, 1}, {64, 1, 1}, 0, 30}, 0);
    const auto took = std::chrono::steady_clock::now() - start;
    EXPECT_EQ(error.kind, Kind::kTimeout);
    EXPECT_NE(error.detail.find("30 ms"), std::string::npos);
    EXPECT_LT(took, std::chrono::seconds(10));
  }
}

TEST_P(FaultTest, CancelEndsTheRunningLaunchAndDropsTheQueued) {
  for (Entry entry : {Forever, SpinForever}) {
    if (entry == Forever && !kCanInterrupt) continue;
    uint32_t touched = 0;
    device_.Start(device_.Code(entry, GetParam()), {{100, 1, 1}, {64, 1, 1}},
                  0);
    device_.Start(device_.Code(StoreAt, GetParam()), {{1, 1, 1}, {1, 1, 1}},
                  AddressParams{reinterpret_cast<uint64_t>(&touched), 0, 0});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    device_.queue().Cancel();
    EXPECT_EQ(device_.Finish().kind, Kind::kCancelled);
    EXPECT_EQ(touched, 0u);
    uint32_t good = 0;
    EXPECT_EQ(Store(reinterpret_cast<uint64_t>(&good)).kind, Kind::kNone);
  }
}

TEST_P(FaultTest, AFaultStopsTheOtherWorkersOfItsLaunch) {
  if (!kCanInterrupt) GTEST_SKIP() << "needs asynchronous signals";
  // Block 0 never ends; the others fail.
  struct Entries {
    HETGPU_EMITTED static void Run(BlockContext* b, uint32_t, uint32_t) {
      volatile uint32_t forever = 1;
      if (b->ctaid[0] == 0) {
        while (forever != 0) {
        }
      }
      volatile uint64_t null_page = 8;
      *reinterpret_cast<volatile uint32_t*>(null_page) = 1;
    }
  };
  TestDevice device(2);
  const LaunchError error = device.Run(device.Code(Entries::Run, GetParam()),
                                       {{64, 1, 1}, {1, 1, 1}}, 0);
  EXPECT_EQ(error.kind, Kind::kIllegalAddress);
  EXPECT_EQ(error.address, 8u);
}

// Outside kernels a fault still ends the process.
TEST(FaultDeathTest, HostFaultsAreNotSwallowed) {
  TestDevice device;
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  volatile uint64_t null_page = 8;
  EXPECT_DEATH(*reinterpret_cast<volatile uint32_t*>(null_page) = 1, "");
}

}  // namespace
}  // namespace hetgpu::cpu
