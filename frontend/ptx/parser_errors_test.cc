// Text in, error out: every kind of refusal, with its place.
#include <gtest/gtest.h>

#include "frontend/ptx/parser.h"
#include "frontend/ptx/test_util.h"

namespace hetgpu::ptx {
namespace {

struct BodyError {
  const char* body;  // starts in line 16
  const char* message;
};

class BodyErrorTest : public testing::TestWithParam<BodyError> {};

TEST_P(BodyErrorTest, RefusesTheKernelAlone) {
  std::string text =
      Cat(KernelText(GetParam().body), ".visible .entry other() { ret; }\n");
  std::string error;
  auto module = ParseOrError(text, &error);
  ASSERT_NE(module, nullptr) << error;
  const Function* kernel = FindFunction(*module, "k");
  EXPECT_EQ(std::string(kernel->refusal.message()),
            Cat("t.ptx:", GetParam().message));
  EXPECT_EQ(kernel->body, nullptr);
  const Function* other = FindFunction(*module, "other");
  ASSERT_NE(other, nullptr);
  EXPECT_TRUE(other->refusal.ok());
  EXPECT_NE(other->body, nullptr);
}

INSTANTIATE_TEST_SUITE_P(
    Instructions, BodyErrorTest,
    testing::Values(
        BodyError{"frob.u32 %r1;", "16:1: unknown instruction 'frob.u32'"},
        BodyError{"ret;\n  add.fast.s32 %r1, %r2, %r3;",
                  "17:3: unsupported modifier '.fast' of 'add' in "
                  "'add.fast.s32'"},
        BodyError{"@%p1 add.sat.u64 %rd1, %rd2, %rd3;",
                  "16:6: no form of 'add' has the modifiers of "
                  "'add.sat.u64'; the closest is 'add.sat.s32 d, a, b'"},
        BodyError{"mma.sync.aligned.shape;",
                  "16:1: unsupported modifier '.shape' of 'mma' in "
                  "'mma.sync.aligned.shape'"},
        BodyError{"tcgen05.alloc.cta_group::1.sync.aligned.b32 [%r1], 32;",
                  "16:1: unknown instruction "
                  "'tcgen05.alloc.cta_group::1.sync.aligned.b32'"},
        BodyError{"redux.sync.add.f32 %f1, %f2, -1;",
                  "16:1: no form of 'redux' has the modifiers of "
                  "'redux.sync.add.f32'; the closest is 'redux.sync.op"
                  ".i32type d, a, mask:b32'"},
        BodyError{"add.f32x2 %rd1, %rd2, %rd3;",
                  "16:1: 'add.f32x2' needs sm_100, but the module's target "
                  "is sm_90a"},
        BodyError{"min.f32 %f1, %f2, %f3, %f4;",
                  "16:1: 'min.f32' has 4 operands, expected 3"}));

INSTANTIATE_TEST_SUITE_P(
    Operands, BodyErrorTest,
    testing::Values(
        BodyError{"add.s32 %r1, %r2;",
                  "16:1: 'add.s32' has 2 operands, expected 3"},
        BodyError{"bar.sync;",
                  "16:1: 'bar.sync' has 0 operands, expected 1 "
                  "or 2"},
        BodyError{"add.s32 %r1, %rd2, 1;",
                  "16:1: operand 2 '%rd2' of 'add.s32' has type .b64, which "
                  "does not fit .s32; expected 'add.itype d, a, b'"},
        BodyError{"add.f32 %f1, %s1, %f2;",
                  "16:1: operand 2 '%s1' of 'add.f32' has type .s32, which "
                  "does not fit .f32; expected 'add{.rnd}{.ftz}{.sat}.f32 d, "
                  "a, b'"},
        BodyError{"add.f32 %f1, %f2, 1;",
                  "16:1: operand 3 '1' of 'add.f32' does not fit: an integer "
                  "constant cannot stand for type .f32; expected "
                  "'add{.rnd}{.ftz}{.sat}.f32 d, a, b'"},
        BodyError{"add.s32 %r1, 0f3F800000, %r2;",
                  "16:1: operand 2 '0f3F800000' of 'add.s32' does not fit: a "
                  "floating-point constant cannot stand for type .s32; "
                  "expected 'add.itype d, a, b'"},
        BodyError{"add.s32 4, %r1, %r2;",
                  "16:1: operand 1 '4' of 'add.s32' cannot be written; "
                  "expected 'add.itype d, a, b'"},
        BodyError{"mov.u32 %tid.x, %r1;",
                  "16:1: operand 1 '%tid.x' of 'mov.u32' cannot be written; "
                  "expected 'mov.type d:type^, a:type^'"},
        BodyError{"add.s32 %r1, _, %r2;",
                  "16:1: operand 2 '_' of 'add.s32' cannot be read; expected "
                  "'add.itype d, a, b'"},
        BodyError{"add.s32 %r1, %p1, %r2;",
                  "16:1: operand 2 '%p1' of 'add.s32' has type .pred, which "
                  "does not fit .s32; expected 'add.itype d, a, b'"},
        BodyError{"selp.b32 %r1, %r2, %r3, !%p1;",
                  "16:1: operand 4 '!%p1' of 'selp.b32' must not be negated; "
                  "expected 'selp.type d, a, b, c:pred'"},
        BodyError{"ld.global.u32 %r1, %rd1;",
                  "16:1: operand 2 '%rd1' of 'ld.global.u32' is no address; "
                  "expected 'ld{.weak}{.ldspace}{.ldcop}{.hint}{.l2size}"
                  "{.vec}.memtype d:~memtype*, [a]{, policy:b64}'"},
        BodyError{"ld.global.u64 %r1, [%rd1];",
                  "16:1: operand 1 '%r1' of 'ld.global.u64' has type .b32, "
                  "which does not fit .u64; expected 'ld{.weak}{.ldspace}"
                  "{.ldcop}{.hint}{.l2size}{.vec}.memtype d:~memtype*, "
                  "[a]{, policy:b64}'"},
        BodyError{"ldu.v2.f32 {%f1, %f2, %f3}, [%rd1];",
                  "16:1: operand 1 '{%f1, %f2, %f3}' of 'ldu.v2.f32' must be a "
                  "list of "
                  "2 elements; expected 'ldu{.global}{.vec}.memtype "
                  "d:~memtype*, [a]'"},
        BodyError{"mov.b64 {%rs1, %rs2}, %rd1;",
                  "16:1: operand 1 '{%rs1, %rs2}' of 'mov.b64' has type .b16, "
                  "which does not fit .b32; expected 'mov.type d:type^, "
                  "a:type^'"},
        BodyError{"mov.b64 {%r1, %r2, %r3}, %rd1;",
                  "16:1: operand 1 '{%r1, %r2, %r3}' of 'mov.b64' has 3 "
                  "elements, which do not make up type .b64; expected "
                  "'mov.type d:type^, a:type^'"},
        BodyError{"add.s32 %r1|%p1, %r2, %r3;",
                  "16:1: operand 1 '%r1|%p1' of 'add.s32' must not be a "
                  "pair; expected 'add.itype d, a, b'"},
        BodyError{"elect.sync %r1, -1;",
                  "16:1: operand 1 '%r1' of 'elect.sync' needs the form d|p; "
                  "expected 'elect.sync d:b32|p, mask:b32'"},
        BodyError{"lop3.b32 %r1, %r2, %r3, %r4, %r5;",
                  "16:1: operand 5 '%r5' of 'lop3.b32' must be an integer "
                  "constant; expected 'lop3.b32 d, a, b, c, lut:imm'"},
        BodyError{"mov.u32 %r1, %clock64;",
                  "16:1: operand 2 '%clock64' of 'mov.u32' has type .u64, "
                  "which does not fit .u32; expected 'mov.type d:type^, "
                  "a:type^'"},
        BodyError{"mov.u16 %rs1, g;",
                  "16:1: operand 2 'g' of 'mov.u16' is an address; expected "
                  "'mov.type d:type^, a:type^'"},
        BodyError{"ld.global.u32 %r1, [%f1];",
                  "16:21: an address cannot have type .f32"},
        BodyError{"ld.global.u32 %r1, [%rd1+4294967296];",
                  "16:25: the offset of an address must fit in 32 bits"},
        BodyError{"ld.global.u32 %r1, [%rd1+1.5];",
                  "16:25: the offset of an address must fit in 32 bits"},
        BodyError{"vadd.u32.u32.u32 %r1, %r2.b0, %r3;",
                  "16:23: unsupported selector '.b0' of register '%r2'"},
        BodyError{"mov.u32 %r1, !%r2;",
                  "16:14: only predicate registers can be negated"},
        BodyError{"mov.u32 %r1, 1 / 0;",
                  "16:14: division by zero in a constant expression"},
        BodyError{"mov.u32 %r1, 08;", "16:14: malformed number '08'"}));

INSTANTIATE_TEST_SUITE_P(
    Names, BodyErrorTest,
    testing::Values(
        BodyError{"mov.u32 %r1, %x;", "16:14: undeclared name '%x'"},
        BodyError{"mov.u32 %r1, %r40;", "16:14: undeclared name '%r40'"},
        BodyError{"mov.u32 %r1, %r01;", "16:14: undeclared name '%r01'"},
        BodyError{"mov.u32 %r1, %tid.q;", "16:14: undeclared name '%tid.q'"},
        BodyError{"mov.u64 %rd1, nowhere;", "16:15: undeclared name 'nowhere'"},
        BodyError{"@%q bra L; L:", "16:2: undeclared guard predicate '%q'"},
        BodyError{"@%r1 bra L; L:",
                  "16:2: guard '%r1' has type .b32, expected .pred"},
        BodyError{"bra L;", "16:5: undeclared label 'L'"},
        BodyError{"{ L: } bra L;", "16:12: undeclared label 'L'"},
        BodyError{"L: ret; L: ret;", "16:9: label 'L' is defined twice"},
        BodyError{"{ .reg .u32 t; } mov.u32 t, 1;",
                  "16:26: undeclared name 't'"},
        BodyError{".reg .u32 t; .reg .f32 t;", "16:24: 't' is declared twice"},
        BodyError{".reg .b32 %r<3>;", "16:11: '%r<…>' is declared twice"},
        BodyError{"call nothing;", "16:6: undeclared function 'nothing'"},
        BodyError{"call k, (p0, r0);", "16:6: a call of kernel 'k'"},
        BodyError{"call (r0), callee;",
                  "16:1: call of 'callee' has 0 arguments, expected 1"},
        BodyError{"call callee, (p0);",
                  "16:1: call of 'callee' has 0 results, expected 1"},
        BodyError{"call %r1;",
                  "16:6: '%r1' is neither a function nor a "
                  "64-bit register"},
        BodyError{"call (r0), %rd1, (p0);",
                  "16:1: an indirect call needs a .callprototype"},
        BodyError{"call %rd1, (p0), g;",
                  "16:18: 'g' is no call prototype or list of call targets"},
        BodyError{"call (1), callee, (p0);",
                  "16:7: a call cannot pass this operand"},
        BodyError{"brx.idx %r1, g;",
                  "16:14: 'g' is no list of branch targets"}));

INSTANTIATE_TEST_SUITE_P(
    Syntax, BodyErrorTest,
    testing::Values(
        BodyError{"add.s32 %r1, %r2, %r3", "17:1: expected ';', found '}'"},
        BodyError{"add.s32 %r1 %r2;", "16:13: expected ';', found '%r2'"},
        BodyError{"ld.global.u32 %r1, [%rd1;",
                  "16:25: expected ']', found ';'"},
        BodyError{"add.s32 %r1, %r2, ;",
                  "16:19: expected an operand, found "
                  "';'"},
        BodyError{"# pragma", "16:1: expected a statement, found '#'"},
        BodyError{".frob 1;", "16:1: unknown directive '.frob'"},
        BodyError{".reg .q32 x;", "16:6: unknown register type '.q32'"},
        BodyError{".reg .b32 x<1.5>;",
                  "16:16: expected a register count, found '>'"},
        BodyError{".reg .b32 x<2000000>;",
                  "16:11: function declares more than 1048576 registers"},
        BodyError{".local .b8 x[0x7fffffffff];",
                  "16:14: expected an array size between 0 and 4294967296"},
        BodyError{".local .b64 x[4294967296][4294967296];",
                  "16:13: variable 'x' is larger than 4294967296 bytes"},
        BodyError{".local .align 3 .b8 x[4];",
                  "16:14: alignment 3 is not a power of two"},
        BodyError{".shared .b8 x[4] = {1};",
                  "16:20: 'x' cannot have an initial value"},
        BodyError{".local .pred x;",
                  "16:14: a variable in memory cannot have type .pred"},
        BodyError{".loc 1 2;", "16:9: expected a number, found ';'"},
        BodyError{"_", "16:1: unknown instruction '_'"}));

TEST(BodyErrorTest, UnbalancedBracesRefuseTheModule) {
  std::string error;
  EXPECT_EQ(ParseOrError(Cat(kHeader, ".entry k() { ret;"), &error), nullptr);
  EXPECT_EQ(error, "t.ptx:4:12: the body of 'k' does not end");
}

TEST(HeaderErrorTest, UnknownDirectivesRefuseTheFunctionAlone) {
  std::string error;
  const auto module = ParseOrError(
      Cat(kHeader, ".entry a() .frob 64 \"x{\" ; .entry k() ",
          ".maxntid 32 .frob 64, \"a;\" .maxnreg 8 { { ret; } }\n",
          ".entry ok() { ret; }"),
      &error);
  ASSERT_NE(module, nullptr) << error;
  ASSERT_EQ(module->functions.size(), 3u);
  EXPECT_EQ(module->functions[1].refusal.message(),
            "t.ptx:4:51: unknown directive '.frob' of a function");
  EXPECT_TRUE(module->functions[1].defined);
  EXPECT_TRUE(module->functions[2].refusal.ok());
  EXPECT_NE(module->functions[2].body, nullptr);
}

struct ModuleError {
  const char* text;
  const char* message;
};

class ModuleErrorTest : public testing::TestWithParam<ModuleError> {};

TEST_P(ModuleErrorTest, RefusesTheModule) {
  std::string error;
  EXPECT_EQ(ParseOrError(GetParam().text, &error), nullptr);
  EXPECT_EQ(error, Cat("t.ptx:", GetParam().message));
}

#define HEADER ".version 8.0 .target sm_80 .address_size 64\n"
INSTANTIATE_TEST_SUITE_P(
    Header, ModuleErrorTest,
    testing::Values(
        ModuleError{"", "1:1: expected .version at the start of a module"},
        ModuleError{"garbage",
                    "1:1: expected .version at the start of a module"},
        ModuleError{".version",
                    "1:9: malformed .version, expected "
                    "major.minor"},
        ModuleError{".version 8",
                    "1:10: malformed .version, expected "
                    "major.minor"},
        ModuleError{".version 8.x",
                    "1:10: malformed .version, expected "
                    "major.minor"},
        ModuleError{".version 3.1 .target sm_30",
                    "1:10: PTX ISA 3.1 is not supported, expected 3.2 to 9.9"},
        ModuleError{".version 12.0 .target sm_30",
                    "1:10: PTX ISA 12.0 is not supported, expected 3.2 to "
                    "9.9"},
        ModuleError{".version 8.0", "1:13: the module has no .target"},
        ModuleError{".version 8.0 .address_size 64",
                    "1:14: expected .target behind .version"},
        ModuleError{".version 8.0 .target gfx90",
                    "1:22: unsupported target option 'gfx90'"},
        ModuleError{".version 8.0 .target debug",
                    "1:27: expected sm_XX, found the end of the file"},
        ModuleError{".version 8.0 .target sm_80, map_f64_to_f32",
                    "1:29: unsupported target option 'map_f64_to_f32'"},
        ModuleError{".version 8.0 .target sm_9x",
                    "1:22: unknown target 'sm_9x'"},
        ModuleError{".version 8.0 .target sm_80, sm_90",
                    "1:29: a second target 'sm_90' behind 'sm_80'"},
        ModuleError{".version 8.0 .target sm_80 .address_size 32",
                    "1:28: .address_size 32 is not supported, expected 64"},
        ModuleError{HEADER "/* a */\n  /* b\n.entry k() {}\n",
                    "3:3: the comment does not end"},
        ModuleError{HEADER ".entry k() { /* b }\n",
                    "2:14: the comment does not end"},
        ModuleError{HEADER ".version 8.0", "2:1: a module has one .version"}));

INSTANTIATE_TEST_SUITE_P(
    Declarations, ModuleErrorTest,
    testing::Values(
        ModuleError{HEADER "x", "2:1: expected a directive, found 'x'"},
        ModuleError{HEADER ".frob", "2:1: unknown directive '.frob'"},
        ModuleError{HEADER ".visible .file 1 \"a\"",
                    "2:9: expected a variable or function behind its "
                    "linkage"},
        ModuleError{HEADER ".global .u32 a; .global .f32 a;",
                    "2:30: 'a' is declared twice"},
        ModuleError{HEADER ".global .u32 a; .func a { ret; }",
                    "2:23: 'a' is declared as something else before"},
        ModuleError{HEADER ".func f { ret; } .func f { ret; }",
                    "2:26: 'f' is defined twice"},
        ModuleError{HEADER ".func f(.param .b32 x); .func f { ret; }",
                    "2:31: 'f' is declared with other parameters before"},
        ModuleError{HEADER ".entry k(.local .u32 x) { }",
                    "2:10: expected .param or .reg in a parameter list"},
        ModuleError{HEADER ".entry k .maxntid x { }",
                    "2:19: 'x' is not a constant"},
        ModuleError{HEADER ".entry k",
                    "2:9: expected ';' or a body, found "
                    "the end of the file"},
        ModuleError{HEADER ".global .u32;",
                    "2:13: expected a name, found "
                    "';'"},
        ModuleError{HEADER ".global a;", "2:9: expected a type, found 'a'"},
        ModuleError{HEADER ".global .align 4 .q8 a;",
                    "2:18: unsupported qualifier '.q8' of a variable"},
        ModuleError{HEADER ".global .attribute(.frob) .u32 a;",
                    "2:20: unsupported attribute '.frob'"},
        ModuleError{HEADER ".global .u32 a[2] = {1,2,3};",
                    "2:26: too many initial values for 'a'"},
        ModuleError{HEADER ".global .u32 a = {{1}};",
                    "2:19: initial value of 'a' is nested too deeply"},
        ModuleError{HEADER ".global .u32 a = 1.5;",
                    "2:18: initial value of 'a': a floating-point constant "
                    "cannot stand for type .u32"},
        ModuleError{HEADER ".global .f32 a = x;",
                    "2:18: the address of 'x' cannot initialise type .f32"},
        ModuleError{HEADER ".global .u32 a[];",
                    "2:14: array 'a' has no size and no initial value"},
        ModuleError{HEADER ".global .u32 a[2][];",
                    "2:20: only the first dimension may be empty"},
        ModuleError{HEADER ".global .u32 a = 1",
                    "2:19: expected ';', found the end of the file"},
        ModuleError{HEADER ".alias f, g;", "2:8: undeclared function 'f'"},
        ModuleError{HEADER ".func f; .func g; .alias f, g;",
                    "2:7: 'f' cannot be an alias of 'g'"},
        ModuleError{HEADER ".func f; .func g { ret; } .func h; .alias f, h; "
                           ".alias h, g;",
                    "2:7: 'f' cannot be an alias of 'h'"},
        ModuleError{HEADER ".entry k { ret; } .func g { ret; } .alias g, k;",
                    "2:46: kernel 'k' cannot be part of an alias"},
        ModuleError{HEADER ".section .debug_info { ",
                    "2:9: the section does not end"},
        ModuleError{HEADER ".file 1 x",
                    "2:9: expected a file name, found "
                    "'x'"}));

TEST(LimitsTest, AreEnforced) {
  ParseOptions options;
  options.max_initializer_bytes = 8;
  options.max_block_depth = 3;
  options.max_registers_per_function = 10;
  auto message = [&](std::string_view text) {
    auto module = Parse(Cat(kHeader, text), "t.ptx", options);
    if (!module.ok()) return std::string(module.status().message());
    return std::string((*module)->functions[0].refusal.message());
  };
  EXPECT_EQ(message(".global .u64 a[2] = {1, 2};"),
            "t.ptx:4:26: initial values of the module are larger than the "
            "limit");
  EXPECT_EQ(message(".entry k { { { { } } } }"),
            "t.ptx:4:16: blocks are nested too deeply");
  EXPECT_EQ(message(".entry k { .reg .b32 %r<11>; }"),
            "t.ptx:4:22: function declares more than 10 registers");
  options.max_text_bytes = 10;
  EXPECT_EQ(message(""), "t.ptx:1:1: the text is larger than the limit");
}

TEST(StatusCodeTest, TellsUnsupportedFromMalformed) {
  std::string error;
  auto module = ParseOrError(
      Cat(KernelText("frob;"), ".entry b { mov.u32 x, 1; }"), &error);
  ASSERT_NE(module, nullptr) << error;
  EXPECT_EQ(FindFunction(*module, "k")->refusal.code(),
            absl::StatusCode::kUnimplemented);
  EXPECT_EQ(FindFunction(*module, "b")->refusal.code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hetgpu::ptx
