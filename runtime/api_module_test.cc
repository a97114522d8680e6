#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

using testing::HasSubstr;

class ApiModuleTest : public FakeTest {
 protected:
  hetgpuResult Load(const std::string& text) {
    hetgpuModule module = nullptr;
    return hetgpuModuleLoadData(context_, text.data(), text.size(), "x.ptx",
                                &module);
  }
};

TEST_F(ApiModuleTest, ListsItsKernels) {
  uint32_t count = 0;
  ASSERT_SUCCESS(hetgpuModuleGetKernelCount(module_, &count));
  EXPECT_EQ(count, FakeModule().kernels.size());
  const char* name = nullptr;
  ASSERT_SUCCESS(hetgpuModuleGetKernelName(module_, 0, &name));
  EXPECT_STREQ(name, "nothing");
  EXPECT_RESULT(HETGPU_ERROR_NOT_FOUND,
                hetgpuModuleGetKernelName(module_, count, &name));
}

TEST_F(ApiModuleTest, FunctionsByName) {
  EXPECT_EQ(Function("nothing"), Function("nothing"));
  hetgpuFunction function = nullptr;
  EXPECT_RESULT(HETGPU_ERROR_NOT_FOUND,
                hetgpuModuleGetFunction(module_, "nothin", &function));
  EXPECT_THAT(hetgpuGetLastErrorDetail(),
              HasSubstr("fake.ptx: no kernel \"nothin\", expected one of: "
                        "nothing, print"));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuModuleGetFunction(module_, nullptr, &function));
}

TEST_F(ApiModuleTest, WrongSources) {
  EXPECT_RESULT(HETGPU_ERROR_INVALID_MODULE, Load("bad text"));
  EXPECT_STREQ(hetgpuGetLastErrorDetail(), "x.ptx:1:1: found bad");
  EXPECT_RESULT(HETGPU_ERROR_UNSUPPORTED, Load("unknown text"));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE, Load(""));
  hetgpuModule module;
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuModuleLoadData(context_, nullptr, 5, "x", &module));
}

TEST_F(ApiModuleTest, Files) {
  hetgpuModule module = nullptr;
  const std::string dir = FreshFolder();
  std::ofstream(dir + "/good.ptx") << "good";
  std::ofstream(dir + "/empty.ptx");
  EXPECT_SUCCESS(
      hetgpuModuleLoadFile(context_, (dir + "/good.ptx").c_str(), &module));
  EXPECT_RESULT(
      HETGPU_ERROR_INVALID_MODULE,
      hetgpuModuleLoadFile(context_, (dir + "/empty.ptx").c_str(), &module));
  EXPECT_RESULT(HETGPU_ERROR_FILE_UNREADABLE,
                hetgpuModuleLoadFile(context_, dir.c_str(), &module));
  EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr("Is a directory"));
  EXPECT_RESULT(HETGPU_ERROR_FILE_UNREADABLE,
                hetgpuModuleLoadFile(context_, "/nowhere.ptx", &module));
  EXPECT_RESULT(HETGPU_ERROR_FILE_UNREADABLE,
                hetgpuModuleLoadFile(context_, "/dev/null", &module));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE,
                hetgpuModuleLoadFile(context_, nullptr, &module));
}

TEST_F(ApiModuleTest, GlobalsAreInitialisedAndRelocated) {
  hetgpuDevicePtr table = 0, pointer = 0;
  uint64_t size = 0;
  ASSERT_SUCCESS(hetgpuModuleGetGlobal(module_, "table", &table, &size));
  EXPECT_EQ(size, 16u);
  uint32_t values[4] = {};
  ASSERT_SUCCESS(hetgpuMemCopyDtoH(context_, values, table, size));
  EXPECT_EQ(values[3], 4u);
  ASSERT_SUCCESS(hetgpuModuleGetGlobal(module_, "pointer", &pointer, nullptr));
  hetgpuDevicePtr stored = 0;
  ASSERT_SUCCESS(hetgpuMemCopyDtoH(context_, &stored, pointer, 8));
  EXPECT_EQ(stored, table + 4);
  EXPECT_RESULT(HETGPU_ERROR_OUT_OF_RANGE,
                hetgpuMemCopyDtoH(context_, values, table + 4, 16));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_VALUE, hetgpuMemFree(context_, table));
  EXPECT_RESULT(HETGPU_ERROR_NOT_FOUND,
                hetgpuModuleGetGlobal(module_, "chair", nullptr, nullptr));
}

TEST_F(ApiModuleTest, GlobalsAreListed) {
  uint32_t count = 0;
  ASSERT_SUCCESS(hetgpuModuleGetGlobalCount(module_, &count));
  ASSERT_EQ(count, 3u);
  hetgpuGlobalInfo info = {};
  info.struct_size = sizeof(info);
  ASSERT_SUCCESS(hetgpuModuleGetGlobalInfo(module_, 2, &info));
  EXPECT_STREQ(info.name, "settings");
  EXPECT_EQ(info.is_const, 1u);
  EXPECT_EQ(info.size, 8u);
  EXPECT_RESULT(HETGPU_ERROR_NOT_FOUND,
                hetgpuModuleGetGlobalInfo(module_, 3, &info));
}

TEST_F(ApiModuleTest, UnloadInvalidatesFunctionsAndData) {
  const hetgpuFunction function = Function("nothing");
  hetgpuDevicePtr table = 0;
  ASSERT_SUCCESS(hetgpuModuleGetGlobal(module_, "table", &table, nullptr));
  ASSERT_SUCCESS(hetgpuModuleUnload(module_));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuModuleUnload(module_));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuFunctionPrepare(function));
  EXPECT_RESULT(HETGPU_ERROR_USE_AFTER_FREE,
                hetgpuMemFill(context_, table, 0, 1, 1));
}

TEST_F(ApiModuleTest, ParametersOfAFunction) {
  const hetgpuFunction store = Function("store");
  uint32_t count = 0;
  ASSERT_SUCCESS(hetgpuFunctionGetParameterCount(store, &count));
  ASSERT_EQ(count, 2u);
  hetgpuParameterInfo info = {};
  info.struct_size = sizeof(info);
  ASSERT_SUCCESS(hetgpuFunctionGetParameter(store, 1, &info));
  EXPECT_STREQ(info.name, "what");
  EXPECT_EQ(info.offset, 8u);
  EXPECT_EQ(info.size, 4u);
  EXPECT_EQ(info.type, HETGPU_TYPE_U32);
  EXPECT_EQ(info.is_pointer, 0u);
  EXPECT_RESULT(HETGPU_ERROR_NOT_FOUND,
                hetgpuFunctionGetParameter(store, 2, &info));
  EXPECT_STREQ(hetgpuTypeName(HETGPU_TYPE_BF16), "bf16");
  EXPECT_EQ(hetgpuTypeSize(HETGPU_TYPE_B128), 16u);
  EXPECT_STREQ(hetgpuTypeName(static_cast<hetgpuType>(99)), "?");
  EXPECT_EQ(hetgpuTypeSize(static_cast<hetgpuType>(-1)), 0u);
}

TEST_F(ApiModuleTest, AttributesOfAFunction) {
  const auto attribute = [&](const char* name, hetgpuFunctionAttribute which) {
    uint64_t value = 0;
    EXPECT_SUCCESS(hetgpuFunctionGetAttribute(Function(name), which, &value));
    return value;
  };
  EXPECT_EQ(attribute("store", HETGPU_FUNCTION_PARAM_BYTES), 12u);
  EXPECT_EQ(attribute("shared", HETGPU_FUNCTION_STATIC_SHARED_BYTES), 1000u);
  EXPECT_EQ(attribute("shared", HETGPU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES),
            3072u);
  EXPECT_EQ(attribute("shared", HETGPU_FUNCTION_USES_DYNAMIC_SHARED), 1u);
  EXPECT_EQ(attribute("limited", HETGPU_FUNCTION_MAX_THREADS_PER_BLOCK), 64u);
  EXPECT_EQ(attribute("exact", HETGPU_FUNCTION_REQUIRED_BLOCK_X), 32u);
  EXPECT_EQ(attribute("store", HETGPU_FUNCTION_SOURCE_LINE), 5u);
  EXPECT_EQ(attribute("store", HETGPU_FUNCTION_IS_PREPARED), 0u);
  EXPECT_SUCCESS(hetgpuFunctionPrepare(Function("store")));
  EXPECT_EQ(attribute("store", HETGPU_FUNCTION_IS_PREPARED), 1u);
  uint64_t value;
  EXPECT_RESULT(
      HETGPU_ERROR_INVALID_VALUE,
      hetgpuFunctionGetAttribute(
          Function("store"), static_cast<hetgpuFunctionAttribute>(99), &value));
}

TEST_F(ApiModuleTest, TextsOfAFunction) {
  const auto text = [&](const char* name, hetgpuFunctionText which) {
    const char* value = nullptr;
    EXPECT_SUCCESS(hetgpuFunctionGetText(Function(name), which, &value));
    return std::string(value);
  };
  EXPECT_EQ(text("store", HETGPU_FUNCTION_TEXT_NAME), "store");
  EXPECT_EQ(text("store", HETGPU_FUNCTION_TEXT_REFUSAL), "");
  EXPECT_EQ(text("store", HETGPU_FUNCTION_TEXT_EXPLANATION),
            "fake: does what it says");
  EXPECT_EQ(text("refused", HETGPU_FUNCTION_TEXT_REFUSAL),
            "fake.ptx:9:2: tex is not known");
  const char* value = nullptr;
  EXPECT_RESULT(
      HETGPU_ERROR_UNSUPPORTED,
      hetgpuFunctionGetText(Function("refused"),
                            HETGPU_FUNCTION_TEXT_EXPLANATION, &value));
}

TEST_F(ApiModuleTest, RefusedKernelsDoNotStopTheOthers) {
  EXPECT_RESULT(HETGPU_ERROR_UNSUPPORTED,
                hetgpuFunctionPrepare(Function("refused")));
  EXPECT_RESULT(HETGPU_ERROR_UNSUPPORTED,
                hetgpuFunctionPrepare(Function("unsupported")));
  EXPECT_RESULT(HETGPU_ERROR_COMPILE_FAILED,
                hetgpuFunctionPrepare(Function("broken")));
  EXPECT_SUCCESS(hetgpuFunctionPrepare(Function("nothing")));
}

TEST_F(ApiModuleTest, AllKernelsAtOnce) {
  const auto is_prepared = [&](const char* name) {
    uint64_t value = 0;
    EXPECT_SUCCESS(hetgpuFunctionGetAttribute(
        Function(name), HETGPU_FUNCTION_IS_PREPARED, &value));
    return value != 0;
  };
  EXPECT_SUCCESS(hetgpuFunctionPrepare(Function("nothing")));
  // The one that does not compile is named; those that are refused are not.
  EXPECT_RESULT(HETGPU_ERROR_COMPILE_FAILED, hetgpuModulePrepare(module_));
  EXPECT_THAT(hetgpuGetLastErrorDetail(), HasSubstr("kernel broken"));
  for (const auto& kernel : FakeModule().kernels) {
    const bool runs = kernel.name != "broken" && kernel.name != "unsupported" &&
                      kernel.name != "refused";
    EXPECT_EQ(is_prepared(kernel.name.c_str()), runs) << kernel.name;
  }
  EXPECT_RESULT(HETGPU_ERROR_COMPILE_FAILED, hetgpuModulePrepare(module_));
  EXPECT_SUCCESS(hetgpuModuleUnload(module_));
  EXPECT_RESULT(HETGPU_ERROR_INVALID_HANDLE, hetgpuModulePrepare(module_));
}

class NativeModuleTest : public FakeTest {
 protected:
  hetgpuFunction LoadFunction(const std::string& text, const char* name) {
    EXPECT_SUCCESS(hetgpuModuleLoadData(context_, text.data(), text.size(),
                                        "x.ptx", &native_));
    hetgpuFunction function = nullptr;
    EXPECT_SUCCESS(hetgpuModuleGetFunction(native_, name, &function));
    return function;
  }
  hetgpuResult Run(hetgpuFunction function) {
    const hetgpuResult launched = hetgpuLaunchKernel(
        function, {1, 1, 1}, {1, 1, 1}, 0, nullptr, nullptr);
    if (launched != HETGPU_SUCCESS) return launched;
    return hetgpuContextSynchronize(context_);
  }
  uint64_t Compiles() {
    uint64_t value = 0;
    EXPECT_SUCCESS(hetgpuGetCounter(HETGPU_COUNTER_COMPILES, &value));
    return value;
  }

  hetgpuModule native_ = nullptr;
};

TEST_F(NativeModuleTest, KernelsRunWithoutTheCompiler) {
  const uint64_t before = Compiles();
  EXPECT_SUCCESS(Run(LoadFunction("native", "nothing")));
  EXPECT_EQ(Compiles(), before);
}

TEST_F(NativeModuleTest, TheDeviceMayTakeWhatTheFrontEndRefuses) {
  const hetgpuFunction refused = LoadFunction("native", "refused");
  EXPECT_SUCCESS(Run(refused));
  const char* text = nullptr;
  ASSERT_SUCCESS(
      hetgpuFunctionGetText(refused, HETGPU_FUNCTION_TEXT_REFUSAL, &text));
  EXPECT_STREQ(text, "");
}

TEST_F(NativeModuleTest, WhatTheDeviceRefusesSaysSoWhenRun) {
  EXPECT_RESULT(HETGPU_ERROR_COMPILE_FAILED,
                Run(LoadFunction("native refused", "nothing")));
  EXPECT_STREQ(hetgpuGetLastErrorDetail(), "fake: line 3: not taken");
  EXPECT_RESULT(HETGPU_ERROR_UNSUPPORTED,
                Run(LoadFunction("native refused", "refused")));
}

TEST_F(NativeModuleTest, GlobalsAreWhereTheDevicePutThem) {
  LoadFunction("native", "nothing");
  hetgpuDevicePtr table = 0, pointer = 0;
  uint64_t size = 0;
  ASSERT_SUCCESS(hetgpuModuleGetGlobal(native_, "table", &table, &size));
  ASSERT_SUCCESS(hetgpuModuleGetGlobal(native_, "pointer", &pointer, nullptr));
  EXPECT_EQ(size, 16u);
  EXPECT_EQ(pointer, table + 16);
  const uint32_t values[4] = {5, 6, 7, 8};
  EXPECT_SUCCESS(hetgpuMemCopyHtoD(context_, table, values, 16));
  EXPECT_RESULT(HETGPU_ERROR_NOT_FOUND,
                hetgpuModuleGetGlobal(native_, "settings", &table, nullptr));
  ASSERT_SUCCESS(hetgpuModuleUnload(native_));
  EXPECT_NE(HETGPU_SUCCESS,
            hetgpuMemCopyHtoD(context_, pointer, values, 8));
}

}  // namespace
}  // namespace hetgpu::runtime
