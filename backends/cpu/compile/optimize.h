// LLVM optimisation and code generation of a kernel.
#ifndef HETGPU_BACKENDS_CPU_COMPILE_OPTIMIZE_H_
#define HETGPU_BACKENDS_CPU_COMPILE_OPTIMIZE_H_

#include <string>

#include "absl/status/statusor.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

namespace hetgpu::cpu {

// A trimmed -O2: what short kernels gain from, in an order that reads as a
// list. Vectorisers run only when `vectorize`: warps are vectors already.
void Optimize(llvm::Module& module, llvm::TargetMachine& machine,
              bool vectorize);

// Refuses what the code generator reports, such as frames beyond its limits.
absl::StatusOr<std::string> GenerateCode(llvm::Module& module,
                                         llvm::TargetMachine& machine,
                                         llvm::CodeGenFileType type);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_OPTIMIZE_H_
