// Many threads on one context, and objects destroyed under each other's feet.
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "runtime/testing/fakes.h"

namespace hetgpu::runtime {
namespace {

class ApiThreadsTest : public FakeTest {
 protected:
  static void Run(int count, const std::function<void(int)>& body) {
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) threads.emplace_back(body, t);
    for (auto& thread : threads) thread.join();
  }
};

TEST_F(ApiThreadsTest, AllocateCopyLaunchFree) {
  const hetgpuFunction store = Function("store");
  Run(8, [&](int t) {
    hetgpuStream stream;
    ASSERT_SUCCESS(hetgpuStreamCreate(context_, 0, &stream));
    for (uint32_t i = 0; i < 50; ++i) {
      hetgpuDevicePtr address;
      ASSERT_SUCCESS(hetgpuMemAlloc(context_, 64, &address));
      uint32_t value = t * 1000 + i, back = 0;
      void* args[] = {&address, &value};
      ASSERT_SUCCESS(
          hetgpuLaunchKernel(store, {1, 1, 1}, {1, 1, 1}, 0, stream, args));
      ASSERT_SUCCESS(hetgpuMemCopyDtoHAsync(&back, address, 4, stream));
      ASSERT_SUCCESS(hetgpuStreamSynchronize(stream));
      ASSERT_EQ(back, value);
      ASSERT_SUCCESS(hetgpuMemFree(context_, address));
    }
    ASSERT_SUCCESS(hetgpuStreamDestroy(stream));
  });
}

TEST_F(ApiThreadsTest, OneStreamSharedByAll) {
  Run(8, [&](int) {
    for (int i = 0; i < 100; ++i) {
      ASSERT_SUCCESS(Launch("nothing"));
      if (i % 10 == 0) ASSERT_SUCCESS(hetgpuContextSynchronize(context_));
    }
  });
  EXPECT_SUCCESS(hetgpuContextSynchronize(context_));
}

TEST_F(ApiThreadsTest, FailuresReachTheThreadOfTheirStream) {
  Run(6, [&](int t) {
    hetgpuStream stream;
    ASSERT_SUCCESS(hetgpuStreamCreate(context_, 0, &stream));
    const bool bad = t % 2 == 0;
    for (int i = 0; i < 30; ++i) {
      ASSERT_SUCCESS(Launch(bad ? "fail_3" : "nothing", stream));
      EXPECT_RESULT(bad ? HETGPU_ERROR_LAUNCH_TRAP : HETGPU_SUCCESS,
                    hetgpuStreamSynchronize(stream));
    }
  });
}

TEST_F(ApiThreadsTest, ModulesComeAndGo) {
  Run(6, [&](int) {
    for (int i = 0; i < 20; ++i) {
      hetgpuModule module;
      hetgpuFunction function;
      ASSERT_SUCCESS(hetgpuModuleLoadData(context_, "ok", 2, nullptr, &module));
      ASSERT_SUCCESS(hetgpuModuleGetFunction(module, "nothing", &function));
      ASSERT_SUCCESS(hetgpuLaunchKernel(function, {1, 1, 1}, {1, 1, 1}, 0,
                                        nullptr, nullptr));
      ASSERT_SUCCESS(hetgpuModuleUnload(module));
    }
  });
}

TEST_F(ApiThreadsTest, EventsRecordedAndDestroyedUnderWaiters) {
  hetgpuEvent event;
  ASSERT_SUCCESS(hetgpuEventCreate(context_, 0, &event));
  Run(4, [&](int t) {
    hetgpuStream stream;
    ASSERT_SUCCESS(hetgpuStreamCreate(context_, 0, &stream));
    for (int i = 0; i < 100; ++i) {
      if (t % 2 == 0) ASSERT_SUCCESS(hetgpuEventRecord(event, stream));
      ASSERT_SUCCESS(hetgpuStreamWaitEvent(stream, event));
      if (i % 20 == 0) ASSERT_SUCCESS(hetgpuMemFree(context_, Alloc(4)));
    }
    ASSERT_SUCCESS(hetgpuStreamSynchronize(stream));
  });
  ASSERT_SUCCESS(hetgpuEventDestroy(event));
}

TEST_F(ApiThreadsTest, ContextDestroyedDuringCalls) {
  for (int round = 0; round < 20; ++round) {
    hetgpuContext context;
    ASSERT_SUCCESS(hetgpuContextCreate(device_, 0, &context));
    std::atomic<bool> gone = false;
    Run(4, [&](int t) {
      if (t == 0) {
        ASSERT_SUCCESS(hetgpuContextDestroy(context));
        gone = true;
        return;
      }
      // Either all is well or the handle is stale; nothing else, no crash.
      while (!gone) {
        hetgpuStream stream;
        const hetgpuResult made = hetgpuStreamCreate(context, 0, &stream);
        ASSERT_TRUE(made == HETGPU_SUCCESS ||
                    made == HETGPU_ERROR_INVALID_HANDLE);
        if (made != HETGPU_SUCCESS) continue;
        const hetgpuResult waited = hetgpuStreamSynchronize(stream);
        ASSERT_TRUE(waited == HETGPU_SUCCESS ||
                    waited == HETGPU_ERROR_INVALID_HANDLE);
      }
    });
  }
}

}  // namespace
}  // namespace hetgpu::runtime
