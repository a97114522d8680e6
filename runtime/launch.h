// Checking and enqueueing launches.
#ifndef HETGPU_RUNTIME_LAUNCH_H_
#define HETGPU_RUNTIME_LAUNCH_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "hetir/module_info.h"

namespace hetgpu::runtime {

class Function;
class Stream;

struct LaunchShape {
  Dim3 grid, block;
  uint32_t shared_bytes = 0;  // dynamic
  bool cooperative = false;   // all blocks at the same time
};

// INVALID_CONFIGURATION or OUT_OF_RESOURCES, naming the kernel, what was found
// and what the device or the kernel expects.
absl::Status CheckShape(const KernelInfo& kernel, const DeviceInfo& device,
                        const LaunchShape& shape);

// The parameter block from one pointer per parameter.
absl::StatusOr<std::string> PackArguments(const KernelInfo& kernel,
                                          void* const* args);

// The parameter block from a whole one of `bytes` bytes.
absl::StatusOr<std::string> CopyBlock(const KernelInfo& kernel,
                                      const void* params, size_t bytes);

// OUT_OF_RESOURCES when the blocks cannot all run at the same time, UNSUPPORTED
// where none can. The kernel is prepared.
absl::Status CheckCooperative(hetgpu::Device& device, const LaunchDesc& desc);

// How many blocks of this shape can run at the same time; prepares the function.
absl::StatusOr<uint64_t> MaxCooperativeBlocks(Function& function,
                                              const LaunchShape& shape);

// Checks, compiles if needed and enqueues.
absl::Status Launch(std::shared_ptr<Function> function,
                    const LaunchShape& shape, Stream& stream,
                    std::string params);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_LAUNCH_H_
