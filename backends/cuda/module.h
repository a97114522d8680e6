// A module on the native route: the driver compiles its PTX as a whole and holds
// its variables.
#ifndef HETGPU_BACKENDS_CUDA_MODULE_H_
#define HETGPU_BACKENDS_CUDA_MODULE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "backends/common/driver.h"
#include "backends/cuda/kernel.h"

namespace hetgpu::cuda {

class CudaModule final : public DeviceModule {
 public:
  // InvalidArgument with the driver's log when it refuses the PTX.
  static absl::StatusOr<std::unique_ptr<DeviceModule>> Load(
      const Context& context, std::string ptx, std::string name);

  // FailedPrecondition when the variable moved: its context was replaced and
  // the driver put the new module elsewhere.
  absl::StatusOr<uint64_t> SymbolAddress(const SymbolInfo& symbol) override;
  absl::StatusOr<std::unique_ptr<Kernel>> Load(
      const KernelInfo& info) override;

 private:
  explicit CudaModule(std::shared_ptr<LoadedPtx> ptx) : ptx_(std::move(ptx)) {}

  const std::shared_ptr<LoadedPtx> ptx_;
  std::mutex mutex_;
  std::map<std::string, uint64_t> addresses_;  // as given out
};

// Registers and memory that the driver's code for a function takes, as text.
std::string ResourcesOf(const Current& current, CUfunction function);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_MODULE_H_
