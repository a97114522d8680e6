// Many host threads on one context.
#include <functional>
#include <thread>

#include "tests/conformance/conformance.h"

namespace hetgpu::conformance {
namespace {

class ThreadsSuite : public DeviceTest {
 protected:
  static void Parallel(int count, const std::function<void(int)>& body) {
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) threads.emplace_back(body, t);
    for (auto& thread : threads) thread.join();
  }
};

TEST_P(ThreadsSuite, AllocateLaunchCopyFree) {
  const hetgpuFunction count = Function("basic", "count");
  Parallel(8, [&](int t) {
    const hetgpuStream stream = NewStream();
    for (uint32_t i = 1; i <= 25; ++i) {
      const hetgpuDevicePtr a = Alloc(4);
      uint32_t value = 0;
      ASSERT_SUCCESS(hetgpuMemFillAsync(a, t, 4, 1, stream));
      ASSERT_SUCCESS(Launch(count, {{i, 1, 1}, {32, 1, 1}}, stream, a));
      ASSERT_SUCCESS(hetgpuMemCopyDtoHAsync(&value, a, 4, stream));
      ASSERT_SUCCESS(hetgpuStreamSynchronize(stream));
      ASSERT_EQ(value, t + i * 32);
      ASSERT_SUCCESS(hetgpuMemFree(context_, a));
    }
    ASSERT_SUCCESS(hetgpuStreamDestroy(stream));
  });
}

TEST_P(ThreadsSuite, FirstLaunchFromManyThreadsCompilesOnce) {
  const std::string text =
      ".version 9.0\n.target sm_80\n.address_size 64\n// " + GetParam() +
      std::to_string(reinterpret_cast<uintptr_t>(context_)) +
      std::to_string(time(nullptr)) + "\n.visible .entry k() { ret; }\n";
  hetgpuModule module = nullptr;
  hetgpuFunction function = nullptr;
  ASSERT_SUCCESS(hetgpuModuleLoadData(context_, text.data(), text.size(),
                                      "once.ptx", &module));
  ASSERT_SUCCESS(hetgpuModuleGetFunction(module, "k", &function));
  uint64_t before = 0, after = 0;
  ASSERT_SUCCESS(hetgpuGetCounter(HETGPU_COUNTER_COMPILES, &before));
  Parallel(8, [&](int) { ASSERT_SUCCESS(Launch(function, {}, nullptr)); });
  ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
  ASSERT_SUCCESS(hetgpuGetCounter(HETGPU_COUNTER_COMPILES, &after));
  EXPECT_EQ(after, before + 1);
}

TEST_P(ThreadsSuite, OneStreamSharedByAll) {
  const hetgpuFunction count = Function("basic", "count");
  const hetgpuDevicePtr a = Zeroes(1);
  Parallel(8, [&](int) {
    for (int i = 0; i < 50; ++i) {
      ASSERT_SUCCESS(Launch(count, {{1, 1, 1}, {32, 1, 1}}, nullptr, a));
    }
  });
  ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
  EXPECT_EQ(Download<uint32_t>(a, 1)[0], 8u * 50 * 32);
}

TEST_P(ThreadsSuite, FailuresStayWithTheirStream) {
  const hetgpuFunction trap = Function("faults", "trap_if");
  Parallel(6, [&](int t) {
    const hetgpuStream stream = NewStream();
    for (int i = 0; i < 10; ++i) {
      const bool bad = t % 2 == 0;
      ASSERT_SUCCESS(
          Launch(trap, {{1, 1, 1}, {32, 1, 1}}, stream, bad ? 5u : 99u));
      EXPECT_RESULT(bad ? HETGPU_ERROR_LAUNCH_TRAP : HETGPU_SUCCESS,
                    hetgpuStreamSynchronize(stream));
    }
  });
  ExpectUsable();
}

HETGPU_CONFORMANCE(ThreadsSuite);

}  // namespace
}  // namespace hetgpu::conformance
