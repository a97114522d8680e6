// NVIDIA GPUs through the CUDA driver library, opened at run time.
#ifndef HETGPU_BACKENDS_CUDA_DRIVER_H_
#define HETGPU_BACKENDS_CUDA_DRIVER_H_

#include <memory>

#include "backends/common/driver.h"

namespace hetgpu::cuda {

std::unique_ptr<Driver> CreateDriver();

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_DRIVER_H_
