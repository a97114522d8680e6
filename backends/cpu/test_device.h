// For tests: a device, a queue, and kernels that are functions of the test.
#ifndef HETGPU_BACKENDS_CPU_TEST_DEVICE_H_
#define HETGPU_BACKENDS_CPU_TEST_DEVICE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/abi.h"
#include "backends/cpu/device.h"
#include "backends/cpu/kernel.h"

// Marks code that counts as emitted: it lies in a section of its own, without
// what sanitizers would add to it.
#define HETGPU_EMITTED                                \
  __attribute__((section("hetgpu_emitted"), noinline, \
                 no_sanitize("address", "undefined", "thread")))

// Bounds of the section; null in a test without such functions.
extern "C" {
extern const char __start_hetgpu_emitted[] __attribute__((weak));
extern const char __stop_hetgpu_emitted[] __attribute__((weak));
}

namespace hetgpu::cpu {

struct LaunchShape {
  Dim3 grid{1, 1, 1};
  Dim3 block{32, 1, 1};
  uint32_t shared = 0;
  uint64_t timeout_ms = 0;
};

class TestDevice {
 public:
  explicit TestDevice(uint32_t threads = 0);  // 0 = the machine's

  // A kernel of thread units, on fibers or straight.
  KernelCode Code(Entry entry, bool fibers, uint32_t lanes_per_unit = 1);

  // Enqueues; the kernel stays alive with the device.
  template <typename Params>
  void Start(const KernelCode& code, const LaunchShape& shape,
             const Params& params) {
    std::string bytes(sizeof(Params), '\0');
    std::memcpy(bytes.data(), &params, sizeof(Params));
    StartWithBytes(code, shape, std::move(bytes));
  }

  // The address of a copy of the text in device memory.
  uint64_t Text(std::string_view text);

  // Runs to the end; kNone when all went well.
  template <typename Params>
  LaunchError Run(const KernelCode& code, const LaunchShape& shape,
                  const Params& params) {
    Start(code, shape, params);
    return Finish();
  }
  LaunchError Finish();

  CpuDevice& device() { return *device_; }
  Queue& queue() { return *queue_; }
  std::unique_ptr<Queue> NewQueue();
  const std::string& printed() const { return printed_; }
  void ClearPrinted() { printed_.clear(); }

 private:
  void StartWithBytes(const KernelCode& code, const LaunchShape& shape,
                      std::string params);

  struct Loaded {
    std::unique_ptr<CpuKernel> kernel;
    KernelInfo info;
  };

  std::string printed_;
  std::unique_ptr<CpuDevice> device_;
  std::unique_ptr<Queue> queue_;
  std::vector<std::unique_ptr<Loaded>> kernels_;
};

template <typename Params>
inline const Params& ParamsOf(const BlockContext* block) {
  return *reinterpret_cast<const Params*>(block->params);
}

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_TEST_DEVICE_H_
