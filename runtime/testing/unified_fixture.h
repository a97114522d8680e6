// Unified contexts through the C API, one on each of the simulated devices, which
// are the only ones.
#ifndef HETGPU_RUNTIME_TESTING_UNIFIED_FIXTURE_H_
#define HETGPU_RUNTIME_TESTING_UNIFIED_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "hetgpu/hetgpu.h"
#include "runtime/module_readers.h"
#include "runtime/platform.h"
#include "runtime/testing/expect.h"
#include "runtime/testing/sim_driver.h"

namespace hetgpu::runtime {

inline constexpr uint64_t kMiB = 1 << 20;
inline constexpr hetgpuDim3 kOne = {1, 1, 1};

inline std::vector<std::unique_ptr<Driver>> SimDrivers() {
  std::vector<std::unique_ptr<Driver>> drivers;
  drivers.push_back(CreateSimDriver());
  return drivers;
}

inline const bool installed = [] {
  setenv("HETGPU_JIT_CACHE_SIZE", "0", 1);
  Platform::OverrideDrivers(SimDrivers);
  OverrideModuleReader([](std::string_view, std::string_view) {
    return absl::StatusOr<ModuleInfo>(SimModule());
  });
  return true;
}();

inline uint64_t Counter(hetgpuCounter counter) {
  uint64_t value = 0;
  EXPECT_SUCCESS(hetgpuGetCounter(counter, &value));
  return value;
}

class UnifiedTest : public testing::Test {
 protected:
  struct Member {
    hetgpuContext context = nullptr;
    hetgpuModule module = nullptr;
    hetgpuStream stream = nullptr;
  };

  void SetUp() override {
    ASSERT_TRUE(installed);
    for (uint32_t i = 0; i < kSimDevices; ++i) {
      members_.push_back(Make(i, HETGPU_CONTEXT_UNIFIED));
    }
  }

  void TearDown() override {
    Sim().fail_one_in = 0;
    Sim().gate_open = true;
    Sim().taken = 0;
    for (const Member& member : members_) {
      if (member.context) EXPECT_SUCCESS(hetgpuContextDestroy(member.context));
    }
    for (uint32_t i = 0; i < kSimDevices; ++i) EXPECT_EQ(SimMappedBytes(i), 0u);
  }

  static Member Make(uint32_t device, uint32_t flags) {
    Member member;
    hetgpuDevice found;
    EXPECT_SUCCESS(hetgpuDeviceGet(device, &found));
    EXPECT_SUCCESS(hetgpuContextCreate(found, flags, &member.context));
    EXPECT_SUCCESS(hetgpuModuleLoadData(member.context, "x", 1, "sim.ptx",
                                        &member.module));
    EXPECT_SUCCESS(
        hetgpuContextGetDefaultStream(member.context, &member.stream));
    return member;
  }

  hetgpuContext Context(int device) { return members_[device].context; }
  hetgpuStream Stream(int device) { return members_[device].stream; }

  hetgpuDevicePtr Alloc(uint64_t bytes, int device = 0) {
    hetgpuDevicePtr address = 0;
    EXPECT_SUCCESS(hetgpuMemAlloc(Context(device), bytes, &address));
    return address;
  }

  template <typename... Args>
  hetgpuResult Launch(int device, const char* name, Args... args) {
    uint64_t values[] = {static_cast<uint64_t>(args)...};
    void* pointers[sizeof...(args)];
    for (size_t i = 0; i < sizeof...(args); ++i) pointers[i] = &values[i];
    hetgpuFunction function = nullptr;
    EXPECT_SUCCESS(
        hetgpuModuleGetFunction(members_[device].module, name, &function));
    return hetgpuLaunchKernel(function, kOne, kOne, 0, nullptr, pointers);
  }

  std::vector<uint64_t> Download(int device, hetgpuDevicePtr address,
                                 uint64_t count) {
    std::vector<uint64_t> host(count);
    EXPECT_SUCCESS(
        hetgpuMemCopyDtoH(Context(device), host.data(), address, count * 8));
    return host;
  }
  uint64_t Word(int device, hetgpuDevicePtr address) {
    return Download(device, address, 1)[0];
  }

  hetgpuMemAttributes Attributes(int device, hetgpuDevicePtr address) {
    hetgpuMemAttributes attributes = {};
    attributes.struct_size = sizeof(attributes);
    EXPECT_SUCCESS(
        hetgpuMemGetAttributes(Context(device), address, &attributes));
    return attributes;
  }

  std::vector<Member> members_;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_TESTING_UNIFIED_FIXTURE_H_
