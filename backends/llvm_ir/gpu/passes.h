// The hetIR passes of a kernel for a GPU. Barriers, divergence and progress are
// the machine's, so few are needed.
#ifndef HETGPU_BACKENDS_LLVM_IR_GPU_PASSES_H_
#define HETGPU_BACKENDS_LLVM_IR_GPU_PASSES_H_

#include "absl/status/status.h"
#include "mlir/IR/BuiltinOps.h"

namespace hetgpu::llvm_ir {

absl::Status RunGpuPasses(mlir::ModuleOp module);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_GPU_PASSES_H_
