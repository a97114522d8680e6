// What runs the kernels of a simulated GPU: the project's own front end and
// compiler, and a CPU device for each GPU. This copy of the CPU backend is apart
// from that of the program under test.
#ifndef HETGPU_TESTS_DRIVERS_CUDA_PROCESSOR_H_
#define HETGPU_TESTS_DRIVERS_CUDA_PROCESSOR_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "backends/cuda/types.h"
#include "hetir/module_info.h"

namespace hetgpu::cuda::fake {

// Thread-safe.
class Processor {
 public:
  // The addresses of all GPUs; the first call counts, before Of().
  static void PlaceMemory(uint64_t base, uint64_t bytes);
  // Made when first asked for, and never destroyed: kernels may run on.
  static Processor& Of(CUdevice device);

  // The kernel of that name in `ptx`. Compiled once a process for each kernel
  // and device.
  absl::StatusOr<std::unique_ptr<Kernel>> Load(const std::string& ptx,
                                               const KernelInfo& info);
  // Memory for the variables of modules.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);
  void Free(uint64_t address);
  // Where the GPU's memory at an address lies.
  void* HostPointer(uint64_t address) const;

  // Runs the launch to its end on `queue`, which is made when null. Assertions
  // that fail are told on stderr. A core dump is written of a failure, if the
  // program wants it.
  CUresult Run(std::unique_ptr<Queue>& queue, LaunchDesc desc, bool line_info);

  // Prints what kernels have printed since the last call.
  void Flush();

 private:
  explicit Processor(std::unique_ptr<Device> device);
  absl::StatusOr<std::string> Compile(const std::string& ptx,
                                      std::string_view kernel);

  const std::unique_ptr<Device> device_;
  std::mutex mutex_;  // of printed_
  std::string printed_;
};

}  // namespace hetgpu::cuda::fake

#endif  // HETGPU_TESTS_DRIVERS_CUDA_PROCESSOR_H_
