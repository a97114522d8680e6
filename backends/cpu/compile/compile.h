// The compile side of the CPU backend: hetIR of one kernel to an image of
// abi.h, or to the text of any stage on the way.
#ifndef HETGPU_BACKENDS_CPU_COMPILE_COMPILE_H_
#define HETGPU_BACKENDS_CPU_COMPILE_COMPILE_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace mlir {
class ModuleOp;
}  // namespace mlir

namespace hetgpu::cpu {

struct CompileOptions {
  std::string kernel;
  std::string target;          // DeviceInfo::target; empty: this host
  std::string mode = "auto";   // auto, simd, scalar, fiber
  bool strict = false;         // HETGPU_FP_MODE=strict
};

enum class Stage {
  kHetirSimd,  // structured warp form, text; refused if the kernel has none
  kHetir,      // after the hetIR passes, text
  kLlvm,       // as emitted, text
  kLlvmOpt,    // after LLVM's optimisation, text
  kAssembly,   // text
  kObject,     // ELF
  kImage,      // abi.h
};

// Compiles the kernel up to `stage`. `module` is consumed: passes change it.
// With HETGPU_COMPILE_TIMES=1 the time of each step goes to stderr.
//
// Codes: kNotFound (no such kernel), kInvalidArgument (unknown mode, target of
// another host), kUnimplemented (a mode that this kernel cannot be run in, with
// op and line; an op without emission; a function the image may not import).
absl::StatusOr<std::string> CompileTo(Stage stage, mlir::ModuleOp module,
                                      const CompileOptions& options);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_COMPILE_H_
