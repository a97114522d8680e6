// Code generation for GPUs.
#ifndef HETGPU_BACKENDS_LLVM_IR_GPU_CODE_GENERATOR_H_
#define HETGPU_BACKENDS_LLVM_IR_GPU_CODE_GENERATOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace hetgpu::llvm_ir {

// Assembly or an object file. The code is left as it is: the target's own
// optimisations of LLVM IR do not run, nothing is moved out of loops, and
// blocks stay in order. Refuses what the code generator reports.
absl::StatusOr<std::string> GenerateGpuCode(llvm::Module& module,
                                            llvm::TargetMachine& machine,
                                            llvm::CodeGenFileType type);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_GPU_CODE_GENERATOR_H_
