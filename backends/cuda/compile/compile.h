// The compile side of the CUDA backend, for its recompiled route: hetIR of one
// kernel to PTX for the driver (image.h), or to the text of any stage on the
// way.
#ifndef HETGPU_BACKENDS_CUDA_COMPILE_COMPILE_H_
#define HETGPU_BACKENDS_CUDA_COMPILE_COMPILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mlir {
class ModuleOp;
}  // namespace mlir

namespace hetgpu::cuda {

struct CompileOptions {
  std::string kernel;
  // DeviceInfo::target; may name a window (window.h).
  std::string target = "sm_90";
  bool strict = false;           // HETGPU_FP_MODE=strict
};

enum class Stage {
  kHetir,    // after the hetIR passes, text
  kLlvm,     // as emitted, text
  kLlvmOpt,  // after LLVM's optimisation, text
  kImage,    // image.h
};

// Compiles the kernel up to `stage`. `module` is consumed: passes change it.
// With HETGPU_COMPILE_TIMES=1 the time of each step goes to stderr.
//
// Codes: kNotFound (no such kernel), kInvalidArgument (no such target),
// kUnimplemented (target too old; an op without emission).
absl::StatusOr<std::string> CompileTo(Stage stage, mlir::ModuleOp module,
                                      const CompileOptions& options);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_COMPILE_COMPILE_H_
