// Barriers and fences.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

// `bar` is `barrier.aligned`.
bool IsAligned(const Lowering& l) {
  return l.Has(Flag::kAligned) || l.inst().opcode->text.starts_with("bar.");
}

constexpr int64_t kBarriers = 16;  // of a block
constexpr int64_t kWarp = 32;

// What can be told from constants. `count` may be null.
bool IsBarrier(Lowering& l, const Operand& id, const Operand* count) {
  if (id.kind == OperandKind::kImmediate && id.value >= kBarriers) {
    l.Refuse(Cat("barrier ", id.value, ", expected one below ", kBarriers));
    return false;
  }
  if (count != nullptr && count->kind == OperandKind::kImmediate &&
      count->value % kWarp != 0) {
    l.Refuse(Cat("thread count ", count->value,
                 " of a barrier, expected a multiple of ", kWarp));
    return false;
  }
  return true;
}

void LowerBarrier(Lowering& l, bool arrive) {
  const bool has_count = l.num_operands() > 1;
  if (!IsBarrier(l, l.operand(0), has_count ? &l.operand(1) : nullptr)) return;
  Value id = l.Read(0, Type::kU32);
  Value count = has_count ? l.Read(1, Type::kU32) : Value();
  l.Create<hetir::BarrierOp>(id, count, Value(), arrive, IsAligned(l));
}

void LowerBarSync(Lowering& l) { LowerBarrier(l, false); }
void LowerBarArrive(Lowering& l) { LowerBarrier(l, true); }

// d, id {, count}, predicate
void LowerBarRed(Lowering& l) {
  bool has_count = l.num_operands() == 4;
  if (!IsBarrier(l, l.operand(1), has_count ? &l.operand(2) : nullptr)) return;
  Value id = l.Read(1, Type::kU32);
  Value count = has_count ? l.Read(2, Type::kU32) : Value();
  Value predicate = l.ReadPredicate(l.operand(has_count ? 3 : 2));
  hetir::BarrierReduce kind = hetir::BarrierReduce::popc;
  if (l.mods().operation == Operation::kAnd) kind = hetir::BarrierReduce::and_;
  if (l.mods().operation == Operation::kOr) kind = hetir::BarrierReduce::or_;
  bool popc = kind == hetir::BarrierReduce::popc;
  Value result = l.Create<hetir::BarrierReduceOp>(
      popc ? l.I32() : l.I1(), kind, id, predicate, count, Value(),
      IsAligned(l));
  l.Write(result, popc ? Type::kU32 : Type::kPred);
}

void LowerBarWarpSync(Lowering& l) {
  l.Create<hetir::WarpSyncOp>(l.Read(0, Type::kB32));
}

void LowerMembar(Lowering& l) {
  l.Create<hetir::FenceOp>(hetir::Ordering::sc,
                           ScopeOf(l.mods().scope, hetir::Scope::device));
}

void LowerFence(Lowering& l) {
  if (l.inst().opcode->text.find("sync_restrict") != std::string_view::npos) {
    return l.Refuse("modifier '.sync_restrict'");
  }
  hetir::Ordering ordering = hetir::Ordering::acq_rel;
  switch (l.mods().semantics) {
    case MemorySemantics::kSc: ordering = hetir::Ordering::sc; break;
    case MemorySemantics::kAcquire: ordering = hetir::Ordering::acquire; break;
    case MemorySemantics::kRelease: ordering = hetir::Ordering::release; break;
    default: break;
  }
  l.Create<hetir::FenceOp>(ordering,
                           ScopeOf(l.mods().scope, hetir::Scope::device));
}

// Every access here goes through one proxy, so a full fence covers it.
void LowerFenceProxy(Lowering& l) {
  l.Create<hetir::FenceOp>(hetir::Ordering::sc, hetir::Scope::system);
}

void LowerNanosleep(Lowering& l) {
  l.Create<hetir::NanosleepOp>(l.Read(0, Type::kU32));
}

// Grids run one after another: the one before has completed.
void LowerGriddepcontrol(Lowering&) {}

constexpr LoweringRow kRows[] = {
    {Op::kBarSync, Effect::kEffect, LowerBarSync},
    {Op::kBarArrive, Effect::kEffect, LowerBarArrive},
    {Op::kBarRed, Effect::kEffect, LowerBarRed},
    {Op::kBarWarpSync, Effect::kEffect, LowerBarWarpSync},
    {Op::kMembar, Effect::kEffect, LowerMembar},
    {Op::kFence, Effect::kEffect, LowerFence},
    {Op::kFenceProxy, Effect::kEffect, LowerFenceProxy},
    {Op::kNanosleep, Effect::kEffect, LowerNanosleep},
    {Op::kGriddepcontrolLaunchDependents, Effect::kPure, LowerGriddepcontrol},
    {Op::kGriddepcontrolWait, Effect::kPure, LowerGriddepcontrol},
};

}  // namespace

std::span<const LoweringRow> SyncRows() { return kRows; }

}  // namespace hetgpu::ptx
