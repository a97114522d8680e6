// Branches and ways to end a thread.
#include <algorithm>

#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"
#include "hetir/dialect/loop_hint.h"

namespace hetgpu::ptx {
namespace {

// A branch to the head of a loop that is not to be unrolled says so.
void MarkLoop(Lowering& l, mlir::Operation* branch) {
  const Body& body = l.body();
  uint32_t head = body.labels[l.operand(0).index].instruction;
  if (std::binary_search(body.nounroll.begin(), body.nounroll.end(), head)) {
    branch->setAttr(hetir::kNoUnroll, l.builder().getUnitAttr());
  }
}

void LowerBra(Lowering& l) {
  mlir::Block* target = l.BlockOfLabel(l.operand(0).index);
  if (l.inst().guard == kNone) {
    MarkLoop(l, l.Create<mlir::cf::BranchOp>(target));
    return;
  }
  MarkLoop(l, l.Create<mlir::cf::CondBranchOp>(l.ReadGuard(), target,
                                               l.NextBlock()));
}

// An index outside of the table is undefined in PTX: it traps here. The trap
// is a block of its own, so the table's blocks stay those of the text.
void LowerBrxIdx(Lowering& l) {
  if (l.inst().guard != kNone) return l.Refuse("under a predicate");
  const TargetTable& table = l.body().target_tables[l.operand(1).index];
  Value index = l.Read(0, Type::kU32);
  llvm::SmallVector<int32_t> values;
  llvm::SmallVector<mlir::Block*> blocks;
  for (uint32_t label : table.targets) {
    values.push_back(static_cast<int32_t>(values.size()));
    blocks.push_back(l.BlockOfLabel(label));
  }
  mlir::Block* here = l.builder().getBlock();
  mlir::Block* outside = l.NewBlock();
  l.MoveTo(outside);
  l.Create<hetir::TrapOp>();
  l.MoveTo(here);
  llvm::SmallVector<mlir::ValueRange> no_operands(blocks.size());
  l.Create<mlir::cf::SwitchOp>(index, outside, mlir::ValueRange{}, values,
                               blocks, no_operands);
}

void LowerRet(Lowering& l) { l.Return(); }
void LowerExit(Lowering& l) { l.Create<hetir::ExitOp>(); }
void LowerTrap(Lowering& l) { l.Create<hetir::TrapOp>(); }

// Counts events for a profiler, or sizes register files: nothing to observe.
void LowerNothing(Lowering&) {}

constexpr LoweringRow kRows[] = {
    {Op::kBra, Effect::kBranch, LowerBra},
    {Op::kBrxIdx, Effect::kBranch, LowerBrxIdx},
    {Op::kRet, Effect::kEffect, LowerRet},
    {Op::kExit, Effect::kEffect, LowerExit},
    {Op::kTrap, Effect::kEffect, LowerTrap},
    {Op::kBrkpt, Effect::kEffect, LowerTrap},
    {Op::kPmevent, Effect::kPure, LowerNothing},
    {Op::kSetmaxnreg, Effect::kPure, LowerNothing},
};

}  // namespace

std::span<const LoweringRow> ControlRows() { return kRows; }

}  // namespace hetgpu::ptx
