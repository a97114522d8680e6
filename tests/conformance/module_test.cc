#include <cstring>

#include "tests/conformance/conformance.h"

namespace hetgpu::conformance {
namespace {

using testing::HasSubstr;

class ModuleSuite : public DeviceTest {
 protected:
  hetgpuResult Load(const std::string& text) {
    hetgpuModule module = nullptr;
    return hetgpuModuleLoadData(context_, text.data(), text.size(), "bad.ptx",
                                &module);
  }

  uint64_t Attribute(hetgpuFunction function, hetgpuFunctionAttribute which) {
    uint64_t value = 0;
    EXPECT_SUCCESS(hetgpuFunctionGetAttribute(function, which, &value));
    return value;
  }
};

constexpr char kHeader[] = ".version 9.0\n.target sm_80\n.address_size 64\n";

TEST_P(ModuleSuite, DescribesKernels) {
  uint32_t count = 0;
  ASSERT_SUCCESS(hetgpuModuleGetKernelCount(Module("basic"), &count));
  EXPECT_EQ(count, 10u);
  const hetgpuFunction parameters = Function("basic", "parameters");
  ASSERT_SUCCESS(hetgpuFunctionGetParameterCount(parameters, &count));
  ASSERT_EQ(count, 7u);
  const uint32_t offsets[] = {0, 8, 10, 12, 16, 24, 32};
  const uint32_t sizes[] = {8, 1, 2, 4, 4, 8, 24};
  for (uint32_t i = 0; i < count; ++i) {
    hetgpuParameterInfo info = {};
    info.struct_size = sizeof(info);
    ASSERT_SUCCESS(hetgpuFunctionGetParameter(parameters, i, &info));
    EXPECT_EQ(info.offset, offsets[i]) << i;
    EXPECT_EQ(info.size, sizes[i]) << i;
    EXPECT_EQ(info.is_array, i == 6) << i;
    EXPECT_EQ(info.is_pointer, i == 0) << i;
  }
  EXPECT_EQ(Attribute(parameters, HETGPU_FUNCTION_PARAM_BYTES), 56u);
}

TEST_P(ModuleSuite, DescribesResources) {
  EXPECT_EQ(Attribute(Function("basic", "reverse_static"),
                      HETGPU_FUNCTION_STATIC_SHARED_BYTES),
            1024u);
  const hetgpuFunction dynamic = Function("basic", "reverse_dynamic");
  EXPECT_EQ(Attribute(dynamic, HETGPU_FUNCTION_USES_DYNAMIC_SHARED), 1u);
  EXPECT_EQ(Attribute(dynamic, HETGPU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES),
            Property(HETGPU_DEVICE_MAX_SHARED_PER_BLOCK));
  EXPECT_EQ(Attribute(Function("basic", "at_most_64"),
                      HETGPU_FUNCTION_MAX_THREADS_PER_BLOCK),
            64u);
  EXPECT_GT(Attribute(Function("basic", "vecadd"), HETGPU_FUNCTION_SOURCE_LINE),
            0u);
}

TEST_P(ModuleSuite, GlobalsHoldTheirInitialisers) {
  hetgpuDevicePtr table = 0, middle = 0;
  uint64_t size = 0;
  ASSERT_SUCCESS(
      hetgpuModuleGetGlobal(Module("basic"), "table", &table, &size));
  EXPECT_EQ(size, 16u);
  EXPECT_THAT(Download<uint32_t>(table, 4),
              testing::ElementsAre(10, 20, 30, 40));
  ASSERT_SUCCESS(
      hetgpuModuleGetGlobal(Module("basic"), "middle", &middle, nullptr));
  EXPECT_EQ(Download<uint64_t>(middle, 1)[0], table + 8);
}

TEST_P(ModuleSuite, KernelsSeeAndChangeGlobals) {
  hetgpuDevicePtr counter = 0;
  ASSERT_SUCCESS(
      hetgpuModuleGetGlobal(Module("basic"), "counter", &counter, nullptr));
  const uint32_t eleven = 11;
  ASSERT_SUCCESS(hetgpuMemCopyHtoD(context_, counter, &eleven, 4));
  const hetgpuDevicePtr out = Zeroes(3);
  ASSERT_SUCCESS(Run(Function("basic", "globals"), {}, out));
  EXPECT_THAT(Download<float>(out, 3), testing::ElementsAre(6, 160, 30));
  EXPECT_EQ(Download<uint32_t>(counter, 1)[0], 12u);
}

TEST_P(ModuleSuite, LoadedTwiceHasItsDataTwice) {
  hetgpuModule again = nullptr;
  const std::string path =
      HETGPU_SOURCE_DIR "/tests/conformance/kernels/basic.ptx";
  ASSERT_SUCCESS(hetgpuModuleLoadFile(context_, path.c_str(), &again));
  hetgpuDevicePtr first = 0, second = 0;
  ASSERT_SUCCESS(
      hetgpuModuleGetGlobal(Module("basic"), "counter", &first, nullptr));
  ASSERT_SUCCESS(hetgpuModuleGetGlobal(again, "counter", &second, nullptr));
  EXPECT_NE(first, second);
  const hetgpuDevicePtr out = Zeroes(3);
  ASSERT_SUCCESS(Run(Function("basic", "globals"), {}, out));
  EXPECT_EQ(Download<uint32_t>(first, 1)[0], 6u);
  EXPECT_EQ(Download<uint32_t>(second, 1)[0], 5u);
  ASSERT_SUCCESS(hetgpuModuleUnload(again));
  ExpectUsable();
}

TEST_P(ModuleSuite, PreparedFunctionsExplainThemselves) {
  const hetgpuFunction function = Function("basic", "vecadd");
  ASSERT_SUCCESS(hetgpuFunctionPrepare(function));
  EXPECT_EQ(Attribute(function, HETGPU_FUNCTION_IS_PREPARED), 1u);
  EXPECT_GT(Attribute(function, HETGPU_FUNCTION_IMAGE_BYTES), 0u);
  const char* text = nullptr;
  ASSERT_SUCCESS(
      hetgpuFunctionGetText(function, HETGPU_FUNCTION_TEXT_EXPLANATION, &text));
  EXPECT_STRNE(text, "");
}

// Kernels with shared memory, const data and a function each, all of the same
// names in the source, and one that needs none of it.
TEST_P(ModuleSuite, PreparedTogetherEachKernelHasItsOwn) {
  const std::string text = std::string(kHeader) + R"(
.const .align 4 .u32 table[2] = {100, 200};
.func (.param .u32 r) twice(.param .u32 a) {
  .reg .u32 %r;
  ld.param.u32 %r, [a];
  add.u32 %r, %r, %r;
  st.param.u32 [r], %r;
  ret;
}
.visible .entry first(.param .u64 out) {
  .reg .u32 %r<3>;
  .reg .u64 %out;
  .shared .align 4 .u32 place[8];
  ld.param.u64 %out, [out];
  ld.const.u32 %r0, [table];
  st.shared.u32 [place+28], %r0;
  ld.shared.u32 %r1, [place+28];
  { .param .u32 a; .param .u32 r;
    st.param.u32 [a], %r1;
    call.uni (r), twice, (a);
    ld.param.u32 %r2, [r]; }
  st.global.u32 [%out], %r2;
  ret;
}
.visible .entry second(.param .u64 out) {
  .reg .u32 %r<3>;
  .reg .u64 %out;
  .shared .align 8 .u32 place[64];
  ld.param.u64 %out, [out];
  ld.const.u32 %r0, [table+4];
  st.shared.u32 [place+252], %r0;
  ld.shared.u32 %r1, [place+252];
  { .param .u32 a; .param .u32 r;
    st.param.u32 [a], %r1;
    call.uni (r), twice, (a);
    ld.param.u32 %r2, [r]; }
  st.global.u32 [%out], %r2;
  ret;
}
.visible .entry third() { ret; }
)";
  hetgpuModule module = nullptr;
  ASSERT_SUCCESS(hetgpuModuleLoadData(context_, text.data(), text.size(),
                                      "three.ptx", &module));
  ASSERT_SUCCESS(hetgpuModulePrepare(module));
  const hetgpuDevicePtr out = Zeroes(1);
  const auto run = [&](const char* name, auto... args) {
    hetgpuFunction function = nullptr;
    EXPECT_SUCCESS(hetgpuModuleGetFunction(module, name, &function));
    EXPECT_EQ(Attribute(function, HETGPU_FUNCTION_IS_PREPARED), 1u);
    EXPECT_SUCCESS(Run(function, {}, args...));
    return Download<uint32_t>(out, 1)[0];
  };
  EXPECT_EQ(run("first", out), 200u);
  EXPECT_EQ(run("second", out), 400u);
  EXPECT_EQ(run("third"), 400u);
  ASSERT_SUCCESS(hetgpuModuleUnload(module));
  ExpectUsable();
}

TEST_P(ModuleSuite, RefusedKernelLeavesTheOthers) {
  const std::string text = std::string(kHeader) + R"(
.visible .entry good() { ret; }
.visible .entry bad() { frobnicate.u32 %r1, %r2; ret; }
)";
  hetgpuModule module = nullptr;
  ASSERT_SUCCESS(hetgpuModuleLoadData(context_, text.data(), text.size(),
                                      "two.ptx", &module));
  hetgpuFunction good = nullptr, bad = nullptr;
  ASSERT_SUCCESS(hetgpuModuleGetFunction(module, "good", &good));
  ASSERT_SUCCESS(hetgpuModuleGetFunction(module, "bad", &bad));
  EXPECT_SUCCESS(Run(good, {}));
  EXPECT_RESULT(HETGPU_ERROR_UNSUPPORTED, Run(bad, {}));
  EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr("frobnicate"));
  EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr("two.ptx:6:"));
  const char* refusal = nullptr;
  ASSERT_SUCCESS(
      hetgpuFunctionGetText(bad, HETGPU_FUNCTION_TEXT_REFUSAL, &refusal));
  EXPECT_THAT(refusal, HasSubstr("frobnicate"));
}

TEST_P(ModuleSuite, BadSourcesAreRefusedInOneLine) {
  const std::string whole =
      std::string(kHeader) + ".visible .entry k() { ret; }";
  const std::string bad[] = {
      "binary \x01\x02\xff garbage",
      std::string("\x7f"
                  "ELF\0\0\0\0",
                  8),
      std::string(64, '\0'),
      ".version 9.0\n.target sm_80\n.address_size 32\n",
      ".version 99.0\n.target sm_80\n.address_size 64\n",
      ".target sm_80\n.address_size 64\n",
      whole.substr(0, whole.size() - 1),
      whole.substr(0, 20),
      std::string(kHeader) + ".visible .entry k( { ret; }",
      std::string(kHeader) + ".visible .entry k() { ret; } }",
      std::string("HETIR\0\0\0 damaged container", 26)};
  for (const std::string& text : bad) {
    const hetgpuResult result = Load(text);
    EXPECT_TRUE(result == HETGPU_ERROR_INVALID_MODULE ||
                result == HETGPU_ERROR_UNSUPPORTED)
        << text << ": " << hetgpuResultName(result);
    const std::string detail = hetgpuGetLastErrorDetail();
    EXPECT_THAT(detail, HasSubstr("bad.ptx"));
    EXPECT_EQ(detail.find('\n'), std::string::npos) << detail;
  }
  ExpectUsable();
}

TEST_P(ModuleSuite, EveryPrefixIsHandled) {
  const std::string whole =
      std::string(kHeader) +
      ".global .u32 g[2] = {1, 2};\n"
      ".visible .entry k(.param .u64 p) { .reg .b64 %rd<3>;\n"
      "ld.param.u64 %rd1, [p]; st.global.u32 [%rd1], 1; ret; }\n";
  for (size_t length = 1; length <= whole.size(); ++length) {
    const hetgpuResult result = Load(whole.substr(0, length));
    EXPECT_TRUE(result == HETGPU_SUCCESS ||
                result == HETGPU_ERROR_INVALID_MODULE ||
                result == HETGPU_ERROR_UNSUPPORTED)
        << length << ": " << hetgpuResultName(result);
  }
}

HETGPU_CONFORMANCE(ModuleSuite);

}  // namespace
}  // namespace hetgpu::conformance
