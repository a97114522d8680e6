// LLVM's NVPTX code generator for a target such as "sm_90".
#ifndef HETGPU_BACKENDS_CUDA_COMPILE_MACHINE_H_
#define HETGPU_BACKENDS_CUDA_COMPILE_MACHINE_H_

#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "llvm/Target/TargetMachine.h"

namespace hetgpu::cuda {

// The target that code is generated for: the newest that this LLVM knows and
// that the device runs. InvalidArgument for what is no target, Unimplemented
// below sm_70, whose threads make no progress of their own.
absl::StatusOr<unsigned> ComputeCapability(std::string_view target);

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> CreateMachine(
    unsigned sm);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_COMPILE_MACHINE_H_
