// Every access keeps the line and the lanes of its PTX instruction, however far
// optimisation moves it.
//
// Passes drop the debug location of what they hoist, and machine instructions
// into which an access is folded have the location of the arithmetic. What stays
// with an access through all of this is what is known about its aliases: it goes
// along to the memory operand of the machine instruction. So
//
//   before optimisation      !alias.scope of an access = its debug location
//                            (no access has !noalias, so nothing follows from
//                            it for aliasing)
//   after code generation    debug location of an instruction = what its memory
//                            operand says, or else the loads through its
//                            pointer
#ifndef HETGPU_BACKENDS_CPU_COMPILE_KEEP_LINES_H_
#define HETGPU_BACKENDS_CPU_COMPILE_KEEP_LINES_H_

#include "llvm/IR/PassManager.h"

namespace llvm {
class Pass;
}

namespace hetgpu::cpu {

// To be run when all inlining is done.
class MarkLinesPass : public llvm::PassInfoMixin<MarkLinesPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager& manager);
};

// InstCombinePass, but makes no single access of those of two branches, which
// would have two lines.
class CombinePass : public llvm::PassInfoMixin<CombinePass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& function,
                              llvm::FunctionAnalysisManager& manager);
};

// A machine pass, the last one.
llvm::Pass* CreateRestoreLinesPass();

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_KEEP_LINES_H_
