// LLVM's code generation, for all compile sides.
#ifndef HETGPU_BACKENDS_LLVM_IR_CODE_GENERATOR_H_
#define HETGPU_BACKENDS_LLVM_IR_CODE_GENERATOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace hetgpu::llvm_ir {

enum class CodeShape {
  kOptimize,
  // The code is left as it is: the target's own optimisations of LLVM IR do not
  // run, nothing is moved out of loops, and blocks stay in order.
  kKeep,
};

// Assembly or an object file. Threads: any.
absl::StatusOr<std::string> GenerateCode(llvm::Module& module,
                                         llvm::TargetMachine& machine,
                                         llvm::CodeGenFileType type,
                                         CodeShape shape);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_CODE_GENERATOR_H_
