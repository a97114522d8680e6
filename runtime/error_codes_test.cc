// Every error code of the C API, provoked through the C API.
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

constexpr hetgpuDim3 kOne = {1, 1, 1};

class ErrorCodesTest : public FakeTest {
 protected:
  hetgpuResult RunToFailure(const char* kernel) {
    EXPECT_SUCCESS(Launch(kernel));
    return hetgpuContextSynchronize(context_);
  }

  hetgpuResult Freed(hetgpuResult (*use)(hetgpuContext, hetgpuDevicePtr)) {
    const hetgpuDevicePtr address = Alloc(64);
    EXPECT_SUCCESS(hetgpuMemFree(context_, address));
    return use(context_, address);
  }

  hetgpuResult WrongContext() {
    hetgpuContext other;
    EXPECT_SUCCESS(hetgpuContextCreate(device_, 0, &other));
    hetgpuStream stream;
    EXPECT_SUCCESS(hetgpuStreamCreate(other, 0, &stream));
    const hetgpuResult result = Launch("nothing", stream);
    EXPECT_SUCCESS(hetgpuContextDestroy(other));
    return result;
  }

  hetgpuResult QueryWhileSpinning() {
    hetgpuStream stream;
    EXPECT_SUCCESS(hetgpuStreamCreate(context_, 0, &stream));
    EXPECT_SUCCESS(Launch("spin", stream));
    const hetgpuResult result = hetgpuStreamQuery(stream);
    EXPECT_SUCCESS(hetgpuStreamCancel(stream));
    EXPECT_RESULT(HETGPU_ERROR_LAUNCH_CANCELLED,
                  hetgpuStreamSynchronize(stream));
    return result;
  }

  hetgpuResult Timeout() {
    EXPECT_SUCCESS(
        hetgpuContextSetLimit(context_, HETGPU_LIMIT_LAUNCH_TIMEOUT_MS, 5));
    return RunToFailure("spin");
  }

  hetgpuResult Load(const std::string& text) {
    hetgpuModule module;
    return hetgpuModuleLoadData(context_, text.data(), text.size(), "x.ptx",
                                &module);
  }

  hetgpuResult LaunchShaped(const char* kernel, hetgpuDim3 grid,
                            uint32_t shared) {
    return hetgpuLaunchKernel(Function(kernel), grid, kOne, shared, nullptr,
                              nullptr);
  }

  void AddCallErrors();
  void AddModuleErrors();
  void AddLaunchErrors();

  std::map<hetgpuResult, std::function<hetgpuResult()>> provoke_;
};

void ErrorCodesTest::AddCallErrors() {
  provoke_[HETGPU_ERROR_INVALID_VALUE] = [] {
    return hetgpuDeviceCount(nullptr);
  };
  provoke_[HETGPU_ERROR_INVALID_HANDLE] = [] {
    return hetgpuContextSynchronize(nullptr);
  };
  provoke_[HETGPU_ERROR_WRONG_CONTEXT] = [this] { return WrongContext(); };
  provoke_[HETGPU_ERROR_OUT_OF_MEMORY] = [this] {
    hetgpuDevicePtr address;
    return hetgpuMemAlloc(context_, uint64_t{1} << 40, &address);
  };
  provoke_[HETGPU_ERROR_NO_DEVICE] = [] {
    hetgpuDevice device;
    return hetgpuDeviceGetByName("absent", &device);
  };
  provoke_[HETGPU_ERROR_UNSUPPORTED] = [this] { return Launch("refused"); };
  provoke_[HETGPU_ERROR_NOT_FOUND] = [this] {
    hetgpuFunction function;
    return hetgpuModuleGetFunction(module_, "nobody", &function);
  };
  provoke_[HETGPU_ERROR_NOT_READY] = [this] { return QueryWhileSpinning(); };
  provoke_[HETGPU_ERROR_INVALID_ADDRESS] = [this] {
    return hetgpuMemFree(context_, 0x10);
  };
  provoke_[HETGPU_ERROR_DOUBLE_FREE] = [this] { return Freed(hetgpuMemFree); };
  provoke_[HETGPU_ERROR_INTERIOR_POINTER] = [this] {
    return hetgpuMemFree(context_, Alloc(64) + 4);
  };
  provoke_[HETGPU_ERROR_USE_AFTER_FREE] = [this] {
    return Freed([](hetgpuContext context, hetgpuDevicePtr address) {
      return hetgpuMemFill(context, address, 0, 1, 4);
    });
  };
  provoke_[HETGPU_ERROR_OUT_OF_RANGE] = [this] {
    return hetgpuMemFill(context_, Alloc(64), 0, 1, 65);
  };
}

void ErrorCodesTest::AddModuleErrors() {
  provoke_[HETGPU_ERROR_FILE_UNREADABLE] = [this] {
    hetgpuModule module;
    return hetgpuModuleLoadFile(context_, "/nowhere/x.ptx", &module);
  };
  provoke_[HETGPU_ERROR_INVALID_MODULE] = [this] { return Load("bad"); };
  provoke_[HETGPU_ERROR_COMPILE_FAILED] = [this] { return Launch("broken"); };
  provoke_[HETGPU_ERROR_INVALID_CONFIGURATION] = [this] {
    return LaunchShaped("nothing", {0, 1, 1}, 0);
  };
  provoke_[HETGPU_ERROR_OUT_OF_RESOURCES] = [this] {
    return LaunchShaped("shared", kOne, 4096);
  };
  provoke_[HETGPU_ERROR_INVALID_ARGUMENTS] = [this] { return Launch("store"); };
}

void ErrorCodesTest::AddLaunchErrors() {
  const std::pair<hetgpuResult, const char*> kinds[] = {
      {HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS, "fail_1"},
      {HETGPU_ERROR_LAUNCH_MISALIGNED_ADDRESS, "fail_2"},
      {HETGPU_ERROR_LAUNCH_TRAP, "fail_3"},
      {HETGPU_ERROR_LAUNCH_ASSERT, "fail_4"},
      {HETGPU_ERROR_LAUNCH_STACK_OVERFLOW, "fail_5"},
      {HETGPU_ERROR_LAUNCH_DEADLOCK, "fail_6"},
      {HETGPU_ERROR_LAUNCH_CANCELLED, "fail_8"},
      {HETGPU_ERROR_LAUNCH_INVALID_INSTRUCTION, "fail_9"},
      {HETGPU_ERROR_LAUNCH_OUT_OF_MEMORY, "fail_10"}};
  for (const auto& [code, kernel] : kinds) {
    provoke_[code] = [this, kernel = kernel] { return RunToFailure(kernel); };
  }
  provoke_[HETGPU_ERROR_LAUNCH_TIMEOUT] = [this] { return Timeout(); };
}

TEST_F(ErrorCodesTest, EachIsProvoked) {
  AddCallErrors();
  AddModuleErrors();
  AddLaunchErrors();
  for (const auto& [code, provoke] : provoke_) {
    SCOPED_TRACE(hetgpuResultName(code));
    EXPECT_RESULT(code, provoke());
    EXPECT_STRNE(hetgpuGetLastErrorDetail(), "");
  }
  // These need a process or a driver of their own: environment_test.cc,
  // compiler_loader_test.cc, error_test.cc and unified_memory_test.cc.
  for (hetgpuResult elsewhere :
       {HETGPU_SUCCESS, HETGPU_ERROR_INVALID_ENVIRONMENT,
        HETGPU_ERROR_COMPILER_UNAVAILABLE, HETGPU_ERROR_INTERNAL,
        HETGPU_ERROR_WORKING_SET_TOO_LARGE, HETGPU_ERROR_LAUNCH_FAILED}) {
    provoke_[elsewhere] = nullptr;
  }
  for (int code = 0; code < 1000; ++code) {
    const auto result = static_cast<hetgpuResult>(code);
    const bool exists =
        std::string(hetgpuResultName(result)) != "HETGPU_ERROR_UNKNOWN";
    EXPECT_EQ(exists, provoke_.count(result) == 1) << hetgpuResultName(result);
  }
}

TEST_F(ErrorCodesTest, ContextStaysUsableAfterEachLaunchFailure) {
  AddLaunchErrors();
  for (const auto& [code, provoke] : provoke_) {
    SCOPED_TRACE(hetgpuResultName(code));
    EXPECT_RESULT(code, provoke());
    EXPECT_SUCCESS(hetgpuContextSynchronize(context_));
    EXPECT_SUCCESS(Launch("nothing"));
    EXPECT_SUCCESS(hetgpuContextSynchronize(context_));
  }
}

}  // namespace
}  // namespace hetgpu::runtime
