// Kernels on the recompiled route: images of the compile side (image.h).
#ifndef HETGPU_BACKENDS_CUDA_RECOMPILED_H_
#define HETGPU_BACKENDS_CUDA_RECOMPILED_H_

#include <memory>
#include <string_view>
#include <vector>

#include "backends/common/driver.h"
#include "backends/cuda/context.h"

namespace hetgpu::cuda {

// InvalidArgument for what is no image, and with the driver's log when it
// refuses the PTX.
absl::StatusOr<std::unique_ptr<Kernel>> LoadRecompiled(
    const Context& context, const KernelInfo& info, std::string_view image);

// All of them in one run of the driver's compiler.
absl::StatusOr<std::vector<std::unique_ptr<Kernel>>> LoadRecompiledTogether(
    const Context& context, const std::vector<KernelImage>& images);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_RECOMPILED_H_
