// Accesses outside of kernel memory end the launch and name the thread, in every
// mode; and kernels run the same on memory that lies elsewhere in the process.
#include <gtest/gtest.h>
#include <stdlib.h>

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
      if (action > 1 && GetParam().name == "simd") continue;
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
