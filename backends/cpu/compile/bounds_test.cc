// Accesses outside of kernel memory end the launch and name the thread, in every
// mode; and kernels run the same on memory that lies elsewhere in the process.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "backends/cpu/arena_window.h"
#include "backends/cpu/compile/test_kernel.h"

namespace hetgpu::cpu {
namespace {

using Kind = LaunchError::Kind;

constexpr uint64_t kElsewhere = 0x500000000000;
constexpr uint32_t kThreads = 96;

TestCompiler& Compiler(bool elsewhere) {
  static TestCompiler* const usual = new TestCompiler;
  static TestCompiler* const moved = new TestCompiler(kElsewhere);
  return elsewhere ? *moved : *usual;
}

// %p, %q and %n are the parameters (i64), %tid the thread (i32), %wide the same
// (i64), %by4 four times that. `body` may use them.
std::string Kernel(const std::string& body) {
  return R"(hetir.kernel @k attributes {param_bytes = 24 : i64} {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %p = hetir.load param %c0 : (i64) -> i64
  %q = hetir.load param %c0 {offset = 8 : i64} : (i64) -> i64
  %n = hetir.load param %c0 {offset = 16 : i64} : (i64) -> i64
  %tid = hetir.special_register tid_x : i32
  %wide = arith.extui %tid : i32 to i64
  %by4 = arith.muli %wide, %c4 : i64
  %one = arith.constant 1 : i32
)" + body + "\n  hetir.exit\n}\n";
}

struct Mode {
  std::string name;
  bool elsewhere;
};

class BoundsTest : public testing::TestWithParam<Mode> {
 protected:
  TestCompiler& compiler() { return Compiler(GetParam().elsewhere); }
  Device& device() { return compiler().device(); }

  LaunchError Run(const std::string& body, std::vector<uint64_t> params,
                  uint32_t shared = 0, uint64_t data = 0) {
    CompileOptions options;
    options.mode = GetParam().name;
    params.resize(3);
    TestLaunch launch;
    launch.grid = {3, 1, 1};
    launch.block = {kThreads, 1, 1};
    launch.shared = shared;
    launch.params = params;
    launch.data = data;
    LaunchError error;
    absl::StatusOr<std::string> image =
        compiler().Compile(Kernel(body), options);
    EXPECT_TRUE(image.ok()) << image.status();
    if (!image.ok()) return error;
    absl::Status status = compiler().Run(*image, launch, &error);
    EXPECT_TRUE(status.ok()) << status;
    return error;
  }

  void ExpectUsable() {
    TestBuffer buffer(device(), kThreads * 4);
    EXPECT_EQ(Run("  %at = arith.addi %p, %by4 : i64\n"
                  "  hetir.store global %at, (%tid) : i64, i32",
                  {buffer.address()})
                  .kind,
              Kind::kNone);
    for (uint32_t i = 0; i < kThreads; ++i) {
      EXPECT_EQ(buffer.as<uint32_t>()[i], i);
    }
  }

  void ExpectIllegal(const std::string& body, std::vector<uint64_t> params,
                     uint64_t address, uint32_t thread) {
    const LaunchError error = Run(body, std::move(params));
    EXPECT_EQ(error.kind, Kind::kIllegalAddress) << Describe(error);
    EXPECT_EQ(error.address, address) << Describe(error);
    EXPECT_TRUE(error.has_thread);
    EXPECT_EQ(error.thread.x, thread) << Describe(error) << "\n" << body;
    EXPECT_GT(error.line, 10u);
    ExpectUsable();
  }
};

INSTANTIATE_TEST_SUITE_P(
    Modes, BoundsTest,
    testing::Values(Mode{"scalar", false}, Mode{"simd", false},
                    Mode{"fiber", false}, Mode{"scalar", true},
                    Mode{"simd", true}, Mode{"fiber", true}),
    [](const auto& info) {
      return info.param.name + (info.param.elsewhere ? "Elsewhere" : "");
    });

// What a thread does with its address %at.
const char* const kActions[] = {
    "  %v = hetir.load {0} %at : (i64) -> i32\n"
    "  hetir.store global %q, (%v) : i64, i32",
    "  hetir.store {0} %at, (%one) : i64, i32",
    "  %v = hetir.atomic add {0} %at, %one : (i64, i32) -> i32",
    "  %v = hetir.atomic_cas {0} %at, %one, %one : (i64, i32, i32) -> i32",
    "  %v = hetir.load {0} %at {ordering = #hetir.ordering<acquire>} : (i64) -> i32\n"
    "  hetir.store global %q, (%v) : i64, i32",
};

std::string Action(int i, const std::string& space) {
  std::string text = kActions[i];
  for (size_t at; (at = text.find("{0}")) != std::string::npos;) {
    text.replace(at, 3, space);
  }
  return text;
}

// Host memory of every sort: never a kernel's.
std::vector<uint64_t> HostAddresses() {
  static uint32_t* const heap = new uint32_t[1024];
  static uint32_t variable[1024];
  return {reinterpret_cast<uint64_t>(heap), reinterpret_cast<uint64_t>(variable),
          reinterpret_cast<uint64_t>(&::qsort) & ~uint64_t{15}};
}

// %at = %q for thread %n alone, elsewhere its element of %p.
const char* const kOneThread =
    "  %is = arith.cmpi eq, %wide, %n : i64\n"
    "  %own = arith.addi %p, %by4 : i64\n"
    "  %at = arith.select %is, %q, %own : i64\n";

TEST_P(BoundsTest, OneThreadsAddressIsOfTheHost) {
  TestBuffer buffer(device(), kThreads * 4);
  for (const char* space : {"global", "generic"}) {
    for (int action : {1, 2, 3}) {
      for (uint64_t bad : HostAddresses()) {
        ExpectIllegal(kOneThread + Action(action, space),
                      {buffer.address(), bad, 77}, bad, 77);
      }
    }
  }
}

TEST_P(BoundsTest, AllReadOneHostAddress) {
  TestBuffer buffer(device(), kThreads * 4);
  for (const char* space : {"global", "generic"}) {
    for (int action : {0, 1, 2, 4}) {
      for (uint64_t bad : HostAddresses()) {
        ExpectIllegal("  %at = arith.addi %p, %c0 : i64\n" +
                          Action(action, space),
                      {bad, buffer.address(), 0}, bad, 0);
      }
    }
  }
}

TEST_P(BoundsTest, ARunOfHostAddresses) {
  TestBuffer buffer(device(), kThreads * 4);
  for (const char* space : {"global", "generic"}) {
    for (int action : {0, 1}) {
      for (uint64_t bad : HostAddresses()) {
        ExpectIllegal("  %at = arith.addi %p, %by4 : i64\n" +
                          Action(action, space),
                      {bad, buffer.address(), 0}, bad, 0);
      }
    }
  }
}

TEST_P(BoundsTest, HostMemoryIsNotChanged) {
  uint32_t local = 42;
  const auto address = reinterpret_cast<uint64_t>(&local);
  ExpectIllegal("  %at = arith.addi %p, %c0 : i64\n" + Action(1, "generic"),
                {address, 0, 0}, address, 0);
  EXPECT_EQ(local, 42u);
}

TEST_P(BoundsTest, LanesThatTakeNoPartDoNotFault) {
  TestBuffer buffer(device(), kThreads * 4);
  const uint64_t bad = HostAddresses()[0];
  const std::string guarded =
      std::string(kOneThread) +
      "  %not = arith.cmpi ne, %wide, %n : i64\n"
      "  cf.cond_br %not, ^bb1, ^bb2\n^bb1:\n" +
      Action(1, "generic") + "\n  cf.br ^bb2\n^bb2:";
  EXPECT_EQ(Run(guarded, {buffer.address(), bad, 77}).kind, Kind::kNone);
  EXPECT_EQ(buffer.as<uint32_t>()[76], 1u);
}

TEST_P(BoundsTest, IndicesOfAllSizesAreSeen) {
  TestBuffer buffer(device(), kThreads * 4);
  const uint64_t bad = HostAddresses()[1];
  // base + index, the sum of which is a host address.
  ExpectIllegal("  %at = arith.addi %p, %n : i64\n" + Action(1, "global"),
                {buffer.address(), 0, bad - buffer.address()}, bad, 0);
  const uint64_t far = buffer.address() + (uint64_t{1} << 45);
  ExpectIllegal("  %at = arith.addi %p, %n : i64\n" + Action(0, "global"),
                {buffer.address(), buffer.address(), uint64_t{1} << 45}, far,
                0);
}

// Addresses of the arena that are nobody's: the hardware finds them.
TEST_P(BoundsTest, OneThreadsAddressWasFreed) {
  TestBuffer buffer(device(), kThreads * 4);
  uint64_t freed;
  {
    TestBuffer gone(device(), 1 << 20);
    freed = gone.address() + 4096;
  }
  for (int action : {1, 2, 3}) {
    for (uint64_t thread : {0, 5, 31, 33, 50, 77, 95}) {
      ExpectIllegal(kOneThread + Action(action, "global"),
                    {buffer.address(), freed, thread}, freed, thread);
    }
  }
}

TEST_P(BoundsTest, OneThreadsWideAndNarrowElements) {
  TestBuffer buffer(device(), kThreads * 8);
  uint64_t freed;
  {
    TestBuffer gone(device(), 1 << 20);
    freed = gone.address() + 4096;
  }
  for (const char* type : {"i8", "i16", "i64"}) {
    const std::string store = absl::StrCat(
        "  %v = arith.constant 1 : ", type,
        "\n  hetir.store global %at, (%v) : i64, ", type);
    ExpectIllegal(std::string("  %c8 = arith.constant 8 : i64\n"
                              "  %by8 = arith.muli %wide, %c8 : i64\n"
                              "  %is = arith.cmpi eq, %wide, %n : i64\n"
                              "  %own = arith.addi %p, %by8 : i64\n"
                              "  %at = arith.select %is, %q, %own : i64\n") +
                      store,
                  {buffer.address(), freed, 77}, freed, 77);
  }
}

// Threads run into a guard one after the other: which one is first depends on
// the element's size and on where the buffer ends.
TEST_P(BoundsTest, ARunIntoAGuard) {
  const uint64_t bytes = 4096;
  TestBuffer buffer(device(), bytes);
  const uint64_t end = buffer.address() + bytes;
  for (const char* type : {"i8", "i16", "i32", "i64"}) {
    const uint64_t size = std::stoul(type + 1) / 8;
    for (uint64_t good : {0, 1, 15, 16, 20, 33, 63, 90}) {
      const std::string body = absl::StrCat(
          "  %size = arith.constant ", size, " : i64\n",
          "  %own = arith.muli %wide, %size : i64\n"
          "  %at = arith.addi %p, %own : i64\n"
          "  %v = arith.constant 1 : ",
          type, "\n  hetir.store global %at, (%v) : i64, ", type);
      ExpectIllegal(body, {end - good * size, 0, 0}, end, good);
    }
  }
}

TEST_P(BoundsTest, AMaskedRunIntoAGuard) {
  const uint64_t bytes = 4096;
  TestBuffer buffer(device(), bytes);
  const uint64_t end = buffer.address() + bytes;
  // Odd threads only; elements from number 32 + 17 on lie in the guard.
  const std::string body = R"(
  %bit = arith.andi %tid, %one : i32
  %odd = arith.cmpi eq, %bit, %one : i32
  %at = arith.addi %p, %by4 : i64
  cf.cond_br %odd, ^bb1, ^bb2
^bb1:
  %v = hetir.load global %at : (i64) -> i32
  %w = arith.addi %v, %one : i32
  hetir.store global %at, (%w) : i64, i32
  cf.br ^bb2
^bb2:)";
  for (uint64_t good : {32, 33, 49, 50}) {
    const LaunchError error = Run(body, {end - good * 4, 0, 0});
    EXPECT_EQ(error.kind, Kind::kIllegalAddress);
    EXPECT_EQ(error.thread.x, good | 1) << Describe(error);
    ExpectUsable();
  }
}

// One address for the lanes that are left: the lowest of them is named.
TEST_P(BoundsTest, OneAddressInDivergentCode) {
  uint64_t freed;
  {
    TestBuffer gone(device(), 1 << 20);
    freed = gone.address() + 4096;
  }
  TestBuffer buffer(device(), kThreads * 4);
  const std::string body = R"(
  %late = arith.cmpi uge, %wide, %n : i64
  cf.cond_br %late, ^bb1, ^bb2
^bb1:
  %v = hetir.load global %q : (i64) -> i32
  %at = arith.addi %p, %by4 : i64
  hetir.store global %at, (%v) : i64, i32
  cf.br ^bb2
^bb2:)";
  for (uint64_t first : {0, 3, 21, 70}) {
    ExpectIllegal(body, {buffer.address(), freed, first}, freed, first);
    ExpectIllegal(body, {buffer.address(), HostAddresses()[0], first},
                  HostAddresses()[0], first);
  }
}

TEST_P(BoundsTest, AnOverrunBelowTheGranuleIsNotSeen) {
  // Allocations end within 256 bytes of their guard, as CUDA's do of the next.
  TestBuffer buffer(device(), 100);
  EXPECT_EQ(Run("  %c252 = arith.constant 252 : i64\n"
                "  %at = arith.addi %p, %c252 : i64\n" +
                    Action(1, "global"),
                {buffer.address()})
                .kind,
            Kind::kNone);
  ExpectIllegal("  %c256 = arith.constant 256 : i64\n"
                "  %at = arith.addi %p, %c256 : i64\n" +
                    Action(1, "global"),
                {buffer.address()}, buffer.address() + 256, 0);
}

TEST_P(BoundsTest, SharedAddressesOutOfTheirWindow) {
  TestBuffer buffer(device(), kThreads * 4);
  // A generic address that is no shared one, used as one.
  const std::string body =
      "  %s = hetir.from_generic shared %p : i64 -> i64\n"
      "  %at = arith.addi %s, %n : i64\n" +
      Action(1, "shared");
  const LaunchError error = Run(body, {buffer.address(), 0, 0}, 256);
  EXPECT_EQ(error.kind, Kind::kIllegalAddress) << Describe(error);
  EXPECT_EQ(error.thread.x, 0u);
  ExpectUsable();
  // Past the end of the block's shared memory, by a generic address.
  const std::string past = R"(
  %s = hetir.shared_address "s" at 0 : i64
  %g = hetir.to_generic shared %s : i64 -> i64
  %by = arith.muli %wide, %n : i64
  %at = arith.addi %g, %by : i64
  hetir.store generic %at, (%one) : i64, i32)";
  const LaunchError second = Run(past, {0, 0, 1024}, 4096);
  EXPECT_EQ(second.kind, Kind::kIllegalAddress) << Describe(second);
  EXPECT_EQ(second.thread.x, 4u) << Describe(second);
  ExpectUsable();
}

TEST_P(BoundsTest, GenericAddressesOfSharedMemoryWork) {
  TestBuffer out(device(), kThreads * 4);
  const std::string body = R"(
  %s = hetir.shared_address "s" at 0 : i64
  %so = arith.addi %s, %by4 : i64
  %at = hetir.to_generic shared %so : i64 -> i64
  hetir.store generic %at, (%tid) : i64, i32
  %o = hetir.atomic add generic %at, %one : (i64, i32) -> i32
  %v = hetir.load generic %at : (i64) -> i32
  %dst = arith.addi %p, %by4 : i64
  hetir.store generic %dst, (%v) : i64, i32)";
  ASSERT_EQ(Run(body, {out.address()}, kThreads * 4).kind, Kind::kNone);
  for (uint32_t i = 0; i < kThreads; ++i) {
    EXPECT_EQ(out.as<uint32_t>()[i], i + 1);
  }
}

TEST_P(BoundsTest, PointersInMemoryLeadOn) {
  // A ring of nodes {next, value}; every thread walks 10 steps.
  TestBuffer nodes(device(), kThreads * 16), out(device(), kThreads * 4);
  for (uint32_t i = 0; i < kThreads; ++i) {
    nodes.as<uint64_t>()[2 * i] =
        nodes.address() + (i * 7 + 1) % kThreads * 16;
    nodes.as<uint64_t>()[2 * i + 1] = i;
  }
  const std::string body = R"(
  %c16 = arith.constant 16 : i64
  %ten = arith.constant 10 : i32
  %z = arith.constant 0 : i32
  %first = arith.muli %wide, %c16 : i64
  %start = arith.addi %p, %first : i64
  cf.br ^bb1(%start, %z : i64, i32)
^bb1(%node: i64, %i: i32):
  %next = hetir.load generic %node : (i64) -> i64
  %j = arith.addi %i, %one : i32
  %more = arith.cmpi ult, %j, %ten : i32
  cf.cond_br %more, ^bb1(%next, %j : i64, i32), ^bb2
^bb2:
  %v = hetir.load generic %next {offset = 8 : i64} : (i64) -> i32
  %dst = arith.addi %q, %by4 : i64
  hetir.store global %dst, (%v) : i64, i32)";
  ASSERT_EQ(Run(body, {nodes.address(), out.address()}).kind, Kind::kNone);
  for (uint32_t i = 0; i < kThreads; ++i) {
    uint32_t at = i;
    for (int step = 0; step < 10; ++step) at = (at * 7 + 1) % kThreads;
    EXPECT_EQ(out.as<uint32_t>()[i], at);
  }
}

TEST_P(BoundsTest, AtomicsAndModuleDataAndLocalArrays) {
  TestBuffer out(device(), kThreads * 4), data(device(), 64);
  data.as<uint32_t>()[2] = 5;
  const std::string body = R"(
  %d = hetir.data_address "d" at 8 global : i64
  %five = hetir.load global %d : (i64) -> i32
  %o = hetir.atomic add global %d, %five {offset = 4 : i64} : (i64, i32) -> i32
  %l = hetir.local_alloc "l" size 16 align 16 : i64
  %g = hetir.to_generic local %l : i64 -> i64
  hetir.store generic %g, (%five) {offset = 4 : i64} : i64, i32
  %v = hetir.load generic %g {offset = 4 : i64} : (i64) -> i32
  %dst = arith.addi %p, %by4 : i64
  hetir.store global %dst, (%v) : i64, i32)";
  const LaunchError error = Run(body, {out.address()}, 0, data.address());
  ASSERT_EQ(error.kind, Kind::kNone) << Describe(error);
  EXPECT_EQ(data.as<uint32_t>()[3], 3 * kThreads * 5);
  for (uint32_t i = 0; i < kThreads; ++i) {
    EXPECT_EQ(out.as<uint32_t>()[i], 5u);
  }
}

TEST(LocalMemoryTest, AFrameThatFitsNoStackIsRefusedByName) {
  for (std::string mode : {"auto", "scalar", "simd", "fiber"}) {
    CompileOptions options;
    options.mode = mode;
    const std::string body =
        "  %l = hetir.local_alloc \"l\" size 2147483648 align 16 : i64\n"
        "  hetir.store local %l, (%one) : i64, i32\n";
    const absl::Status status =
        Compiler(false).Compile(Kernel(body), options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
    EXPECT_NE(std::string(status.message())
                  .find("kernel k needs 2147483648 bytes of local memory per "
                        "thread, at most 16777216"),
              std::string::npos)
        << status;
  }
}

TEST(WindowTest, TargetsNameTheirWindow) {
  EXPECT_EQ(TargetSuffix(ArenaWindow()), "");
  EXPECT_EQ(*WindowOf("x86_64/native/+avx2"), ArenaWindow());
  const ArenaWindow window{0x1000, 0x30000, ~uint64_t{0xfff}, 0};
  EXPECT_EQ(*WindowOf("x86_64/native/" + TargetSuffix(window)), window);
  for (const char* bad : {"/arena=", "/arena=1:2:3", "/arena=1:2:3:4:5",
                          "/arena=1:0:3:4", "/arena=x:2:3:4"}) {
    EXPECT_FALSE(WindowOf(bad).has_value()) << bad;
  }
  const std::string& target = Compiler(true).device().info().target;
  EXPECT_NE(target.find("/arena="), std::string::npos) << target;
}

}  // namespace
}  // namespace hetgpu::cpu
