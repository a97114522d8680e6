// insert-progress: a loop may wait for another thread when leaving it depends
// on memory that others write: on the result of an atomic or of a load that is
// not weak, or of a weak load when the loop also holds a fence. Such loops get
// hetir.progress at the end of every block that branches back, so that a
// backend that runs threads by turns cannot spin for ever. A sleeping loop is
// taken at its word, and so is one without a way out: it waits to be stopped,
// and must not be removed for having no effect.
//
// Every loop is judged by itself, inner ones too: a loop that only counts may
// hold one that waits. Back edges are edges to a block that does not
// come later in the block order within the component. Dependence is followed
// through values and through branches: where a branch depends on such memory,
// so do the block arguments that differ by the way taken.
#include "hetir/analysis/loops.h"
#include "hetir/dialect/HetIR.h"
#include "hetir/passes/passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace hetgpu::hetir {
namespace {

bool IsFence(mlir::Operation& op) { return mlir::isa<FenceOp>(op); }

// Whether the op's results are what other threads wrote.
bool Observes(mlir::Operation& op, bool fenced) {
  if (mlir::isa<AtomicOp, AtomicCasOp>(op)) return true;
  auto load = mlir::dyn_cast<LoadOp>(op);
  if (!load) return false;
  bool private_space = load.getSpace() == Space::param ||
                       load.getSpace() == Space::local ||
                       load.getSpace() == Space::constant;
  return !private_space && (fenced || load.getOrdering() != Ordering::weak);
}

// One loop: which of its values depend on memory that others write.
class Loop {
 public:
  explicit Loop(const std::vector<mlir::Block*>& blocks)
      : blocks_(blocks), inside_(blocks.begin(), blocks.end()) {
    for (mlir::Block* block : blocks_) {
      fenced_ |= llvm::any_of(*block, IsFence);
    }
    while (Propagate()) {
    }
  }

  bool MayWait() const {
    if (llvm::none_of(blocks_, [&](mlir::Block* b) { return Leaves(b); })) {
      return true;
    }
    return llvm::any_of(blocks_, [&](mlir::Block* block) {
      bool sleeps = llvm::any_of(*block, [](mlir::Operation& op) {
        return mlir::isa<NanosleepOp>(op);
      });
      return sleeps || (Leaves(block) && Depends(block->getTerminator()));
    });
  }

 private:
  // A return, an exit or a trap leaves too.
  bool Leaves(mlir::Block* block) const {
    return block->getNumSuccessors() == 0 ||
           llvm::any_of(block->getSuccessors(), [&](mlir::Block* to) {
             return !inside_.contains(to);
           });
  }

  bool Depends(mlir::Operation* op) const {
    return llvm::any_of(op->getOperands(), [&](mlir::Value value) {
      return tainted_.contains(value);
    });
  }

  // One round over the loop; true when something was added.
  bool Propagate() {
    size_t before = tainted_.size() + branches_depend_;
    for (mlir::Block* block : blocks_) {
      for (mlir::BlockArgument argument : block->getArguments()) {
        if (ArgumentDepends(block, argument)) tainted_.insert(argument);
      }
      for (mlir::Operation& op : *block) {
        if (!Observes(op, fenced_) && !Depends(&op)) continue;
        tainted_.insert(op.result_begin(), op.result_end());
        if (op.getNumSuccessors() > 1) branches_depend_ = true;
      }
    }
    return tainted_.size() + branches_depend_ != before;
  }

  bool ArgumentDepends(mlir::Block* block, mlir::BlockArgument argument) const {
    mlir::Value first;
    bool differs = false;
    for (auto it = block->pred_begin(); it != block->pred_end(); ++it) {
      if (!inside_.contains(*it)) continue;
      auto branch = mlir::cast<mlir::BranchOpInterface>((*it)->getTerminator());
      mlir::Value value = branch.getSuccessorOperands(
          it.getSuccessorIndex())[argument.getArgNumber()];
      if (tainted_.contains(value)) return true;
      if (!first) first = value;
      differs |= value != first;
    }
    return differs && branches_depend_;
  }

  const std::vector<mlir::Block*>& blocks_;
  llvm::DenseSet<mlir::Block*> inside_;
  llvm::DenseSet<mlir::Value> tainted_;
  bool fenced_ = false;
  bool branches_depend_ = false;
};

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
    for (const auto& loop : FindLoops(region)) VisitLoop(loop, order);
  }

  static void VisitLoop(const std::vector<mlir::Block*>& loop,
                        const llvm::DenseMap<mlir::Block*, unsigned>& order) {
    if (!Loop(loop).MayWait()) return;
    for (mlir::Block* block : loop) {
      bool branches_back =
          llvm::any_of(block->getSuccessors(), [&](mlir::Block* successor) {
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
