// What simt-to-simd refuses.
#include "hetir/passes/warp_vectorizer.h"
#include "llvm/ADT/TypeSwitch.h"

namespace hetgpu::hetir {

using mlir::LogicalResult;
using mlir::Operation;
using mlir::Value;

namespace {

bool IsBarrier(Operation* op) {
  return mlir::isa<BarrierOp, BarrierReduceOp>(op);
}

bool HoldsBarrier(Operation* op) {
  return op
      ->walk([](Operation* inner) {
        return IsBarrier(inner) ? mlir::WalkResult::interrupt()
                                : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

bool BarrierFollows(Operation* op) {
  for (Operation* next = op->getNextNode(); next; next = next->getNextNode()) {
    if (HoldsBarrier(next)) return true;
  }
  return false;
}

// Lanes that skip a barrier below `divergent` must never meet another one:
// then they are as good as exited.
bool SkippersMeetNoBarrier(Operation* divergent, Operation* barrier) {
  for (mlir::Region& region : divergent->getRegions()) {
    if (mlir::isa<mlir::scf::WhileOp>(divergent)) break;
    if (region.isAncestor(barrier->getParentRegion())) continue;
    for (Operation& op : region.getOps()) {
      if (HoldsBarrier(&op)) return false;
    }
  }
  for (Operation* op = divergent; !mlir::isa<KernelOp>(op);
       op = op->getParentOp()) {
    if (BarrierFollows(op)) return false;
    if (op != divergent && mlir::isa<mlir::scf::WhileOp>(op)) return false;
  }
  return true;
}

// The member mask of a collective, or null.
Value MembersOf(Operation* op) {
  return llvm::TypeSwitch<Operation*, Value>(op)
      .Case<ShuffleOp, VoteOp, MatchOp, ReduxOp, ElectOp, WarpSyncOp>(
          [](auto collective) { return collective.getMembers(); })
      .Default([](Operation*) { return Value(); });
}

}  // namespace

LogicalResult WarpVectorizer::CheckOp(Operation* op) {
  if (mlir::isa<mlir::func::CallOp, CallIndirectOp>(op)) {
    return op->emitOpError("calls a device function");
  }
  if (mlir::isa<VendorOp, StackAllocOp, StackSaveOp, StackRestoreOp>(op)) return op->emitOpError("has no warp form");
  Value members = MembersOf(op);
  if (members && Varies(members)) {
    return op->emitOpError("member mask differs by lane");
  }
  bool barrier = IsBarrier(op);
  bool waits = mlir::isa<ProgressOp>(op);
  if (!barrier && !waits) return mlir::success();
  if (barrier) {
    for (Value operand : op->getOperands()) {
      bool predicate =
          mlir::isa<BarrierReduceOp>(op) && operand.getType().isInteger(1);
      if (!predicate && Varies(operand)) {
        return op->emitOpError("id or count differs by lane");
      }
    }
  }
  for (Operation* parent = op->getParentOp(); !mlir::isa<KernelOp>(parent);
       parent = parent->getParentOp()) {
    if (!uniformity_.IsDivergent(parent)) continue;
    if (waits) return op->emitOpError("lanes may wait for each other");
    if (!SkippersMeetNoBarrier(parent, op)) {
      return op->emitOpError("in divergent control flow");
    }
  }
  return mlir::success();
}

LogicalResult WarpVectorizer::Check() {
  if (!kernel_.getBody().hasOneBlock()) {
    return kernel_.emitOpError("expected structured control flow");
  }
  mlir::WalkResult result = kernel_.getBody().walk([&](Operation* op) {
    if (mlir::failed(CheckOp(op))) return mlir::WalkResult::interrupt();
    for (Value value : op->getResults()) {
      if (Varies(value) && mlir::isa<mlir::VectorType>(value.getType())) {
        op->emitOpError("packed value has no warp form");
        return mlir::WalkResult::interrupt();
      }
    }
    return mlir::WalkResult::advance();
  });
  return mlir::failure(result.wasInterrupted());
}

}  // namespace hetgpu::hetir
