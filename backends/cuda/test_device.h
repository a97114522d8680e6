// A device on the test driver (tests/drivers/cuda), and its hooks.
#ifndef HETGPU_BACKENDS_CUDA_TEST_DEVICE_H_
#define HETGPU_BACKENDS_CUDA_TEST_DEVICE_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "backends/common/driver.h"
#include "backends/cuda/library.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/drivers/cuda/control.h"

namespace hetgpu::cuda {

// The kernels that Launch() knows.
std::string_view TestPtx();
const Library& TestLibrary();
void FailCall(const char* function, CUresult result, int after = 0);
// As in another process.
void ForgetFaults();
fake::Counts DriverCounts();

// One context; at the end everything is given back and nothing was misused.
class CudaTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::unique_ptr<Queue> NewQueue();
  uint64_t Alloc(uint64_t bytes);
  // Enqueues a kernel of the test driver with these parameters.
  absl::Status Launch(Queue& queue, const std::string& kernel,
                      const std::string& params = "", uint64_t timeout_ms = 0,
                      uint32_t dynamic_shared = 0);
  uint32_t Read(Queue& queue, uint64_t address);
  void Write(Queue& queue, uint64_t address, uint32_t value);

  std::unique_ptr<Device> device_;
  std::unique_ptr<DeviceModule> module_;
  std::map<std::string, KernelInfo> infos_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

template <typename T>
std::string Bytes(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

#define EXPECT_OK(expression)                      \
  do {                                             \
    const absl::Status status_ = (expression);     \
    EXPECT_TRUE(status_.ok()) << status_.message(); \
  } while (false)

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_TEST_DEVICE_H_
