// A module's PTX as this driver holds it: what the front end knows of it, and
// its variables in device memory.
#ifndef HETGPU_TESTS_DRIVERS_CUDA_LOADED_MODULE_H_
#define HETGPU_TESTS_DRIVERS_CUDA_LOADED_MODULE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "backends/cuda/types.h"
#include "hetir/module_info.h"

namespace hetgpu::cuda::fake {

class LoadedModule {
 public:
  // Refuses what the front end refuses, if only in one kernel: the driver takes
  // a module as a whole or not at all.
  static absl::StatusOr<std::shared_ptr<const LoadedModule>> Load(
      CUdevice device, std::string ptx);
  ~LoadedModule();

  const ModuleInfo& info() const { return info_; }
  const std::string& ptx() const { return ptx_; }
  uint64_t data() const { return data_; }  // address of the variables
  bool Holds(uint64_t address, uint64_t bytes) const {
    return address >= data_ && address - data_ <= info_.data_size &&
           bytes <= info_.data_size - (address - data_);
  }

 private:
  LoadedModule(CUdevice device, std::string ptx, ModuleInfo info)
      : device_(device), ptx_(std::move(ptx)), info_(std::move(info)) {}
  absl::Status PlaceData();

  const CUdevice device_;
  const std::string ptx_;
  const ModuleInfo info_;
  uint64_t allocation_ = 0;
  uint64_t data_ = 0;
};

}  // namespace hetgpu::cuda::fake

#endif  // HETGPU_TESTS_DRIVERS_CUDA_LOADED_MODULE_H_
