// Whole kernels: collectives agree between warps in registers and threads on
// fibers; atomics; errors name kind and line.
#include <gtest/gtest.h>

#include "backends/cpu/compile/test_kernel.h"
#include "backends/cpu/target_name.h"

namespace hetgpu::cpu {
namespace {

constexpr uint32_t kThreads = 64;

TestCompiler& Compiler() {
  static TestCompiler* const compiler = new TestCompiler;
  return *compiler;
}

// %a is a value that differs by lane, %lane the lane, %all a full member mask;
// `body` defines %r : i32, which is stored.
std::string Kernel(const std::string& body) {
  return R"(hetir.kernel @k attributes {param_bytes = 8 : i64} {
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %out = hetir.load param %zero : (i64) -> i64
  %tid = hetir.special_register tid_x : i32
  %lane = hetir.special_register laneid : i32
  %all = arith.constant -1 : i32
  %k = arith.constant -1640531527 : i32
  %a = arith.muli %tid, %k : i32
  %three = arith.constant 3 : i32
  %odd1 = arith.andi %a, %three : i32
  %two = arith.constant 2 : i32
  %p = arith.cmpi ult, %odd1, %two : i32
)" + body + R"(
  %wide = arith.extui %tid : i32 to i64
  %offset = arith.muli %wide, %four : i64
  %at = arith.addi %out, %offset : i64
  hetir.store global %at, (%r) : i64, i32
  hetir.exit
})";
}

std::vector<uint32_t> Run(const std::string& body, const std::string& mode) {
  CompileOptions options;
  options.mode = mode;
  absl::StatusOr<std::string> image =
      Compiler().Compile(Kernel(body), options);
  EXPECT_TRUE(image.ok()) << image.status();
  if (!image.ok()) return {};
  TestBuffer out(Compiler().device(), kThreads * 4);
  TestLaunch launch;
  launch.block = {kThreads, 1, 1};
  launch.params = {out.address()};
  LaunchError error;
  absl::Status status = Compiler().Run(*image, launch, &error);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(error.kind, LaunchError::Kind::kNone) << Describe(error);
  return {out.as<uint32_t>(), out.as<uint32_t>() + kThreads};
}

void ExpectModesAgree(const std::string& body) {
  std::vector<uint32_t> warps = Run(body, "simd");
  EXPECT_EQ(warps, Run(body, "fiber")) << body;
  // The result depends on something: not all zero.
  EXPECT_NE(warps, std::vector<uint32_t>(kThreads)) << body;
}

TEST(Collectives, Shuffles) {
  for (std::string mode : {"up", "down", "bfly", "idx"}) {
    // Clamp and segment mask as compilers write them: whole warps, segments
    // of eight lanes.
    for (int clamp : {0, 31, 0x1807, 0x1800}) {
      for (int lane : {1, 5, 16}) {
        ExpectModesAgree(
            "  %b = arith.constant " + std::to_string(lane) +
            " : i32\n  %c = arith.constant " + std::to_string(clamp) +
            " : i32\n  %v, %in = hetir.shuffle " + mode +
            " %a, %b, %c members %all : (i32, i32, i32, i32) -> (i32, i1)\n"
            "  %bit = arith.extui %in : i1 to i32\n"
            "  %r = arith.addi %v, %bit : i32");
      }
    }
  }
}

TEST(Collectives, Votes) {
  ExpectModesAgree(
      "  %r = hetir.vote ballot %p members %all : (i1, i32) -> i32");
  ExpectModesAgree(
      "  %v = hetir.vote any %p members %all : (i1, i32) -> i1\n"
      "  %r = arith.extui %v : i1 to i32");
}

TEST(Collectives, MatchAndReductions) {
  ExpectModesAgree(
      "  %r, %e = hetir.match any %odd1 members %all : (i32, i32) -> (i32, "
      "i1)");
  for (std::string kind :
       {"add", "smin", "smax", "umin", "umax", "or", "xor"}) {
    ExpectModesAgree("  %r = hetir.redux " + kind +
                     " %a members %all : (i32, i32) -> i32");
  }
}

TEST(Atomics, IntegerAndFloat) {
  // Each thread adds one; all see distinct old values, so their sum is known.
  std::string text = R"(hetir.kernel @k attributes {param_bytes = 16 : i64} {
  %zero = arith.constant 0 : i64
  %i = hetir.load param %zero : (i64) -> i64
  %f = hetir.load param %zero {offset = 8 : i64} : (i64) -> i64
  %one = arith.constant 1 : i32
  %half = arith.constant 0.5 : f32
  %0 = hetir.atomic add global %i, %one : (i64, i32) -> i32
  %1 = hetir.atomic fadd global %f, %half : (i64, f32) -> f32
  %2 = hetir.atomic fmax global %f, %1 {offset = 4 : i64} : (i64, f32) -> f32
  hetir.exit
})";
  for (std::string mode : {"scalar", "simd", "fiber"}) {
    CompileOptions options;
    options.mode = mode;
    absl::StatusOr<std::string> image = Compiler().Compile(text, options);
    ASSERT_TRUE(image.ok()) << image.status();
    TestBuffer ints(Compiler().device(), 4), floats(Compiler().device(), 8);
    *ints.as<uint32_t>() = 0;
    floats.as<float>()[0] = 0;
    floats.as<float>()[1] = -1;
    TestLaunch launch;
    launch.grid = {7, 1, 1};
    launch.block = {kThreads, 1, 1};
    launch.params = {ints.address(), floats.address()};
    LaunchError error;
    ASSERT_TRUE(Compiler().Run(*image, launch, &error).ok());
    ASSERT_EQ(error.kind, LaunchError::Kind::kNone) << Describe(error);
    EXPECT_EQ(*ints.as<uint32_t>(), 7 * kThreads) << mode;
    EXPECT_EQ(floats.as<float>()[0], 3.5f * kThreads) << mode;
    EXPECT_EQ(floats.as<float>()[1], 3.5f * kThreads - 0.5f) << mode;
  }
}

// Adds each element and the one below it, plane by plane: with an index and an
// address that move by one step for all threads.
constexpr char kColumns[] =
    R"(hetir.kernel @k attributes {param_bytes = 24 : i64} {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %in = hetir.load param %c0 : (i64) -> i64
  %out = hetir.load param %c0 {offset = 8 : i64} : (i64) -> i64
  %planes = hetir.load param %c0 {offset = 16 : i64} : (i64) -> i32
  %x = hetir.special_register tid_x : i32
  %y = hetir.special_register tid_y : i32
  %width = hetir.special_register ntid_x : i32
  %height = hetir.special_register ntid_y : i32
  %plane = arith.muli %width, %height : i32
  %row = arith.muli %y, %width : i32
  %i = arith.addi %row, %x : i32
  %wide = arith.extsi %i : i32 to i64
  %offset = arith.muli %wide, %c4 : i64
  %start = arith.addi %out, %offset : i64
  %wide_plane = arith.extsi %plane : i32 to i64
  %step = arith.muli %wide_plane, %c4 : i64
  cf.br ^loop(%planes, %i, %start : i32, i32, i64)
^loop(%left: i32, %here: i32, %to: i64):
  %wide_here = arith.extsi %here : i32 to i64
  %offset_here = arith.muli %wide_here, %c4 : i64
  %at_here = arith.addi %in, %offset_here : i64
  %a = hetir.load global %at_here : (i64) -> i32
  %y1 = arith.addi %y, %one : i32
  %row1 = arith.muli %y1, %width : i32
  %moved = arith.subi %here, %row : i32
  %below = arith.addi %row1, %moved : i32
  %wide_below = arith.extsi %below : i32 to i64
  %offset_below = arith.muli %wide_below, %c4 : i64
  %at_below = arith.addi %in, %offset_below : i64
  %b = hetir.load global %at_below : (i64) -> i32
  %sum = arith.addi %a, %b : i32
  hetir.store global %to, (%sum) : i64, i32
  %left1 = arith.subi %left, %one : i32
  %here1 = arith.addi %here, %plane : i32
  %to1 = arith.addi %to, %step : i64
  %more = arith.cmpi ne, %left1, %none : i32
  cf.cond_br %more, ^loop(%left1, %here1, %to1 : i32, i32, i64), ^end
^end:
  hetir.exit
})";

TEST(Progressions, MoveTogetherInBlocksOfAnyShape) {
  constexpr uint32_t kPlanes = 5;
  CompileOptions options;
  options.mode = "simd";
  absl::StatusOr<std::string> image = Compiler().Compile(kColumns, options);
  ASSERT_TRUE(image.ok()) << image.status();
  for (Dim3 block : {Dim3{32, 3, 1}, Dim3{16, 5, 1}, Dim3{48, 2, 1},
                     Dim3{24, 4, 1}, Dim3{8, 8, 1}, Dim3{7, 9, 1},
                     Dim3{33, 2, 1}, Dim3{20, 1, 1}, Dim3{1, 40, 1}}) {
    uint32_t elements = block.x * block.y * kPlanes;
    TestBuffer in(Compiler().device(), (elements + block.x) * 4);
    TestBuffer out(Compiler().device(), elements * 4);
    for (uint32_t i = 0; i < elements + block.x; ++i) {
      in.as<uint32_t>()[i] = i * i + 3;
    }
    TestLaunch launch;
    launch.block = block;
    launch.params = {in.address(), out.address(), kPlanes};
    LaunchError error;
    ASSERT_TRUE(Compiler().Run(*image, launch, &error).ok());
    ASSERT_EQ(error.kind, LaunchError::Kind::kNone) << Describe(error);
    for (uint32_t i = 0; i < elements; ++i) {
      uint32_t below = i + block.x;
      ASSERT_EQ(out.as<uint32_t>()[i], i * i + below * below + 6)
          << i << " in blocks of " << block.x << " x " << block.y;
    }
  }
}

TEST(Errors, UnknownProcessorsAreRefused) {
  CompileOptions options;
  options.target = TargetName("x86-64-v9");
  const absl::Status status =
      Compiler()
          .Compile("hetir.kernel @k attributes {param_bytes = 0 : i64} {\n"
                   "  hetir.exit\n}",
                   options)
          .status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_NE(std::string(status.message()).find("x86-64-v9"), std::string::npos)
      << status;
}

TEST(Errors, MisalignedStoreNamesTheLine) {
  std::string text = R"(hetir.kernel @k attributes {param_bytes = 8 : i64} {
  %zero = arith.constant 0 : i64
  %p = hetir.load param %zero : (i64) -> i64
  %x = arith.constant 7 : i32
  hetir.store global %p, (%x) : i64, i32
  hetir.exit
})";
  for (std::string mode : {"scalar", "simd", "fiber"}) {
    CompileOptions options;
    options.mode = mode;
    absl::StatusOr<std::string> image = Compiler().Compile(text, options);
    ASSERT_TRUE(image.ok()) << image.status();
    TestBuffer buffer(Compiler().device(), 16);
    TestLaunch launch;
    launch.params = {buffer.address() + 2};
    LaunchError error;
    ASSERT_TRUE(Compiler().Run(*image, launch, &error).ok());
    EXPECT_EQ(error.kind, LaunchError::Kind::kMisalignedAddress) << mode;
    EXPECT_EQ(error.line, 5u) << mode;
  }
}

TEST(Errors, ModesThatCannotBe) {
  std::string text = R"(hetir.kernel @k {
  %id = arith.constant 0 : i32
  hetir.barrier %id : i32
  hetir.exit
})";
  CompileOptions options;
  options.mode = "scalar";
  absl::Status status = Compiler().Compile(text, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(std::string(status.message()).find("hetir.barrier at line 3"),
            std::string::npos)
      << status;
}

}  // namespace
}  // namespace hetgpu::cpu
