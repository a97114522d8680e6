// lift-to-scf: turns the control-flow graph of each kernel into structured
// control flow (scf.if, scf.while, scf.index_switch) with upstream's
// algorithm, which also handles irreducible graphs. A trap becomes
// `hetir.trap_lanes` followed by an exit first, so that every kernel ends in
// one kind of terminator. Lifting makes values that no one reads on some path; a
// branch that yields `x` on one side and such a value on the other is `x`, which
// keeps loop counters uniform. The rest become zero: hetIR has no poison.
//
// Kernels only: device functions keep their graph.
#include "hetir/dialect/HetIR.h"
#include "hetir/passes/passes.h"
#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CFGToSCF.h"

namespace hetgpu::hetir {
namespace {

class Lifting : public mlir::ControlFlowToSCFTransformation {
 public:
  mlir::FailureOr<mlir::Operation*> createUnreachableTerminator(
      mlir::Location location, mlir::OpBuilder& builder,
      mlir::Region& region) override {
    return builder.create<ExitOp>(location).getOperation();
  }
};

bool IsUnread(mlir::Value value) {
  return value.getDefiningOp<mlir::ub::PoisonOp>() != nullptr;
}

// The one value a branch op's result can be, if it is defined outside the op.
mlir::Value OnlyValue(mlir::Operation* branch, unsigned result) {
  mlir::Value only;
  for (mlir::Region& region : branch->getRegions()) {
    if (region.empty()) return {};
    mlir::Value value =
        region.front().getTerminator()->getOperand(result);
    if (IsUnread(value)) continue;
    if (only && only != value) return {};
    only = value;
  }
  if (!only || branch->isAncestor(only.getParentBlock()->getParentOp())) {
    return {};
  }
  return only;
}

void ResolveUnreadValues(KernelOp kernel) {
  kernel.walk([](mlir::Operation* op) {
    if (!mlir::isa<mlir::scf::IfOp, mlir::scf::IndexSwitchOp>(op)) return;
    for (mlir::OpResult result : op->getResults()) {
      mlir::Value only = OnlyValue(op, result.getResultNumber());
      if (only) result.replaceAllUsesWith(only);
    }
  });
  llvm::SmallVector<mlir::ub::PoisonOp> unread;
  kernel.walk([&](mlir::ub::PoisonOp op) { unread.push_back(op); });
  for (mlir::ub::PoisonOp op : unread) {
    mlir::OpBuilder builder(op);
    op.replaceAllUsesWith(builder
                              .create<mlir::arith::ConstantOp>(
                                  op.getLoc(),
                                  builder.getZeroAttr(op.getType()))
                              .getResult());
    op.erase();
  }
}

void ReplaceTraps(KernelOp kernel) {
  llvm::SmallVector<mlir::Operation*> traps;
  kernel.walk([&](mlir::Operation* op) {
    if (mlir::isa<TrapOp, UnreachableOp>(op)) traps.push_back(op);
  });
  for (mlir::Operation* op : traps) {
    mlir::OpBuilder builder(op);
    builder.create<TrapLanesOp>(op->getLoc(), mlir::Value());
    builder.create<ExitOp>(op->getLoc());
    op->erase();
  }
}

struct LiftToScf : mlir::PassWrapper<LiftToScf, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LiftToScf)
  llvm::StringRef getArgument() const final { return "lift-to-scf"; }
  llvm::StringRef getDescription() const final {
    return "lift the control flow of kernels to structured form";
  }
  void getDependentDialects(mlir::DialectRegistry& registry) const final {
    registry.insert<mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  }

  void runOnOperation() override {
    Lifting lifting;
    mlir::WalkResult result = getOperation()->walk([&](KernelOp kernel) {
      ReplaceTraps(kernel);
      mlir::DominanceInfo dominance(kernel);
      if (mlir::failed(mlir::transformCFGToSCF(kernel.getBody(), lifting,
                                               dominance))) {
        kernel.emitOpError("control flow could not be lifted");
        return mlir::WalkResult::interrupt();
      }
      ResolveUnreadValues(kernel);
      return mlir::WalkResult::skip();
    });
    if (result.wasInterrupted()) signalPassFailure();
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> CreateLiftToScfPass() {
  return std::make_unique<LiftToScf>();
}

}  // namespace hetgpu::hetir
