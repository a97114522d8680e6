#include "frontend/ptx/sema.h"

#include <gtest/gtest.h>

#include "frontend/ptx/test_util.h"

namespace hetgpu::ptx {
namespace {

class SemaTest : public testing::Test {
 protected:
  void Load(std::string_view text) {
    std::string error;
    module_ = ParseOrError(Cat(kHeader, text), &error);
    ASSERT_NE(module_, nullptr) << error;
    auto info = BuildModuleInfo(*module_);
    ASSERT_TRUE(info.ok()) << info.status();
    info_ = *std::move(info);
  }
  const KernelInfo& Kernel(std::string_view name) {
    const KernelInfo* kernel = info_.FindKernel(name);
    EXPECT_NE(kernel, nullptr) << name;
    return *kernel;
  }
  std::string Refusal(std::string_view name) {
    return std::string(Kernel(name).refusal.message());
  }
  KernelLayout Layout(std::string_view name) {
    auto sema = Sema::Create(*module_);
    EXPECT_TRUE(sema.ok());
    return sema->LayOutKernel(*module_->FindFunction(name));
  }

  std::unique_ptr<Module> module_;
  ModuleInfo info_;
};

TEST_F(SemaTest, LaysOutParameters) {
  Load(
      ".entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20],\n"
      ".param .u16 d, .param .u64 .ptr .global e, .param .f64 f)\n"
      ".maxntid 128 .reqntid 32, 2 { ret; }");
  const KernelInfo& k = Kernel("k");
  ASSERT_EQ(k.params.size(), 6u);
  const uint32_t offsets[] = {0, 8, 16, 36, 40, 48};
  const uint32_t sizes[] = {1, 8, 20, 2, 8, 8};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(k.params[i].offset, offsets[i]) << i;
    EXPECT_EQ(k.params[i].size, sizes[i]) << i;
  }
  EXPECT_EQ(k.param_bytes, 56u);
  EXPECT_TRUE(k.params[1].is_pointer);
  EXPECT_TRUE(k.params[2].is_array);
  EXPECT_FALSE(k.params[2].is_pointer);
  EXPECT_TRUE(k.params[4].is_pointer);
  EXPECT_FALSE(k.params[5].is_pointer);
  EXPECT_EQ(k.params[3].type, ScalarType::kU16);
  EXPECT_EQ(k.max_threads[0], 128u);
  EXPECT_EQ(k.required_threads[1], 2u);
  EXPECT_EQ(k.line, 4u);
  EXPECT_EQ(info_.ptx_version, 87u);
  EXPECT_EQ(info_.target, "sm_90a");
}

TEST_F(SemaTest, LaysOutData) {
  Load(
      ".global .u8 a = 7; .const .align 16 .u32 b[3] = {1};\n"
      ".global .u64 c[2] = {generic(b)+4, 0}; .global .u64 z;");
  ASSERT_EQ(info_.symbols.size(), 4u);
  EXPECT_EQ(info_.FindSymbol("a")->offset, 0u);
  EXPECT_EQ(info_.FindSymbol("b")->offset, 16u);
  EXPECT_EQ(info_.FindSymbol("b")->space, AddressSpace::kConst);
  EXPECT_EQ(info_.FindSymbol("c")->offset, 32u);
  EXPECT_EQ(info_.FindSymbol("z")->offset, 48u);
  EXPECT_EQ(info_.data_size, 56u);
  EXPECT_EQ(info_.data_align, 16u);
  ASSERT_GE(info_.data_init.size(), 20u);
  EXPECT_EQ(info_.data_init[0], 7);
  EXPECT_EQ(info_.data_init[16], 1);
  ASSERT_EQ(info_.relocations.size(), 1u);
  EXPECT_EQ(info_.relocations[0].offset, 32u);
  EXPECT_EQ(info_.relocations[0].kind, Relocation::Kind::kData);
  EXPECT_EQ(info_.relocations[0].addend, 20);
}

TEST_F(SemaTest, JoinsTheBytesOfAnAddress) {
  Load(
      ".global .align 8 .b8 x[8];\n.global .align 8 .b8 p[16] = {5, 0, 0, 0,"
      " 0, 0, 0, 0, 0xff(x+3), 0xff00(x+3), 0xff0000(x+3), 0xff000000(x+3),"
      " 0xff00000000(x+3), 0xff0000000000(x+3), 0xff000000000000(x+3),"
      " 0xff00000000000000(x+3)};");
  ASSERT_EQ(info_.relocations.size(), 1u);
  EXPECT_EQ(info_.relocations[0].offset, 16u);
  EXPECT_EQ(info_.relocations[0].addend, 3);
}

TEST_F(SemaTest, RelocatesFunctions) {
  Load(".func f { ret; }\n.global .u64 t[2] = {f, 0};");
  ASSERT_EQ(info_.relocations.size(), 1u);
  EXPECT_EQ(info_.relocations[0].kind, Relocation::Kind::kFunction);
  EXPECT_EQ(info_.relocations[0].function, "f");
}

TEST_F(SemaTest, BodyDataJoinsTheSegment) {
  Load(".global .u32 a;\n.entry k { .global .u32 t[2] = {3, 4}; ret; }");
  EXPECT_EQ(info_.symbols.size(), 1u);
  EXPECT_EQ(info_.data_size, 12u);
  EXPECT_EQ(info_.data_init[4], 3);
  auto sema = Sema::Create(*module_);
  EXPECT_EQ(sema->data().OffsetOf({0, 0}), 4u);
  EXPECT_EQ(sema->data().OffsetOf({kNone, 0}), 0u);
}

constexpr std::string_view kShared =
    ".shared .align 4 .b8 m[6]; .shared .align 4 .b8 unused[100];\n"
    ".extern .shared .align 32 .b8 dyn[];\n"
    ".func f { .shared .align 8 .b8 in_f[8]; .local .align 8 .b8 l[24];\n"
    "  .reg .b32 %r<2>; mov.u32 %r1, m; ret; }\n"
    ".entry with { .shared .u8 own; .reg .b64 %rd<2>; call f;\n"
    "  mov.u64 %rd1, dyn; ret; }\n"
    ".entry without { .shared .u8 own[3]; ret; }\n";

TEST_F(SemaTest, LaysOutSharedMemoryPerKernel) {
  Load(kShared);
  const KernelInfo& with = Kernel("with");
  EXPECT_TRUE(with.refusal.ok()) << with.refusal;
  EXPECT_TRUE(with.uses_dynamic_shared);
  EXPECT_EQ(with.static_shared_bytes, 18u);  // in_f 0, own 8, m 12
  EXPECT_EQ(with.dynamic_shared_offset, 32u);
  EXPECT_EQ(with.local_bytes, 24u);
  const KernelInfo& without = Kernel("without");
  EXPECT_FALSE(without.uses_dynamic_shared);
  EXPECT_EQ(without.static_shared_bytes, 3u);
  EXPECT_EQ(without.dynamic_shared_offset, 16u);

  KernelLayout layout = Layout("with");
  uint32_t m = *module_->FindVariable("m");
  uint32_t dyn = *module_->FindVariable("dyn");
  uint32_t f = *module_->FindFunction("f");
  EXPECT_EQ(layout.SharedOffset({f, 0}), 0u);
  EXPECT_EQ(layout.SharedOffset({layout.function, 0}), 8u);
  EXPECT_EQ(layout.SharedOffset({kNone, m}), 12u);
  EXPECT_EQ(layout.SharedOffset({kNone, dyn}), 32u);
  EXPECT_EQ(layout.SharedOffset({kNone, m + 1}), kNoOffset);
}

TEST_F(SemaTest, CountsLocalMemoryOfTheModuleLevel) {
  Load(
      ".local .align 8 .b8 m[20]; .local .u32 unused;\n"
      ".entry k { .local .u8 own; .reg .b64 %rd<2>; mov.u64 %rd1, m; ret; }");
  EXPECT_EQ(Kernel("k").local_bytes, 28u);  // own 0, m 8
}

TEST_F(SemaTest, ReachesThroughCallsAliasesAndPointers) {
  Load(
      ".func leaf { ret; } .func mid { call leaf; ret; } .func nick;\n"
      ".alias nick, mid;\n"
      ".func (.param .b32 r) virt(.param .b64 p) { ret; }\n"
      ".func other_shape(.param .b64 p) { ret; }\n"
      ".func never { ret; }\n"
      ".global .u64 table[2] = {virt, other_shape};\n"
      ".entry direct { call nick; ret; }\n"
      ".entry indirect { .reg .b64 %rd<2>; .param .b32 r; .param .b64 p;\n"
      "P: .callprototype (.param .b32 _) _ (.param .b64 _);\n"
      "call (r), %rd1, (p), P; ret; }\n"
      ".entry loop { ret; }\n");
  auto names = [this](std::string_view kernel) {
    std::string out;
    for (uint32_t f : Layout(kernel).reachable) {
      out += Cat(module_->functions[f].name, ' ');
    }
    return out;
  };
  EXPECT_EQ(names("direct"), "direct leaf mid ");
  EXPECT_EQ(names("indirect"), "indirect virt ");
  EXPECT_EQ(names("loop"), "loop ");
}

TEST_F(SemaTest, RecursionEnds) {
  Load(
      ".func b; .func a { call b; ret; } .func b { call a; ret; }\n"
      ".entry k { call a; ret; }");
  EXPECT_TRUE(Kernel("k").refusal.ok());
  EXPECT_EQ(Layout("k").reachable.size(), 3u);
}

TEST_F(SemaTest, RefusesKernelsByWhatTheyReach) {
  Load(
      ".func bad { frob; } .extern .func missing; .extern .global .u32 ext;\n"
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".global .texref tex; .global .u64 half = 1;\n"
      ".global .b8 part[2] = {0xff(half), 0};\n"
      ".shared .u32 sh; .global .u64 shp = sh; .global .u64 odd = nowhere;\n"
      ".entry ok { .param .b32 r; .param .b64 a; call (r), vprintf, (a, a);"
      " ret; }\n"
      ".entry calls_bad { call bad; ret; }\n"
      ".entry is_bad { frob; }\n"
      ".entry calls_missing { call missing; ret; }\n"
      ".entry uses(.param .u64 p) { .reg .b64 %rd<3>; mov.u64 %rd1, ext; }\n"
      ".entry uses_tex { .reg .b64 %rd<3>; mov.u64 %rd1, tex; }\n"
      ".entry uses_part { .reg .b64 %rd<3>; mov.u64 %rd1, part; }\n"
      ".entry uses_shp { .reg .b64 %rd<3>; mov.u64 %rd1, shp; }\n"
      ".entry uses_odd { .reg .b64 %rd<3>; mov.u64 %rd1, odd; }\n"
      ".global .u64 kn = ok;\n"
      ".entry uses_kernel { .reg .b64 %rd<3>; mov.u64 %rd1, kn; }\n");
  EXPECT_EQ(Refusal("ok"), "");
  EXPECT_EQ(Refusal("calls_bad"), "t.ptx:4:13: unknown instruction 'frob'");
  EXPECT_EQ(Refusal("is_bad"), "t.ptx:11:17: unknown instruction 'frob'");
  EXPECT_EQ(Refusal("calls_missing"),
            "t.ptx:12:24: unresolved external function 'missing'");
  EXPECT_EQ(Refusal("uses"), "t.ptx:4:65: unresolved external variable 'ext'");
  EXPECT_EQ(Refusal("uses_tex"),
            "t.ptx:6:17: 'tex' is a .texref, and texture, sampler and surface "
            "references are not supported");
  EXPECT_EQ(Refusal("uses_part"),
            "t.ptx:7:29: part of the address of 'half' as an initial value is "
            "not supported, expected all 8 bytes");
  EXPECT_EQ(Refusal("uses_shp"),
            "t.ptx:8:37: the address of 'sh' as an initial value is not "
            "supported, it is no .global or .const variable of this module");
  EXPECT_EQ(Refusal("uses_odd"), "t.ptx:8:60: undeclared name 'nowhere'");
  EXPECT_EQ(Refusal("uses_kernel"),
            "t.ptx:18:19: the address of the kernel 'ok' as an initial value is "
            "not supported");
}

TEST_F(SemaTest, TooMuchDataIsRefused) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += Cat(".global .align 1 .b8 v", i, "[4294967295];\n");
  }
  std::string error;
  module_ = ParseOrError(Cat(kHeader, text), &error);
  ASSERT_NE(module_, nullptr) << error;
  auto info = BuildModuleInfo(*module_);
  EXPECT_EQ(info.status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(SemaTest, HugeCallGraphsAreRefused) {
  std::string text = ".func f0 { ret; }\n";
  for (int i = 1; i < 4000; ++i) {
    text += Cat(".func f", i, " { call f", i - 1, "; ret; }\n");
  }
  for (int i = 0; i < 20000; ++i) {
    text += Cat(".entry k", i, " { call f3999; ret; }\n");
  }
  Load(text);
  EXPECT_TRUE(Kernel("k0").refusal.ok());
  EXPECT_EQ(Kernel("k19999").refusal.code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(SemaTest, TooMuchSharedMemoryIsRefused) {
  Load(".entry k { .shared .b8 s[4294967295]; ret; }");
  EXPECT_EQ(Kernel("k").refusal.code(), absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace hetgpu::ptx
