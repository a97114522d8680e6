// The exact mode: one byte past, before, freed, straddling, in every space, and
// what the error says of it.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "backends/cpu/arena_window.h"
#include "backends/cpu/compile/test_kernel.h"

namespace hetgpu::cpu {
namespace {

using Kind = LaunchError::Kind;

constexpr uint64_t kElsewhere = 0x540000000000;

struct Mode {
  std::string name;
  bool elsewhere;
};

class MemcheckTest : public testing::TestWithParam<Mode> {
 protected:
  TestCompiler& compiler() {
    static TestCompiler* const usual = new TestCompiler(0, true);
    static TestCompiler* const moved = new TestCompiler(kElsewhere, true);
    return GetParam().elsewhere ? *moved : *usual;
  }
  Device& device() { return compiler().device(); }

  // %p, %q and %n are parameters (i64), %out 64 good bytes, %one an i32.
  LaunchError Run(const std::string& body, std::vector<uint64_t> params,
                  uint32_t shared = 0, uint64_t data = 0) {
    const std::string text =
        R"(hetir.kernel @k attributes {param_bytes = 32 : i64} {
  %c0 = arith.constant 0 : i64
  %p = hetir.load param %c0 : (i64) -> i64
  %q = hetir.load param %c0 {offset = 8 : i64} : (i64) -> i64
  %n = hetir.load param %c0 {offset = 16 : i64} : (i64) -> i64
  %out = hetir.load param %c0 {offset = 24 : i64} : (i64) -> i64
  %one = arith.constant 1 : i32
  %byte = arith.constant 1 : i8
)" + body + "\n  hetir.exit\n}\n";
    CompileOptions options;
    options.mode = GetParam().name;
    params.resize(3);
    TestBuffer out(device(), 64);
    params.push_back(out.address());
    TestLaunch launch;
    launch.block = {1, 1, 1};
    launch.shared = shared;
    launch.params = params;
    launch.data = data;
    LaunchError error;
    absl::StatusOr<std::string> image = compiler().Compile(text, options);
    EXPECT_TRUE(image.ok()) << image.status();
    if (!image.ok()) return error;
    absl::Status status = compiler().Run(*image, launch, &error);
    EXPECT_TRUE(status.ok()) << status;
    return error;
  }

  void ExpectGood(const LaunchError& error) {
    EXPECT_EQ(error.kind, Kind::kNone) << Describe(error);
  }
  void ExpectBad(const LaunchError& error, uint64_t address,
                 const std::string& detail) {
    EXPECT_EQ(error.kind, Kind::kIllegalAddress) << Describe(error);
    EXPECT_TRUE(error.has_thread);
    EXPECT_GT(error.line, 7u);
    if (address != 0) {
      EXPECT_EQ(error.address, address);
    }
    EXPECT_NE(error.detail.find(detail), std::string::npos)
        << Describe(error) << "\nexpected: " << detail;
  }
};

INSTANTIATE_TEST_SUITE_P(
    Modes, MemcheckTest,
    testing::Values(Mode{"auto", false}, Mode{"fiber", false},
                    Mode{"auto", true}, Mode{"fiber", true}),
    [](const auto& info) {
      return info.param.name + (info.param.elsewhere ? "Elsewhere" : "");
    });

std::string At(uint64_t address) {
  return absl::StrCat("at 0x", absl::Hex(address));
}

struct Action {
  std::string text;  // on %at
  std::string what;
};
const Action kActions[] = {
    {"  %v = hetir.load SPACE %at : (i64) -> i32\n"
     "  hetir.store global %out, (%v) : i64, i32\n",
     "read of 4 bytes"},
    {"  hetir.store SPACE %at, (%one) : i64, i32\n", "write of 4 bytes"},
    {"  %v = hetir.atomic add SPACE %at, %one : (i64, i32) -> i32\n",
     "atomic access of 4 bytes"},
};

std::string In(std::string text, const std::string& space) {
  text.replace(text.find("SPACE"), 5, space);
  return "  %at = arith.addi %p, %n : i64\n" + text;
}

TEST_P(MemcheckTest, GlobalAndGenericToTheByte) {
  TestBuffer buffer(device(), 1000);
  const uint64_t p = buffer.address();
  const std::string object = "the 1000-byte allocation " + At(p);
  for (const std::string space : {"global", "generic"}) {
    for (const Action& action : kActions) {
      const std::string body = In(action.text, space);
      ExpectGood(Run(body, {p, 0, 0}));
      ExpectGood(Run(body, {p, 0, 996}));
      ExpectBad(Run(body, {p, 0, 1000}), p + 1000,
                action.what + ", 0 bytes past the end of " + object);
      ExpectBad(Run(body, {p, 0, 1020}), p + 1020,
                action.what + ", 20 bytes past the end of " + object);
      ExpectBad(Run(body, {p, 0, uint64_t(-4)}), p - 4,
                action.what + ", 4 bytes before the start of " + object);
    }
  }
  const std::string one_byte =
      "  %at = arith.addi %p, %n : i64\n"
      "  hetir.store global %at, (%byte) : i64, i8";
  ExpectGood(Run(one_byte, {p, 0, 999}));
  ExpectBad(Run(one_byte, {p, 0, 1000}), p + 1000,
            "write of 1 byte, 0 bytes past the end of " + object);
}

TEST_P(MemcheckTest, VectorsThatStraddleAnEnd) {
  TestBuffer buffer(device(), 1000);
  const uint64_t p = buffer.address();
  const std::string store =
      "  %at = arith.addi %p, %n : i64\n"
      "  hetir.store global %at, (%one, %one, %one, %one) : "
      "i64, i32, i32, i32, i32";
  ExpectGood(Run(store, {p, 0, 976}));
  ExpectBad(Run(store, {p, 0, 992}), p + 992,
            "write of 16 bytes, its last 8 bytes past the end of the 1000-byte "
            "allocation");
  const std::string load =
      "  %at = arith.addi %p, %n : i64\n"
      "  %v:2 = hetir.load global %at : (i64) -> (i64, i64)\n"
      "  hetir.store global %out, (%v#0, %v#1) : i64, i64, i64";
  ExpectBad(Run(load, {p, 0, 992}), p + 992,
            "read of 16 bytes, its last 8 bytes past the end");
}

TEST_P(MemcheckTest, FreedMemory) {
  uint64_t p;
  {
    TestBuffer buffer(device(), 512);
    p = buffer.address();
    ExpectGood(Run(In(kActions[0].text, "global"), {p, 0, 16}));
  }
  for (const Action& action : kActions) {
    ExpectBad(Run(In(action.text, "global"), {p, 0, 16}), p + 16,
              action.what + ", 16 bytes into the 512-byte allocation " + At(p) +
                  ", which was freed");
  }
}

TEST_P(MemcheckTest, Shared) {
  const std::string body =
      "  %s = hetir.shared_address \"s\" at 0 : i64\n"
      "  %at = arith.addi %s, %n : i64\n"
      "  hetir.store shared %at, (%one) : i64, i32\n"
      "  %g = hetir.to_generic shared %s : i64 -> i64\n"
      "  %there = arith.addi %g, %q : i64\n"
      "  %v = hetir.load generic %there : (i64) -> i32\n"
      "  hetir.store global %out, (%v) : i64, i32\n"
      "  %o = hetir.atomic add shared %at, %one : (i64, i32) -> i32\n";
  ExpectGood(Run(body, {0, 0, 96}, 100));
  ExpectGood(Run(body, {0, 96, 0}, 100));
  ExpectBad(
      Run(body, {0, 0, 100}, 100), 0,
      "write of 4 bytes, 0 bytes past the end of the block's 100 bytes of "
      "shared memory");
  ExpectBad(
      Run(body, {0, 96, 96}, 98), 0,
      "write of 4 bytes, its last 2 bytes past the end of the block's 98");
  ExpectBad(Run(body, {0, 96, 0}, 98), 0,
            "read of 4 bytes, its last 2 bytes past the end of the block's 98");
}

TEST_P(MemcheckTest, LocalArrays) {
  const std::string body =
      "  %a = hetir.local_alloc \"a\" size 24 align 8 : i64\n"
      "  %b = hetir.local_alloc \"b\" size 24 align 8 : i64\n"
      "  hetir.store local %a[%n], (%one) : i64, i64, i32\n"
      "  hetir.store local %b[%c0], (%one) : i64, i64, i32\n"
      "  %v = hetir.load local %a[%q] : (i64, i64) -> i32\n"
      "  hetir.store global %p, (%v) : i64, i32";
  TestBuffer out(device(), 4);
  ExpectGood(Run(body, {out.address(), 20, 20}));
  ExpectBad(
      Run(body, {out.address(), 0, 24}), 0,
      "write of 4 bytes, 0 bytes past the end of the 24-byte local array");
  ExpectBad(Run(body, {out.address(), 24, 0}), 0,
            "read of 4 bytes, 0 bytes past the end of the 24-byte local array");
  ExpectBad(Run(body, {out.address(), uint64_t(-4), 0}), 0,
            "4 bytes before the start of the 24-byte local array");
}

TEST_P(MemcheckTest, VariablesOfTheModule) {
  TestBuffer data(device(), 64);
  for (const std::string space : {"global", "const"}) {
    const std::string body =
        "  %a = hetir.data_address \"t\" at 16 " + space +
        " {extent = array<i64: 16, 20>} : i64\n"
        "  %v = hetir.load " + space + " %a[%n] : (i64, i64) -> i32\n"
        "  hetir.store global %p, (%v) : i64, i32";
    TestBuffer out(device(), 4);
    ExpectGood(Run(body, {out.address(), 0, 16}, 0, data.address()));
    ExpectBad(Run(body, {out.address(), 0, 20}, 0, data.address()),
              data.address() + 36,
              "read of 4 bytes, 0 bytes past the end of the 20-byte variable " +
                  At(data.address() + 16));
    ExpectBad(Run(body, {out.address(), 0, uint64_t(-4)}, 0, data.address()),
              data.address() + 12, "4 bytes before the start of the 20-byte");
  }
}

TEST_P(MemcheckTest, TheKernelsOwnHeap) {
  const std::string body =
      "  %size = arith.constant 20 : i64\n"
      "  %m = hetir.malloc %size : i64\n"
      "  %at = arith.addi %m, %n : i64\n"
      "  hetir.store generic %at, (%one) : i64, i32\n"
      "  hetir.free %m";
  TestBuffer buffer(device(), 4);
  ExpectGood(Run(body, {0, buffer.address(), 16}));
  ExpectBad(Run(body, {0, buffer.address(), 20}), 0,
            "0 bytes past the end of the 20-byte allocation made by a kernel");
}

TEST_P(MemcheckTest, NoMemoryAtAll) {
  TestBuffer buffer(device(), 64);
  ExpectBad(Run(In(kActions[0].text, "global"), {0, 0, 8}), 8,
            "before the start of the");
  static uint32_t variable[64];
  const uint64_t host = reinterpret_cast<uint64_t>(variable);
  for (const std::string space : {"global", "generic", "local"}) {
    const LaunchError error =
        Run(In(kActions[1].text, space), {host, 0, 0});
    EXPECT_EQ(error.kind, Kind::kIllegalAddress) << Describe(error);
    EXPECT_EQ(error.address, host);
  }
  EXPECT_EQ(variable[0], 0u);
}

TEST_P(MemcheckTest, MisalignedAccessesNameTheirAddress) {
  TestBuffer buffer(device(), 64);
  const LaunchError error =
      Run(In(kActions[0].text, "global"), {buffer.address(), 0, 2});
  EXPECT_EQ(error.kind, Kind::kMisalignedAddress) << Describe(error);
  EXPECT_EQ(error.address, buffer.address() + 2);
  EXPECT_EQ(error.detail, "read of 4 bytes, expected a multiple of 4");
}

TEST(Memcheck, IsPartOfTheTargetAndRefusesWarps) {
  TestCompiler usual;
  TestCompiler exact(0, true);
  EXPECT_FALSE(ChecksExactly(usual.device().info().target));
  EXPECT_TRUE(ChecksExactly(exact.device().info().target));
  const std::string text =
      "hetir.kernel @k attributes {param_bytes = 0 : i64} {\n  hetir.exit\n}\n";
  CompileOptions options;
  options.mode = "simd";
  EXPECT_TRUE(usual.Compile(text, options).ok());
  const auto refused = exact.Compile(text, options);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(std::string(refused.status().message())
                .find("accesses are checked exactly, thread by thread"),
            std::string::npos)
      << refused.status();
}

}  // namespace
}  // namespace hetgpu::cpu
