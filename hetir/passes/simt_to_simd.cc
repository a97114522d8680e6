// simt-to-simd: rewrites a kernel that describes one thread so that it
// describes one warp of 32.
//
// Input is structured (lift-to-scf). WarpUniformity splits values in two:
//
//   uniform   stays a scalar, computed once for the warp
//   varying   becomes vector<32xT>, one element a lane
//
// Control flow that all lanes take together stays as it is. Where lanes part,
// code runs under a mask, a vector<32xi1> of the lanes that are here:
//
//   scf.if c             then side under mask & c, else side under mask & !c,
//                        each skipped when its mask is empty; results selected
//   scf.while c          repeats while any lane continues; a lane that left
//                        keeps the results it left with
//   scf.index_switch     one masked side a case
//
// Pure ops need no mask: every hetIR op is total. Memory ops and collectives
// carry it. Ops that have no warp form (printf, atomics, …) are run lane by
// lane in a loop over the mask.
//
// Refused, with a reason (the caller then runs the kernel thread by thread):
// calls, barriers or waiting loops whose lanes may part, member masks that
// differ by lane.
#include "hetir/passes/passes.h"
#include "hetir/passes/warp_vectorizer.h"

namespace hetgpu::hetir {
namespace {

struct SimtToSimd : mlir::PassWrapper<SimtToSimd, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SimtToSimd)
  llvm::StringRef getArgument() const final { return "simt-to-simd"; }
  llvm::StringRef getDescription() const final {
    return "rewrite kernels of one thread into kernels of one warp";
  }
  void getDependentDialects(mlir::DialectRegistry& registry) const final {
    registry.insert<mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  }
  void runOnOperation() override {
    mlir::WalkResult result = getOperation()->walk([&](KernelOp kernel) {
      return mlir::failed(WarpVectorizer(kernel).Run())
                 ? mlir::WalkResult::interrupt()
                 : mlir::WalkResult::skip();
    });
    if (result.wasInterrupted()) signalPassFailure();
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> CreateSimtToSimdPass() {
  return std::make_unique<SimtToSimd>();
}

}  // namespace hetgpu::hetir
