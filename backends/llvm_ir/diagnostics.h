// What LLVM's code generators complain about.
#ifndef HETGPU_BACKENDS_LLVM_IR_DIAGNOSTICS_H_
#define HETGPU_BACKENDS_LLVM_IR_DIAGNOSTICS_H_

#include <string>

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/LLVMContext.h"

namespace hetgpu::llvm_ir {

// The first that is as severe as `least` or more; "" = none.
struct Complaints {
  llvm::DiagnosticSeverity least;
  std::string text;
};

// Keeps the first complaint there, and drops all others. Left alone a context
// writes them to stderr, and ends the process on an error. `complaints` must
// outlive what may complain.
void Listen(llvm::LLVMContext& context, Complaints& complaints);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_DIAGNOSTICS_H_
