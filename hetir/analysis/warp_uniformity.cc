#include "hetir/analysis/warp_uniformity.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace hetgpu::hetir {
namespace {

bool VariesByLane(SpecialRegister reg) {
  switch (reg) {
    case SpecialRegister::tid_x:
    case SpecialRegister::tid_y:
    case SpecialRegister::tid_z:
    case SpecialRegister::laneid:
    case SpecialRegister::lanemask_eq:
    case SpecialRegister::lanemask_lt:
    case SpecialRegister::lanemask_le:
    case SpecialRegister::lanemask_gt:
    case SpecialRegister::lanemask_ge:
      return true;
    default:
      return false;
  }
}

// Ops whose results differ between lanes whatever their operands.
bool IsSource(mlir::Operation* op) {
  if (auto reg = mlir::dyn_cast<SpecialRegisterOp>(op)) {
    return VariesByLane(reg.getReg());
  }
  if (auto load = mlir::dyn_cast<LoadOp>(op)) {
    return load.getSpace() == Space::local ||
           load.getSpace() == Space::generic;
  }
  return mlir::isa<AtomicOp, AtomicCasOp, LocalAllocOp, StackAllocOp, StackSaveOp, ShuffleOp, MallocOp,
                   VprintfOp, CallIndirectOp, VendorOp,
                   mlir::func::CallOp>(op);
}

// Collectives give every member lane the same answer if the member mask is
// the same for all.
bool IsUniformCollective(mlir::Operation* op) {
  return mlir::isa<VoteOp, ReduxOp, BarrierReduceOp>(op);
}

mlir::Value MembersOf(mlir::Operation* op) {
  if (auto vote = mlir::dyn_cast<VoteOp>(op)) return vote.getMembers();
  if (auto redux = mlir::dyn_cast<ReduxOp>(op)) return redux.getMembers();
  return {};
}

}  // namespace

WarpUniformity::WarpUniformity(KernelOp kernel) {
  bool changed = true;
  while (changed) {
    changed = false;
    kernel.walk([&](mlir::Operation* op) { changed |= Visit(op); });
  }
}

bool WarpUniformity::IsDivergent(mlir::Operation* op) const {
  if (auto branch = mlir::dyn_cast<mlir::scf::IfOp>(op)) {
    return IsVarying(branch.getCondition());
  }
  if (auto branch = mlir::dyn_cast<mlir::scf::IndexSwitchOp>(op)) {
    return IsVarying(branch.getArg());
  }
  if (auto loop = mlir::dyn_cast<mlir::scf::WhileOp>(op)) {
    return IsVarying(loop.getConditionOp().getCondition());
  }
  return false;
}

bool WarpUniformity::AnyVarying(mlir::ValueRange values) const {
  return llvm::any_of(values, [&](mlir::Value v) { return IsVarying(v); });
}

bool WarpUniformity::Mark(mlir::Value value) {
  return varying_.insert(value).second;
}

bool WarpUniformity::MarkAll(mlir::ValueRange values) {
  bool changed = false;
  for (mlir::Value value : values) changed |= Mark(value);
  return changed;
}

bool WarpUniformity::Visit(mlir::Operation* op) {
  if (mlir::isa<mlir::scf::IfOp, mlir::scf::IndexSwitchOp>(op)) {
    return VisitIf(op);
  }
  if (mlir::isa<mlir::scf::WhileOp>(op)) return VisitWhile(op);
  if (mlir::isa<KernelOp, ActiveMaskOp>(op)) return false;
  if (IsUniformCollective(op)) {
    mlir::Value members = MembersOf(op);
    return members && IsVarying(members) && MarkAll(op->getResults());
  }
  if (auto match = mlir::dyn_cast<MatchOp>(op)) {
    return MarkAll(match->getResults());
  }
  if (auto elect = mlir::dyn_cast<ElectOp>(op)) {
    return Mark(elect.getIsLeader());
  }
  if (IsSource(op) || AnyVarying(op->getOperands())) {
    return MarkAll(op->getResults());
  }
  return false;
}

bool WarpUniformity::VisitIf(mlir::Operation* op) {
  if (IsDivergent(op)) return MarkAll(op->getResults());
  bool changed = false;
  for (mlir::Region& region : op->getRegions()) {
    if (region.empty()) continue;
    mlir::Operation* yield = region.front().getTerminator();
    for (auto [result, value] :
         llvm::zip(op->getResults(), yield->getOperands())) {
      if (IsVarying(value)) changed |= Mark(result);
    }
  }
  return changed;
}

bool WarpUniformity::VisitWhile(mlir::Operation* op) {
  auto loop = mlir::cast<mlir::scf::WhileOp>(op);
  bool changed = false;
  auto pass = [&](mlir::ValueRange from, mlir::ValueRange to) {
    for (auto [source, target] : llvm::zip(from, to)) {
      if (IsVarying(source)) changed |= Mark(target);
    }
  };
  mlir::ValueRange forwarded = loop.getConditionOp().getArgs();
  pass(loop.getInits(), loop.getBeforeArguments());
  pass(forwarded, loop.getAfterArguments());
  pass(loop.getYieldOp().getResults(), loop.getBeforeArguments());
  pass(forwarded, loop.getResults());
  if (IsDivergent(loop)) changed |= MarkAll(loop.getResults());
  return changed;
}

}  // namespace hetgpu::hetir
