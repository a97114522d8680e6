// Every target-neutral pass of hetIR, and the dialects they work on. One pass =
// one file pair named like its flag; a new pass adds one line here and one in
// passes.cc.
#ifndef HETGPU_HETIR_PASSES_PASSES_H_
#define HETGPU_HETIR_PASSES_PASSES_H_

#include <memory>

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/Pass.h"

namespace hetgpu::hetir {

// Splits integer address chains into base + index + offset.
std::unique_ptr<mlir::Pass> CreateRecoverPointersPass();
// Places hetir.progress in loops that may wait for other threads.
std::unique_ptr<mlir::Pass> CreateInsertProgressPass();

// Lifts the control flow of kernels to scf.
std::unique_ptr<mlir::Pass> CreateLiftToScfPass();
// Rewrites structured kernels of one thread into kernels of one warp. Fails
// with a reason where that is not possible.
std::unique_ptr<mlir::Pass> CreateSimtToSimdPass();

void RegisterDialects(mlir::DialectRegistry& registry);
// Makes each pass available by its flag to hetgpu-opt.
void RegisterPasses();

}  // namespace hetgpu::hetir

#endif  // HETGPU_HETIR_PASSES_PASSES_H_
