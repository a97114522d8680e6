// Which route a module takes:
//   native      the driver compiles the module's own PTX
//   recompiled  hetGPU compiles each kernel, through hetIR and LLVM, to PTX
//               that the driver then assembles
// HETGPU_CUDA_ROUTE=auto|native|recompiled decides; auto is native unless
// something needs the other: HETGPU_FP_MODE=strict, a source that is not PTX,
// or unified memory at a distance from the GPU's addresses.
// The runtime has checked both variables.
#ifndef HETGPU_BACKENDS_CUDA_ROUTE_H_
#define HETGPU_BACKENDS_CUDA_ROUTE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/cuda/window.h"
#include "hetir/module_info.h"

namespace hetgpu::cuda {

// Whether the native route is taken. Unimplemented: it was asked for, but
// cannot take this module. InvalidArgument: the variable has no such value.
absl::StatusOr<bool> TakesNativeRoute(const ModuleInfo& info);
// Unimplemented when the native route was asked for: it knows no distance.
absl::Status CheckRouteOfDistant(const Window& window);

// Why a kernel was recompiled; `image_says` is what the compile side knows.
std::string WhyRecompiled(std::string_view image_says);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_ROUTE_H_
