#include "hetir/passes/passes.h"

#include "hetir/dialect/HetIR.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace hetgpu::hetir {

void RegisterDialects(mlir::DialectRegistry& registry) {
  registry.insert<HetIRDialect, mlir::arith::ArithDialect,
                  mlir::cf::ControlFlowDialect, mlir::func::FuncDialect,
                  mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
}

void RegisterPasses() {
  mlir::registerTransformsPasses();
  mlir::registerPass(CreateRecoverPointersPass);
  mlir::registerPass(CreateInsertProgressPass);
  mlir::registerPass(CreateLiftToScfPass);
  mlir::registerPass(CreateSimtToSimdPass);
}

}  // namespace hetgpu::hetir
