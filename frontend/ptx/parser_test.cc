// Bodies in, dumped instructions out.
#include "frontend/ptx/parser.h"

#include <gtest/gtest.h>

#include "frontend/ptx/dump.h"
#include "frontend/ptx/test_util.h"

namespace hetgpu::ptx {
namespace {

struct BodyCase {
  const char* body;
  const char* dump;
};

std::string DumpInstructions(const Module& module, const Function& function) {
  std::string out;
  for (const Instruction& instruction : function.body->instructions) {
    if (!out.empty()) out += '\n';
    out += DumpInstruction(module, function, instruction);
  }
  return out;
}

class BodyTest : public testing::TestWithParam<BodyCase> {};

TEST_P(BodyTest, Dumps) {
  std::string error;
  auto module = ParseOrError(KernelText(GetParam().body), &error);
  ASSERT_NE(module, nullptr) << error;
  const Function* kernel = FindFunction(*module, "k");
  ASSERT_TRUE(kernel->refusal.ok()) << kernel->refusal;
  EXPECT_EQ(DumpInstructions(*module, *kernel), GetParam().dump);
}

INSTANTIATE_TEST_SUITE_P(
    Operands, BodyTest,
    testing::Values(
        BodyCase{"add.s32 %r1, %r2, -4;", "add.s32 =%r1:s32, %r2:s32, -4:s32"},
        BodyCase{"add.u32 %r1, %r2, -1;",
                 "add.u32 =%r1:u32, %r2:u32, 4294967295:u32"},
        BodyCase{"mul.wide.s32 %rd1, %r2, 4;",
                 "mul.wide.s32 =%rd1:s64, %r2:s32, 4:s32"},
        BodyCase{"fma.rn.f32 %f1, %f2, 0f3F800000, 1.0;",
                 "fma.rn.f32 =%f1:f32, %f2:f32, 0x3f800000:f32, "
                 "0x3f800000:f32"},
        BodyCase{"mov.b32 %r1, 0f3F800000;",
                 "mov.b32 =%r1:b32, "
                 "1065353216:b32"},
        BodyCase{"mov.u32 %r1, %tid.x;", "mov.u32 =%r1:u32, %tid.x:u32"},
        BodyCase{"mov.u64 %rd1, %clock64;", "mov.u64 =%rd1:u64, %clock64:u64"},
        BodyCase{"mov.u32 %r1, %envreg31;", "mov.u32 =%r1:u32, %envreg31:u32"},
        BodyCase{"mov.u32 %r1, WARP_SZ;", "mov.u32 =%r1:u32, 32:u32"},
        BodyCase{"mov.u64 %rd1, g + 4;", "mov.u64 =%rd1:u64, g+4"},
        BodyCase{"mov.u64 %rd1, callee;", "mov.u64 =%rd1:u64, callee"},
        BodyCase{"mov.b64 {%r1, %r2}, %rd1;",
                 "mov.b64 {=%r1:b32, =%r2:b32}, %rd1:b64"},
        BodyCase{"mov.b32 %r1, {%rs1, %rs2};",
                 "mov.b32 =%r1:b32, {%rs1:b16, %rs2:b16}"},
        BodyCase{"mov.b128 %q1, {%rd1, %rd2};",
                 "mov.b128 =%q1:b128, {%rd1:b64, %rd2:b64}"},
        BodyCase{"mov.pred %p1, -1;", "mov.pred =%p1:pred, 1:pred"},
        BodyCase{"setp.lt.and.s32 %p1|%p2, %r1, 3, !%p3;",
                 "setp.lt.and.s32 =%p1:pred|=%p2:pred, %r1:s32, 3:s32, "
                 "!%p3:pred"},
        BodyCase{"setp.eq.f16x2 %p1|%p2, %hh1, %r1;",
                 "setp.eq.f16x2 =%p1:pred|=%p2:pred, %hh1:f16x2, %r1:f16x2"},
        BodyCase{"shfl.sync.down.b32 %r1|%p1, %f1, 16, 31, -1;",
                 "shfl.sync.down.b32 =%r1:b32|=%p1:pred, %f1:b32, 16:b32, "
                 "31:b32, 4294967295:b32"},
        BodyCase{"shfl.sync.idx.b32 %r1, %r2, %r3, 31, %r4;",
                 "shfl.sync.idx.b32 =%r1:b32, %r2:b32, %r3:b32, 31:b32, "
                 "%r4:b32"},
        BodyCase{"ld.global.v4.f32 {%f1, _, %f2, %f3}, [%rd1+16];",
                 "ld.global.v4.f32 {=%f1:f32, =_, =%f2:f32, =%f3:f32}, "
                 "[%rd1+16]"},
        BodyCase{"ld.global.b32 { %r1 }, [ %rd1 + 0 ];",
                 "ld.global.b32 =%r1:b32, [%rd1]"},
        BodyCase{"ld.global.v4.f32 v, [%rd1];",
                 "ld.global.v4.f32 {=v.x:f32, =v.y:f32, =v.z:f32, =v.w:f32}, "
                 "[%rd1]"},
        BodyCase{"add.f32 v.y, v.w, %f1;",
                 "add.f32 =v.y:f32, v.w:f32, %f1:f32"},
        BodyCase{"ld.global.u8 %r1, [%rd1+-8];",
                 "ld.global.u8 =%r1:u8, [%rd1+-8]"},
        BodyCase{"ld.param.u64 %rd1, [a];", "ld.param.u64 =%rd1:u64, [a]"},
        BodyCase{"ld.shared.u32 %r1, [sh+4*3];",
                 "ld.shared.u32 =%r1:u32, [sh+12]"},
        BodyCase{"ld.shared.u32 %r1, [%r2+4];",
                 "ld.shared.u32 =%r1:u32, [%r2+4]"},
        BodyCase{"st.local.u8 [lo+3], %rs1;", "st.local.u8 [lo+3], %rs1:u8"},
        BodyCase{"ld.global.u32 %r1, [4096];",
                 "ld.global.u32 =%r1:u32, [4096]"},
        BodyCase{"cvt.u16.u32 %rs1, %r1;", "cvt.u16.u32 =%rs1:u16, %r1:u32"},
        BodyCase{"cvt.s32.s8 %r1, %r2;", "cvt.s32.s8 =%r1:s32, %r2:s8"},
        BodyCase{"cvt.u8.u32 %rs1, %r1;", "cvt.u8.u32 =%rs1:u8, %r1:u32"},
        BodyCase{"atom.global.add.u32 _, [%rd1], 1;",
                 "atom.global.add.u32 =_, [%rd1], 1:u32"},
        BodyCase{"bar.red.or.pred %p1, 0, %r1, !%p2;",
                 "bar.red.or.pred =%p1:pred, 0:u32, %r1:u32, !%p2:pred"},
        BodyCase{"bar.red.popc.u32 %r1, 0, %p2;",
                 "bar.red.popc.u32 =%r1:u32, 0:u32, %p2:pred"},
        BodyCase{"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f5, %f6}];",
                 "tex.2d.v4.f32.f32 {=%f1:f32, =%f2:f32, =%f3:f32, "
                 "=%f4:f32}, [%rd1:b64, {%f5:f32, %f6:f32}]"},
        BodyCase{"cp.async.ca.shared.global [%r1], [%rd1], 16, %r2;",
                 "cp.async.ca.shared.global [%r1], [%rd1], 16:s64, %r2:u32"},
        BodyCase{"cp.async.ca.shared.global [%r1], [%rd1], 16, !%p1;",
                 "cp.async.ca.shared.global [%r1], [%rd1], 16:s64, "
                 "!%p1:pred"},
        BodyCase{"mul.f16x2 %r1, %r2, %hh1;",
                 "mul.f16x2 =%r1:f16x2, %r2:f16x2, %hh1:f16x2"},
        BodyCase{"add.f16 %rs1, %h1, 0x3C00;",
                 "add.f16 =%rs1:f16, %h1:f16, 15360:f16"}));

INSTANTIATE_TEST_SUITE_P(
    Syntax, BodyTest,
    testing::Values(
        BodyCase{"@%p1 bra X; @!%p1 exit; X: ret;",
                 "@%p1 bra X->2\n@!%p1 exit\nret"},
        BodyCase{"bra X; X:", "bra X->1"},
        BodyCase{"mov .u32 %r1 , /* c */ %r2 ;", "mov.u32 =%r1:u32, %r2:u32"},
        BodyCase{"{ .reg .u32 t; mov.u32 t, %r1; { .reg .u32 t; "
                 "mov.u32 t, %r2; } mov.u32 %r3, t; }",
                 "mov.u32 =t:u32, %r1:u32\nmov.u32 =t:u32, %r2:u32\n"
                 "mov.u32 =%r3:u32, t:u32"},
        BodyCase{"{ .reg .pred %p<9>; mov.pred %p8, 0; } mov.pred %p1, 0;",
                 "mov.pred =%p8:pred, 0:pred\nmov.pred =%p1:pred, 0:pred"},
        BodyCase{"{ .reg .f32 %r7; mov.f32 %r7, %f1; } mov.u32 %r7, 1;",
                 "mov.f32 =%r7:f32, %f1:f32\nmov.u32 =%r7:u32, 1:u32"},
        BodyCase{"{ L: bra L; } { bra L; L: ret; }", "bra L->0\nbra L->2\nret"},
        BodyCase{"{ bra L; } L: { bra L; }", "bra L->1\nbra L->1"},
        BodyCase{"{ { bra L; } L: } exit;", "bra L->1\nexit"},
        BodyCase{"T: .branchtargets A, B; brx.idx %r1, T; A: ret; B: exit;",
                 "brx.idx %r1:u32, T\nret\nexit"},
        BodyCase{"call.uni (r0), callee, (p0);",
                 "call.uni (=r0), callee, (p0)"},
        BodyCase{"P: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
                 "call (r0), %rd1, (p0), P;",
                 "call (=r0), %rd1:b64, (p0), P"},
        BodyCase{"T: .calltargets callee; call (r0), %rd1, (p0), T;",
                 "call (=r0), %rd1:b64, (p0), T"},
        BodyCase{".loc 1 5 3\nmov.u32 %r1, 2; .pragma \"nounroll\";\n"
                 ".loc 1 6 1, function_name $L_x+8, inlined_at 1 9 2\nret;",
                 "mov.u32 =%r1:u32, 2:u32\nret"},
        BodyCase{"vote.ballot.sync.b32 %r1, %p1, -1;",
                 "vote.ballot.sync.b32 =%r1:b32, %p1:pred, 4294967295:b32"},
        BodyCase{";;", ""}));

TEST(ParserTest, BranchTablesAreDeclaredBeforeUse) {
  std::string error;
  auto module = ParseOrError(
      KernelText("brx.idx %r1, T;\nT: .branchtargets A; A: ret;"), &error);
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(FindFunction(*module, "k")->refusal.message(),
            "t.ptx:16:14: 'T' is no list of branch targets");
}

TEST(ParserTest, PlacesAndLineInfo) {
  std::string error;
  auto module = ParseOrError(
      KernelText(".loc 2 7 9\n  @%p1 ret;\n.loc 1 8 1, function_name f, "
                 "inlined_at 3 4 5\nexit;"),
      &error);
  ASSERT_NE(module, nullptr) << error;
  const Body& body = *FindFunction(*module, "k")->body;
  ASSERT_EQ(body.instructions.size(), 2u);
  EXPECT_EQ(body.instructions[0].location.line, 17u);
  EXPECT_EQ(body.instructions[0].location.column, 3u);
  const LineInfo& first = body.locs[body.instructions[0].loc];
  EXPECT_EQ(first.file, 2u);
  EXPECT_EQ(first.line, 7u);
  EXPECT_FALSE(first.inlined);
  const LineInfo& second = body.locs[body.instructions[1].loc];
  EXPECT_TRUE(second.inlined);
  EXPECT_EQ(second.inlined_line, 4u);
}

TEST(ParserTest, RegistersAreDense) {
  std::string error;
  auto module = ParseOrError(KernelText("ret;"), &error);
  ASSERT_NE(module, nullptr) << error;
  const Body& body = *FindFunction(*module, "k")->body;
  uint32_t next = 0;
  for (const RegisterGroup& group : body.register_groups) {
    EXPECT_EQ(group.first, next);
    next += group.count;
    EXPECT_EQ(&body.GroupOf(group.first), &group);
    EXPECT_EQ(&body.GroupOf(group.first + group.count - 1), &group);
  }
  EXPECT_EQ(body.num_registers, next);
  EXPECT_EQ(body.RegisterName(5), "%rs1");
}

struct ModuleCase {
  const char* text;  // behind the header
  const char* dump;  // behind its first line
};

class ModuleTest : public testing::TestWithParam<ModuleCase> {};

TEST_P(ModuleTest, Dumps) {
  std::string error;
  auto module = ParseOrError(Cat(kHeader, GetParam().text), &error);
  ASSERT_NE(module, nullptr) << error;
  std::string dump = DumpModule(*module);
  EXPECT_EQ(dump.substr(dump.find('\n') + 1), GetParam().dump);
}

INSTANTIATE_TEST_SUITE_P(
    Variables, ModuleTest,
    testing::Values(
        ModuleCase{".global .u32 a;", ".global .u32 a align 4 size 4\n"},
        ModuleCase{".visible .global .align 8 .b8 a[3][2] = {{1,2},{3}, 7};",
                   ".visible .global .b8 a[3][2] align 8 size 6 = "
                   "0102030007\n"},
        ModuleCase{".const .f32 a[] = {1.0, 0f40000000};",
                   ".const .f32 a[2] align 4 size 8 = 0000803f00000040\n"},
        ModuleCase{".const .s16 a = -2;",
                   ".const .s16 a align 2 size 2 = "
                   "feff\n"},
        ModuleCase{".global .v4 .f32 a = {1.0, 2.0};",
                   ".global .v4 .f32 a align 16 size 16 = "
                   "0000803f00000040\n"},
        ModuleCase{".global .b8 x[8]; .global .u64 p[2] = {generic(x)+4, x};",
                   ".global .b8 x[8] align 1 size 8\n"
                   ".global .u64 p[2] align 8 size 16 = "
                   "00000000000000000000000000000000 @0 generic x+4 @8 "
                   "x+0\n"},
        ModuleCase{".global .b8 p[2] = {0xff(x), 0xff00(x+1)};",
                   ".global .b8 p[2] align 1 size 2 = 0000 @0 x+0 mask 255 "
                   "@1 x+1 mask 65280\n"},
        ModuleCase{".global .attribute(.managed) .align 4 .u32 m;",
                   ".global .u32 m align 4 size 4 managed\n"},
        ModuleCase{".extern .global .align 8 .b64 e;\n.visible .global .align "
                   "8 .b64 e = 3;",
                   ".visible .global .b64 e align 8 size 8 = "
                   "0300000000000000\n"},
        ModuleCase{".weak .global .u32 w; .weak .global .u32 w;",
                   ".weak .global .u32 w align 4 size 4\n"},
        ModuleCase{".common .global .u32 c;",
                   ".common .global .u32 c align 4 size 4\n"},
        ModuleCase{".extern .shared .align 16 .b8 s[];",
                   ".extern .shared .b8 s[0] align 16 size 0\n"},
        ModuleCase{".global .b32 a, b[2];",
                   ".global .b32 a align 4 size 4\n"
                   ".global .b32 b[2] align 4 size 8\n"},
        ModuleCase{".file 1 \"a \\\"b\\\".cu\", 12, 34\n"
                   ".section .debug_info { .b32 1, 2 .b8 \"}\" }\n"
                   ".pragma \"x\"; @@DWARF .byte 1\n",
                   ".file 1 a \\\"b\\\".cu\n"}));

INSTANTIATE_TEST_SUITE_P(
    Functions, ModuleTest,
    testing::Values(
        ModuleCase{".entry k { ret; }", ".entry k ()\n  0: ret\n"},
        ModuleCase{".visible .entry k(.param .u64 .ptr .global .align 16 p,\n"
                   ".param .align 8 .b8 s[24])\n.maxntid 256, 2\n.reqntid 8\n"
                   ".minnctapersm 2 .maxnreg 40 .pragma \"nounroll\"; { ret; }",
                   ".visible .entry k (.param .u64 p align 8 size 8 ptr global "
                   "16, .param .b8 s[24] align 8 size 24)\n  .maxntid 256, 2, "
                   "1\n  .reqntid 8, 1, 1\n  .minnctapersm 2\n  .maxnreg 40\n"
                   "  0: ret\n"},
        ModuleCase{".extern .func (.param .b32 r) vprintf(.param .b64 a, "
                   ".param .b64 b);",
                   ".extern .func (.param .b32 r align 4 size 4) vprintf "
                   "(.param .b64 a align 8 size 8, .param .b64 b align 8 size "
                   "8)\n"},
        ModuleCase{".func f; .func f { ret; }", ".func f ()\n  0: ret\n"},
        ModuleCase{".weak .func f .noreturn { trap; }",
                   ".weak .func f ()\n  .noreturn\n  0: trap\n"},
        ModuleCase{".func f { ret; } .func g; .alias g, f;",
                   ".func f ()\n  0: ret\n.func g ()\n  alias of f\n"},
        ModuleCase{".func (.reg .u32 %o) f(.reg .u32 %i) { mov.u32 %o, %i; }",
                   ".func (.reg .u32 %o align 4 size 4) f (.reg .u32 %i align "
                   "4 size 4)\n  .reg .u32 %i [0, 1)\n  .reg .u32 %o [1, 2)\n"
                   "  0: mov.u32 =%o:u32, %i:u32\n"}));

TEST(ParserTest, HeaderIsRead) {
  std::string error;
  auto module = ParseOrError(
      ".version 9.0\n.target sm_120a, debug, texmode_independent\n"
      ".address_size 64\n",
      &error);
  ASSERT_NE(module, nullptr) << error;
  EXPECT_EQ(module->version, 90u);
  EXPECT_EQ(module->target, "sm_120a");
  EXPECT_EQ(module->sm, 120u);
  EXPECT_EQ(module->sm_suffix, 'a');
  ASSERT_EQ(module->target_options.size(), 2u);
  EXPECT_EQ(module->target_options[0], "debug");
}

TEST(ParserTest, TrailingZeroBytesAreAllowed) {
  std::string text(kHeader);
  text += std::string(3, '\0');
  std::string error;
  EXPECT_NE(ParseOrError(text, &error), nullptr) << error;
}

TEST(ParserTest, NamesOutliveTheCallersText) {
  auto text = std::make_unique<std::string>(KernelText("ret;"));
  std::string error;
  auto module = ParseOrError(*text, &error);
  text.reset();
  ASSERT_NE(module, nullptr);
  EXPECT_NE(FindFunction(*module, "k"), nullptr);
}

}  // namespace
}  // namespace hetgpu::ptx
