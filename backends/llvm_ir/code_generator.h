// LLVM's code generation, for all compile sides.
#ifndef HETGPU_BACKENDS_LLVM_IR_CODE_GENERATOR_H_
#define HETGPU_BACKENDS_LLVM_IR_CODE_GENERATOR_H_

#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace hetgpu::llvm_ir {

enum class LoopCode {
  kOptimize,
  // Loops are left as they are: no strength reduction of their addresses,
  // nothing is moved out of them, and blocks stay in order.
  kKeep,
};

// Assembly or an object file. Threads: any.
absl::StatusOr<std::string> GenerateCode(llvm::Module& module,
                                         llvm::TargetMachine& machine,
                                         llvm::CodeGenFileType type,
                                         LoopCode loops);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_CODE_GENERATOR_H_
