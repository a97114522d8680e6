// For tests: compiles hetIR text with the CPU target and runs it on the CPU
// device.
#ifndef HETGPU_BACKENDS_CPU_COMPILE_TEST_KERNEL_H_
#define HETGPU_BACKENDS_CPU_COMPILE_TEST_KERNEL_H_

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "backends/cpu/compile/compile.h"

namespace hetgpu::cpu {

// Memory of the device that the host may also touch.
class TestBuffer {
 public:
  TestBuffer(Device& device, size_t bytes);
  ~TestBuffer();
  TestBuffer(const TestBuffer&) = delete;
  TestBuffer& operator=(const TestBuffer&) = delete;

  uint64_t address() const { return address_; }
  template <typename T>
  T* as() {
    return static_cast<T*>(device_.HostPointer(address_));
  }

 private:
  Device& device_;
  uint64_t address_ = 0;
};

struct TestLaunch {
  Dim3 grid{1, 1, 1};
  Dim3 block{32, 1, 1};
  uint32_t shared = 0;
  std::vector<uint64_t> params;  // 8 bytes each
  uint64_t data = 0;             // the module's data segment
};

class TestCompiler {
 public:
  // Device memory at `host_base` of the process; 0: where it always is. With
  // `memcheck` the device is one that checks accesses exactly.
  explicit TestCompiler(uint64_t host_base = 0, bool memcheck = false);

  Device& device() { return *device_; }
  const std::string& printed() const { return printed_; }

  // `text` is a module; its kernel is named "k". For the device, unless the
  // options name another target.
  absl::StatusOr<std::string> Compile(const std::string& text,
                                      CompileOptions options,
                                      Stage stage = Stage::kImage);
  // Status of compiling and loading; the launch's error in *error.
  absl::Status Run(const std::string& image, const TestLaunch& launch,
                   LaunchError* error);

 private:
  std::string printed_;
  std::unique_ptr<Device> device_;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_TEST_KERNEL_H_
