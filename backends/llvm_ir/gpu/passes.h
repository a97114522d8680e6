// The hetIR passes of a kernel for a GPU. Barriers, divergence and progress are
// the machine's, so few are needed.
#ifndef HETGPU_BACKENDS_LLVM_IR_GPU_PASSES_H_
#define HETGPU_BACKENDS_LLVM_IR_GPU_PASSES_H_

#include "absl/status/status.h"
#include "backends/llvm_ir/gpu/shift_addresses.h"
#include "mlir/IR/BuiltinOps.h"

namespace hetgpu::llvm_ir {

// `window`: where the GPU has memory at a distance from its addresses.
absl::Status RunGpuPasses(mlir::ModuleOp module,
                          const AddressWindow& window = {});

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_GPU_PASSES_H_
