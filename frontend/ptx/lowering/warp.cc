// Warp collectives.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

// The forms without .sync were removed from the hardware: which lanes took
// part was not defined.
bool IsLegacy(Lowering& l) {
  if (l.Has(Flag::kSync)) return false;
  l.Refuse("expected '.sync'");
  return true;
}

// d or d|p.
void WriteWithPredicate(Lowering& l, Value value, Value predicate) {
  const Operand& target = l.operand(0);
  if (target.kind != OperandKind::kPair) return l.Write(value, Type::kB32);
  l.Write(l.child(target, 0), value, Type::kB32);
  l.Write(l.child(target, 1), predicate, Type::kPred);
}

hetir::ShuffleMode ShuffleModeOf(Mode mode) {
  switch (mode) {
    case Mode::kUp: return hetir::ShuffleMode::up;
    case Mode::kDown: return hetir::ShuffleMode::down;
    case Mode::kBfly: return hetir::ShuffleMode::bfly;
    default: return hetir::ShuffleMode::idx;
  }
}

void LowerShfl(Lowering& l) {
  if (IsLegacy(l)) return;
  auto op = l.Create<hetir::ShuffleOp>(
      l.I32(), l.I1(), ShuffleModeOf(l.mods().mode), l.Read(1, Type::kB32),
      l.Read(2, Type::kB32), l.Read(3, Type::kB32), l.Read(4, Type::kB32),
      Value());
  WriteWithPredicate(l, op.getResult(), op.getInRange());
}

hetir::VoteKind VoteKindOf(Mode mode) {
  switch (mode) {
    case Mode::kAll: return hetir::VoteKind::all;
    case Mode::kAny: return hetir::VoteKind::any;
    case Mode::kUni: return hetir::VoteKind::uni;
    default: return hetir::VoteKind::ballot;
  }
}

void LowerVote(Lowering& l) {
  if (IsLegacy(l)) return;
  bool ballot = l.mods().mode == Mode::kBallot;
  Value predicate = l.ReadPredicate(l.operand(1));
  Value members = l.Read(2, Type::kB32);
  Value result = l.Create<hetir::VoteOp>(ballot ? l.I32() : l.I1(),
                                         VoteKindOf(l.mods().mode), predicate,
                                         members, Value());
  l.Write(result, ballot ? Type::kB32 : Type::kPred);
}

void LowerMatch(Lowering& l) {
  hetir::MatchKind kind = l.mods().mode == Mode::kAll ? hetir::MatchKind::all
                                                      : hetir::MatchKind::any;
  auto op = l.Create<hetir::MatchOp>(l.I32(), l.I1(), kind,
                                     l.Read(1, l.mods().type()),
                                     l.Read(2, Type::kB32), Value());
  WriteWithPredicate(l, op.getResult(), op.getAllEqual());
}

void LowerRedux(Lowering& l) {
  using K = hetir::ReduxKind;
  Type type = l.mods().type();
  if (type == Type::kF32) return l.Refuse("float reduction");
  K kind = K::add;
  switch (l.mods().operation) {
    case Operation::kMin: kind = IsSigned(type) ? K::smin : K::umin; break;
    case Operation::kMax: kind = IsSigned(type) ? K::smax : K::umax; break;
    case Operation::kAnd: kind = K::and_; break;
    case Operation::kOr: kind = K::or_; break;
    case Operation::kXor: kind = K::xor_; break;
    default: break;
  }
  Value result = l.Create<hetir::ReduxOp>(l.I32(), kind, l.Read(1, type),
                                          l.Read(2, Type::kB32), Value());
  l.Write(result, type);
}

void LowerActivemask(Lowering& l) {
  l.Write(l.Create<hetir::ActiveMaskOp>(l.I32(), Value()), Type::kB32);
}

void LowerElect(Lowering& l) {
  auto op = l.Create<hetir::ElectOp>(l.I32(), l.I1(), l.Read(1, Type::kB32));
  WriteWithPredicate(l, op.getLeader(), op.getIsLeader());
}

constexpr LoweringRow kRows[] = {
    {Op::kShfl, Effect::kEffect, LowerShfl},
    {Op::kVote, Effect::kEffect, LowerVote},
    {Op::kMatch, Effect::kEffect, LowerMatch},
    {Op::kRedux, Effect::kEffect, LowerRedux},
    {Op::kActivemask, Effect::kEffect, LowerActivemask},
    {Op::kElectSync, Effect::kEffect, LowerElect},
};

}  // namespace

std::span<const LoweringRow> WarpRows() { return kRows; }

}  // namespace hetgpu::ptx
