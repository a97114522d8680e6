// The conformance suite: the C API on every device present, or on the one that
// HETGPU_TEST_DEVICE names. A backend that cannot do something lists the test
// in exclusions/<backend>.txt with a reason; exclusions_test.cc fails when an
// excluded test passes.
#ifndef HETGPU_TESTS_CONFORMANCE_CONFORMANCE_H_
#define HETGPU_TESTS_CONFORMANCE_CONFORMANCE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hetgpu/hetgpu.h"
#include "runtime/testing/expect.h"

namespace hetgpu::conformance {

// Names such as "cpu:0".
std::vector<std::string> TestDevices();

struct Exclusion {
  std::string test;                // "Suite.Test"
  std::vector<std::string> modes;  // see README.md; empty = all
  std::string reason;
};

// What exclusions/<backend>.txt lists for the mode this process runs in.
std::vector<Exclusion> ExclusionsOf(const std::string& backend);

// A context on the device under test. Launches end after 100 seconds.
class DeviceTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  void TearDown() override;

  // A kernel of kernels/<file>.ptx.
  hetgpuFunction Function(const std::string& file, const char* name);
  hetgpuModule Module(const std::string& file);

  hetgpuStream NewStream();
  hetgpuEvent NewEvent();
  hetgpuDevicePtr Alloc(uint64_t bytes);
  // `count` zeroed elements of 4 bytes.
  hetgpuDevicePtr Zeroes(uint64_t count);

  template <typename T>
  hetgpuDevicePtr Upload(const std::vector<T>& host);
  template <typename T>
  std::vector<T> Download(hetgpuDevicePtr address, size_t count);

  struct Shape {
    hetgpuDim3 grid = {1, 1, 1};
    hetgpuDim3 block = {1, 1, 1};
    uint32_t shared = 0;
  };
  // Enqueues on `stream` or the default stream.
  template <typename... Args>
  hetgpuResult Launch(hetgpuFunction function, const Shape& shape,
                      hetgpuStream stream, Args... args);
  // On the default stream, and waits.
  template <typename... Args>
  hetgpuResult Run(hetgpuFunction function, const Shape& shape, Args... args);

  // The failure last reported to this thread.
  hetgpuLaunchErrorInfo LastLaunchError();
  uint64_t Property(hetgpuDeviceProperty property);
  // That the device computes after whatever happened before.
  void ExpectUsable();

  hetgpuDevice device_ = nullptr;
  hetgpuContext context_ = nullptr;

 private:
  std::map<std::string, hetgpuModule> modules_;
};

#define HETGPU_CONFORMANCE(Suite)                                         \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Suite);                   \
  INSTANTIATE_TEST_SUITE_P(All, Suite, testing::ValuesIn(TestDevices()),  \
                           [](const auto& info) {                         \
                             std::string name = info.param;               \
                             for (char& c : name) c = c == ':' ? '_' : c; \
                             return name;                                 \
                           })

template <typename T>
hetgpuDevicePtr DeviceTest::Upload(const std::vector<T>& host) {
  const uint64_t bytes = host.size() * sizeof(T);
  const hetgpuDevicePtr address = Alloc(bytes);
  EXPECT_SUCCESS(hetgpuMemCopyHtoD(context_, address, host.data(), bytes));
  return address;
}

template <typename T>
std::vector<T> DeviceTest::Download(hetgpuDevicePtr address, size_t count) {
  std::vector<T> host(count);
  EXPECT_SUCCESS(
      hetgpuMemCopyDtoH(context_, host.data(), address, count * sizeof(T)));
  return host;
}

template <typename... Args>
hetgpuResult DeviceTest::Launch(hetgpuFunction function, const Shape& shape,
                                hetgpuStream stream, Args... args) {
  void* pointers[] = {&args..., nullptr};
  return hetgpuLaunchKernel(function, shape.grid, shape.block, shape.shared,
                            stream, pointers);
}

template <typename... Args>
hetgpuResult DeviceTest::Run(hetgpuFunction function, const Shape& shape,
                             Args... args) {
  const hetgpuResult launched = Launch(function, shape, nullptr, args...);
  if (launched != HETGPU_SUCCESS) return launched;
  return hetgpuContextSynchronize(context_);
}

}  // namespace hetgpu::conformance

#endif  // HETGPU_TESTS_CONFORMANCE_CONFORMANCE_H_
