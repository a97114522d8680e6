#include "frontend/ptx/access_summary.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "frontend/ptx/test_util.h"

namespace hetgpu::ptx {
namespace {

// "0:r 8:rw ?w": reads by bytes 0-7, both by 8-15, writes by unknown addresses;
// "unknown".
std::string Text(const AccessSummary& summary) {
  if (!summary.is_known) return "unknown";
  std::string text;
  const auto add = [&](std::string what, bool reads, bool writes) {
    if (!reads && !writes) return;
    text += Cat(text.empty() ? "" : " ", what, reads ? "r" : "",
                writes ? "w" : "");
  };
  for (const PointerAccess& access : summary.pointers) {
    add(Cat(access.offset, ":"), access.reads, access.writes);
  }
  add("?", summary.reads_unknown, summary.writes_unknown);
  return text;
}

std::string SummaryOf(std::string_view text) {
  std::string error;
  const auto module = ParseOrError(text, &error);
  if (module == nullptr) return error;
  const auto kernel = module->FindFunction("k");
  if (!kernel) return "no kernel k";
  if (module->functions[*kernel].body == nullptr) {
    return std::string(module->functions[*kernel].refusal.message());
  }
  return Text(SummariseAccess(*module, *kernel));
}

// Kernel k(u64 a, u64 b, u32 n, struct s of 32 bytes at 24).
std::string Of(std::string_view body, std::string_view before = "") {
  return SummaryOf(Cat(
      kHeader,
      ".global .align 8 .u64 g[4]; .const .align 8 .u64 c[4];\n"
      ".extern .func (.param .b64 r) malloc(.param .b64 x);\n"
      ".extern .func (.param .b32 r) vprintf(.param .b64 x, .param .b64 y);\n",
      before,
      ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n,\n"
      " .param .align 8 .b8 s[32])\n{\n"
      ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<20>;\n"
      ".reg .b64 %rd<20>; .reg .f32 %f<4>; .reg .f64 %fd<4>;\n"
      ".shared .align 8 .b8 sh[64]; .local .align 8 .b8 lo[64];\n"
      ".param .b64 p0; .param .b64 p1; .param .b64 r0; .param .b32 r1;\n"
      "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, "
      "[n];\n",
      body, "\nret;\n}\n"));
}

TEST(AccessSummaryTest, ParametersThatAreOnlyHeldAreNotAccessed) {
  EXPECT_EQ(Of(""), "");
  EXPECT_EQ(Of("add.s64 %rd3, %rd1, %rd2;"), "");
}

TEST(AccessSummaryTest, LoadsReadAndStoresWrite) {
  EXPECT_EQ(Of("ld.global.f32 %f1, [%rd1+4]; st.global.f32 [%rd2], %f1;"),
            "0:r 8:w");
  EXPECT_EQ(Of("ld.f32 %f1, [%rd1]; st.f32 [%rd1], %f1;"), "0:rw");
  EXPECT_EQ(Of("atom.global.add.u32 %r2, [%rd1], 1; red.global.add.u32 [%rd2], "
               "1;"),
            "0:rw 8:rw");
  EXPECT_EQ(Of("ld.global.nc.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1];"), "0:r");
  EXPECT_EQ(Of("prefetch.global.L2 [%rd1]; discard.global.L2 [%rd2], 128;"),
            "8:w");
}

TEST(AccessSummaryTest, AddressArithmeticKeepsTheParameter) {
  EXPECT_EQ(Of("cvta.to.global.u64 %rd3, %rd1; mov.u32 %r2, %tid.x;\n"
               "mad.wide.u32 %rd4, %r2, 4, %rd3; ld.global.f32 %f1, [%rd4];"),
            "0:r");
  EXPECT_EQ(Of("cvt.u64.u32 %rd3, %r1; shl.b64 %rd4, %rd3, 3;\n"
               "add.s64 %rd5, %rd2, %rd4; st.global.u64 [%rd5], %rd1;"),
            "8:w");
  EXPECT_EQ(Of("setp.eq.u32 %p1, %r1, 0; selp.b64 %rd3, %rd1, %rd2, %p1;\n"
               "ld.global.u32 %r2, [%rd3];"),
            "0:r 8:r");
  // Through the halves of a register.
  EXPECT_EQ(Of("mov.b64 {%r2, %r3}, %rd1; mov.b64 %rd3, {%r2, %r3};\n"
               "ld.global.u32 %r4, [%rd3];"),
            "0:r");
}

TEST(AccessSummaryTest, OrderDoesNotMatter) {
  EXPECT_EQ(Of("mov.u64 %rd3, %rd1; L: ld.global.u32 %r2, [%rd3];\n"
               "mov.u64 %rd3, %rd2; bra L;"),
            "0:r 8:r");
}

TEST(AccessSummaryTest, IndicesOutOfMemoryAreNoAddresses) {
  EXPECT_EQ(Of("ld.global.u32 %r2, [%rd1]; mad.wide.u32 %rd3, %r2, 8, %rd2;\n"
               "ld.global.f64 %fd1, [%rd3]; st.global.f64 [%rd2+8], %fd1;"),
            "0:r 8:rw");
  EXPECT_EQ(Of("ld.global.u32 %r2, [%rd1]; mul.wide.u32 %rd3, %r2, %r1;\n"
               "add.s64 %rd4, %rd2, %rd3; st.global.u8 [%rd4], %r1;"),
            "0:r 8:w");
}

TEST(AccessSummaryTest, AddressesOutOfMemoryAreUnknown) {
  EXPECT_EQ(Of("ld.global.u64 %rd3, [%rd1]; ld.global.u32 %r2, [%rd3];"),
            "0:r ?r");
  EXPECT_EQ(Of("ld.global.u64 %rd3, [%rd1]; st.global.u32 [%rd3], %r1;"),
            "0:r ?w");
  // XORed with a parameter, it may be either.
  EXPECT_EQ(Of("ld.global.u64 %rd3, [%rd1]; xor.b64 %rd4, %rd3, %rd2;\n"
               "ld.global.u32 %r2, [%rd4];"),
            "0:r 8:r ?r");
  EXPECT_EQ(Of("ld.global.f64 %fd1, [%rd1]; mov.b64 %rd3, %fd1;\n"
               "st.global.u32 [%rd3], %r1;"),
            "0:r ?w");
  EXPECT_EQ(Of("atom.global.exch.b64 %rd3, [%rd1], %rd2;\n"
               "ld.global.u32 %r2, [%rd3];"),
            "0:rw ?r");
}

TEST(AccessSummaryTest, AddressesInPiecesAreUnknown) {
  EXPECT_EQ(Of("ld.global.v2.u32 {%r2, %r3}, [%rd1];\n"
               "mov.b64 %rd3, {%r2, %r3}; ld.global.u32 %r4, [%rd3];"),
            "0:r ?r");
  EXPECT_EQ(Of("ld.global.u32 %r2, [%rd1]; ld.global.u32 %r3, [%rd1+4];\n"
               "cvt.u64.u32 %rd3, %r3; shl.b64 %rd3, %rd3, 32;\n"
               "cvt.u64.u32 %rd4, %r2; or.b64 %rd5, %rd3, %rd4;\n"
               "st.global.u32 [%rd5], %r1;"),
            "0:r ?w");
  EXPECT_EQ(Of("ld.global.u32 %r2, [%rd1]; mul.wide.u32 %rd3, %r2, 1073741824;\n"
               "add.s64 %rd4, %rd3, %rd2; ld.global.u32 %r3, [%rd4];"),
            "0:r 8:r ?r");
  EXPECT_EQ(Of("ld.param.u32 %r2, [a]; ld.param.u32 %r3, [a+4];\n"
               "mov.b64 %rd3, {%r2, %r3}; ld.global.u32 %r4, [%rd3];"),
            "?r");
}

TEST(AccessSummaryTest, ConstantAddressesAreUnknown) {
  EXPECT_EQ(Of("mov.u64 %rd3, 4096; st.global.u32 [%rd3], %r1;"), "?w");
  EXPECT_EQ(Of("ld.global.u32 %r2, [4096];"), "?r");
  EXPECT_EQ(Of("cvt.u64.u32 %rd3, %r1; ld.global.u32 %r2, [%rd3];"), "?r");
}

TEST(AccessSummaryTest, StructsAreReadByTheirBytes) {
  EXPECT_EQ(Of("ld.param.u64 %rd3, [s+8]; ld.global.u32 %r2, [%rd3];"), "32:r");
  EXPECT_EQ(Of("ld.param.v2.u64 {%rd3, %rd4}, [s+16];\n"
               "ld.global.u32 %r2, [%rd3]; st.global.u32 [%rd4], %r2;"),
            "40:r 48:w");
  // With an index only known when it runs.
  EXPECT_EQ(Of("mov.u64 %rd3, s; mad.wide.u32 %rd4, %r1, 8, %rd3;\n"
               "ld.param.u64 %rd5, [%rd4]; ld.global.u32 %r2, [%rd5];"),
            "0:r 8:r 24:r 32:r 40:r 48:r");
}

TEST(AccessSummaryTest, ModuleDataIsNotThrough) {
  EXPECT_EQ(Of("st.global.u32 [g], %r1; ld.const.u32 %r2, [c];"), "");
  EXPECT_EQ(Of("mov.u64 %rd3, g; mad.wide.u32 %rd4, %r1, 8, %rd3;\n"
               "st.global.u64 [%rd4], %rd1;"),
            "");
  EXPECT_EQ(Of("ld.global.u64 %rd3, [g+8]; ld.global.u32 %r2, [%rd3];"), "?r");
  EXPECT_EQ(Of("ld.const.u64 %rd3, [c]; st.global.u32 [%rd3], %r1;"), "?w");
}

TEST(AccessSummaryTest, PointersSurviveLocalAndSharedMemory) {
  EXPECT_EQ(Of("st.local.u64 [lo+8], %rd1; ld.local.u64 %rd3, [lo+8];\n"
               "ld.global.u32 %r2, [%rd3];"),
            "0:r");
  EXPECT_EQ(Of("mov.u64 %rd3, lo; cvta.local.u64 %rd4, %rd3;\n"
               "st.u64 [%rd4], %rd2; ld.u64 %rd5, [%rd4];\n"
               "st.u32 [%rd5], %r1;"),
            "8:w");
  EXPECT_EQ(Of("st.shared.u64 [sh], %rd1; ld.shared.u64 %rd3, [sh];\n"
               "st.global.u32 [%rd3], %r1;"),
            "0:w");
  // What was copied in from memory is unknown.
  EXPECT_EQ(Of("cp.async.ca.shared.global [sh], [%rd1], 16;\n"
               "ld.shared.u64 %rd3, [sh]; ld.global.u32 %r2, [%rd3];"),
            "0:r ?r");
  EXPECT_EQ(Of("ld.global.u32 %r2, [%rd1]; st.shared.u32 [sh], %r2;\n"
               "ld.shared.u64 %rd3, [sh]; ld.global.u32 %r3, [%rd3];"),
            "0:r ?r");
  EXPECT_EQ(Of("ld.shared.u32 %r2, [sh]; st.local.u32 [lo], %r2;"), "");
}

TEST(AccessSummaryTest, CallsAreFollowed) {
  constexpr char kFunctions[] =
      ".func (.param .b64 r) next(.param .b64 x, .param .b64 y)\n{\n"
      ".reg .b64 %rd<4>; .reg .b32 %r<3>;\n"
      "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];\n"
      "ld.global.u32 %r1, [%rd1]; add.s64 %rd3, %rd2, 8;\n"
      "st.param.b64 [r], %rd3; ret;\n}\n";
  EXPECT_EQ(Of("st.param.b64 [p0], %rd1; st.param.b64 [p1], %rd2;\n"
               "call.uni (r0), next, (p0, p1); ld.param.b64 %rd3, [r0];\n"
               "st.global.u32 [%rd3], %r1;",
               kFunctions),
            "0:r 8:w");
  EXPECT_EQ(Of("st.param.b64 [p0], %rd1;\n"
               "call.uni (r0), malloc, (p0); ld.param.b64 %rd3, [r0];\n"
               "st.global.u64 [%rd3], %rd2; ld.global.u64 %rd4, [%rd3];\n"
               "ld.global.u32 %r2, [%rd4];"),
            "?r");
  EXPECT_EQ(Of("st.local.u64 [lo], %rd1; st.param.b64 [p0], %rd2;\n"
               "mov.u64 %rd3, lo; cvta.local.u64 %rd3, %rd3;\n"
               "st.param.b64 [p1], %rd3; call.uni (r1), vprintf, (p0, p1);"),
            "0:r 8:r");
}

TEST(AccessSummaryTest, RecursionEnds) {
  EXPECT_EQ(Of("st.param.b64 [p0], %rd1; call.uni f, (p0);",
               ".func f(.param .b64 x)\n{\n.reg .b64 %rd<3>; .reg .b32 %r1;\n"
               ".param .b64 q; ld.param.u64 %rd1, [x]; ld.global.u32 %r1, "
               "[%rd1];\nadd.s64 %rd2, %rd1, 4; st.param.b64 [q], %rd2;\n"
               "call.uni f, (q); ret;\n}\n"),
            "0:r");
}

TEST(AccessSummaryTest, IndirectCallsMakeItUnknown) {
  EXPECT_EQ(Of("ld.global.u64 %rd3, [g]; st.param.b64 [p0], %rd1;\n"
               "proto: .callprototype _ (.param .b64 _);\n"
               "call %rd3, (p0), proto;"),
            "unknown");
}

// Kernels that nvcc made: none is a mystery, and the simple ones are exact.
TEST(AccessSummaryTest, KernelsOfNvcc) {
  const auto read = [](const std::string& path) {
    std::ifstream file(std::string(HETGPU_SOURCE_DIR) + path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  };
  std::string error;
  const auto module =
      ParseOrError(read("/tests/ptx/memory.ptx"), &error);
  ASSERT_NE(module, nullptr) << error;
  int kernels = 0;
  for (uint32_t i = 0; i < module->functions.size(); ++i) {
    const Function& function = module->functions[i];
    if (!function.is_entry || function.body == nullptr) continue;
    ++kernels;
    EXPECT_TRUE(SummariseAccess(*module, i).is_known) << function.name;
  }
  EXPECT_GT(kernels, 0);
}

}  // namespace
}  // namespace hetgpu::ptx
