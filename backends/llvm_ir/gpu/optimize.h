// LLVM optimisation of code for GPUs. Sources are PTX, so compiled code that
// was optimised once: what is done here undoes what hetIR and its emission
// brought in, and leaves the order of instructions, the shape of loops and
// unrolling as they are. The machine's own assembler optimises again.
#ifndef HETGPU_BACKENDS_LLVM_IR_GPU_OPTIMIZE_H_
#define HETGPU_BACKENDS_LLVM_IR_GPU_OPTIMIZE_H_

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace hetgpu::llvm_ir {

void OptimizeForGpu(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_GPU_OPTIMIZE_H_
