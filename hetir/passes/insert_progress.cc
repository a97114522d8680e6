// insert-progress: a loop may wait for another thread when each trip can
// observe memory that others write: it holds an atomic, a load that is not
// weak, or a weak load together with a fence. Such loops get hetir.progress at
// the end of every block that branches back, so that a backend that runs
// threads by turns cannot spin for ever.
//
// Loops are found as strongly connected components of the control-flow graph,
// so irreducible ones count too. Back edges are edges to a block that does not
// come later in the block order within the component.
#include "hetir/dialect/HetIR.h"
#include "hetir/passes/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SCCIterator.h"
#include "mlir/IR/RegionGraphTraits.h"

namespace hetgpu::hetir {
namespace {

struct Observation {
  bool waits = false;
  bool loads = false;
  bool fences = false;
};

void Observe(mlir::Operation* op, Observation& seen) {
  if (mlir::isa<AtomicOp, AtomicCasOp, NanosleepOp>(op)) seen.waits = true;
  if (mlir::isa<FenceOp>(op)) seen.fences = true;
  if (auto load = mlir::dyn_cast<LoadOp>(op)) {
    bool private_space = load.getSpace() == Space::param ||
                         load.getSpace() == Space::local ||
                         load.getSpace() == Space::constant;
    if (private_space) return;
    seen.loads = true;
    if (load.getOrdering() != Ordering::weak) seen.waits = true;
  }
}

struct InsertProgress
    : mlir::PassWrapper<InsertProgress, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(InsertProgress)
  llvm::StringRef getArgument() const final { return "insert-progress"; }
  llvm::StringRef getDescription() const final {
    return "place hetir.progress in loops that may wait for other threads";
  }

  void runOnOperation() override {
    getOperation()->walk([](mlir::Operation* op) {
      if (!mlir::isa<KernelOp, mlir::func::FuncOp>(op)) return;
      if (!op->getRegion(0).empty()) VisitRegion(op->getRegion(0));
    });
  }

  static void VisitRegion(mlir::Region& region) {
    llvm::DenseMap<mlir::Block*, unsigned> order;
    for (mlir::Block& block : region) order[&block] = order.size();
    for (auto it = llvm::scc_begin(&region); !it.isAtEnd(); ++it) {
      if (it.hasCycle()) VisitLoop(*it, order);
    }
  }

  static void VisitLoop(const std::vector<mlir::Block*>& loop,
                        const llvm::DenseMap<mlir::Block*, unsigned>& order) {
    Observation seen;
    for (mlir::Block* block : loop) {
      for (mlir::Operation& op : *block) Observe(&op, seen);
    }
    if (!seen.waits && !(seen.loads && seen.fences)) return;
    for (mlir::Block* block : loop) {
      bool branches_back = llvm::any_of(
          block->getSuccessors(), [&](mlir::Block* successor) {
            return llvm::is_contained(loop, successor) &&
                   order.lookup(successor) <= order.lookup(block);
          });
      if (!branches_back) continue;
      mlir::OpBuilder builder(block->getTerminator());
      builder.create<ProgressOp>(block->getTerminator()->getLoc());
    }
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> CreateInsertProgressPass() {
  return std::make_unique<InsertProgress>();
}

}  // namespace hetgpu::hetir
