// mbarrier: barrier objects in shared memory, updated by compare and swap.
//
//   63      phase parity
//   40-61   transaction count: bytes expected and not yet complete
//   20-39   arrivals that a phase expects
//   0-19    arrivals still pending
//
// A phase completes when nothing is pending and the transaction count is zero:
// the parity flips and the pending count starts anew. The state token that
// arrivals return is the object before the arrival. PTX leaves both opaque.
#include <functional>

#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/mbarrier.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;
using Predicate = arith::CmpIPredicate;

constexpr unsigned kExpectedShift = 20;
constexpr unsigned kTransactionShift = 40;
constexpr uint64_t kCountMask = 0xfffff;
constexpr uint64_t kTransactionMask = uint64_t{0x3fffff} << kTransactionShift;
constexpr uint64_t kPhase = uint64_t{1} << 63;

Value Const(Lowering& l, uint64_t value) { return l.ConstantInt(64, value); }
Value And(Lowering& l, Value a, uint64_t mask) {
  return l.Create<arith::AndIOp>(a, Const(l, mask));
}
Value Or(Lowering& l, Value a, Value b) { return l.Create<arith::OrIOp>(a, b); }
Value Sub(Lowering& l, Value a, Value b) {
  return l.Create<arith::SubIOp>(a, b);
}

// The object after the phase change that the counts ask for, if any.
Value CompletePhase(Lowering& l, Value object) {
  Value open = And(l, object, kCountMask | kTransactionMask);
  Value done = l.Create<arith::CmpIOp>(Predicate::eq, open, Const(l, 0));
  Value flipped = l.Create<arith::XOrIOp>(object, Const(l, kPhase));
  Value expected = And(
      l, l.Create<arith::ShRUIOp>(object, Const(l, kExpectedShift)),
      kCountMask);
  return l.Select(done, Or(l, flipped, expected), object);
}

// Adds to the transaction count, modulo its field.
Value AddTransactions(Lowering& l, Value object, Value bytes) {
  Value moved =
      l.Create<arith::ShLIOp>(bytes, Const(l, kTransactionShift));
  Value sum = And(l, l.Create<arith::AddIOp>(object, moved), kTransactionMask);
  return Or(l, And(l, object, ~kTransactionMask), sum);
}

using Change = std::function<Value(Value)>;

// Replaces the object by change(object); the result is the object before.
Value Update(Lowering& l, const Address& address, const Change& change) {
  auto ordering = l.mods().semantics == MemorySemantics::kRelaxed
                      ? hetir::Ordering::relaxed
                      : hetir::Ordering::acq_rel;
  hetir::Scope scope = ScopeOf(l.mods().scope, hetir::Scope::block);
  uint64_t offset = static_cast<uint64_t>(address.offset);
  auto load = l.Create<hetir::LoadOp>(
      l.I64(), address.space, address.base, Value(), Value(), offset,
      hetir::Ordering::relaxed, scope);
  mlir::Block* retry = l.NewBlock();
  l.Create<mlir::cf::BranchOp>(retry, load.getValues());
  Value old = retry->addArgument(l.I64(), l.loc());
  l.MoveTo(retry);
  Value seen = l.Create<hetir::AtomicCasOp>(
      l.I64(), address.space, address.base, Value(), old, change(old), Value(),
      offset, ordering, scope);
  Value stored = l.Create<arith::CmpIOp>(Predicate::eq, seen, old);
  mlir::Block* done = l.NewBlock();
  l.Create<mlir::cf::CondBranchOp>(stored, done, mlir::ValueRange{}, retry,
                                   mlir::ValueRange{seen});
  l.MoveTo(done);
  return old;
}

Address ObjectOf(Lowering& l, size_t operand) {
  return l.ReadAddress(l.operand(operand), l.SpaceOf(l.mods().space));
}

Value CountOperand(Lowering& l, size_t operand) {
  if (l.num_operands() <= operand) return Const(l, 1);
  return l.Resize(l.Read(operand, Type::kU32), 64, false);
}

void LowerInit(Lowering& l) {
  Address address = ObjectOf(l, 0);
  Value count = And(l, CountOperand(l, 1), kCountMask);
  Value expected =
      l.Create<arith::ShLIOp>(count, Const(l, kExpectedShift));
  l.Store(Or(l, count, expected), address);
}

// The memory may be used for something else: nothing to do.
void LowerInval(Lowering&) {}

// d, [a] {, count or bytes}
void Arrive(Lowering& l, bool drop) {
  Address address = ObjectOf(l, 1);
  bool expect = l.Has(Flag::kExpectTx);
  Value bytes = expect ? CountOperand(l, 2) : Value();
  Value count = expect ? Const(l, 1) : CountOperand(l, 2);
  Value change = count;
  if (drop) {
    change = Or(l, count,
                l.Create<arith::ShLIOp>(count, Const(l, kExpectedShift)));
  }
  Value old = Update(l, address, [&](Value object) {
    if (expect) object = AddTransactions(l, object, bytes);
    return CompletePhase(l, Sub(l, object, change));
  });
  l.Write(old, Type::kB64);
}

void LowerArrive(Lowering& l) { Arrive(l, false); }
void LowerArriveDrop(Lowering& l) { Arrive(l, true); }

void LowerExpectTx(Lowering& l) {
  Address address = ObjectOf(l, 0);
  Value bytes = CountOperand(l, 1);
  Update(l, address,
         [&](Value object) { return AddTransactions(l, object, bytes); });
}

void LowerCompleteTx(Lowering& l) {
  CompleteTransactions(l, ObjectOf(l, 0), CountOperand(l, 1));
}

// p, [a], state or parity {, hint}: whether that phase is over.
void LowerWait(Lowering& l) {
  Address address = ObjectOf(l, 1);
  auto ordering = l.mods().semantics == MemorySemantics::kRelaxed
                      ? hetir::Ordering::relaxed
                      : hetir::Ordering::acquire;
  auto load = l.Create<hetir::LoadOp>(
      l.I64(), address.space, address.base, Value(), Value(),
      static_cast<uint64_t>(address.offset), ordering,
      ScopeOf(l.mods().scope, hetir::Scope::block));
  Value state;
  if (l.Has(Flag::kParity)) {
    Value parity = l.Resize(l.Read(2, Type::kU32), 64, false);
    state = l.Create<arith::ShLIOp>(parity, Const(l, 63));
  } else {
    state = l.Read(2, Type::kB64);
  }
  Value differs =
      l.Create<arith::XOrIOp>(load.getValues().front(), state);
  l.Write(l.Create<arith::CmpIOp>(Predicate::slt, differs, Const(l, 0)),
          Type::kPred);
}

void LowerPendingCount(Lowering& l) {
  Value pending = And(l, l.Read(1, Type::kB64), kCountMask);
  l.Write(l.Resize(pending, 32, false), Type::kU32);
}

// The thread's copies are complete when they are issued. Without .noinc the
// pending count grows by one for the arrival: nothing remains to be done.
void LowerCpAsyncArrive(Lowering& l) {
  if (!l.Has(Flag::kNoInc)) return;
  Update(l, ObjectOf(l, 0), [&](Value object) {
    return CompletePhase(l, Sub(l, object, Const(l, 1)));
  });
}

void LowerFenceInit(Lowering& l) {
  l.Create<hetir::FenceOp>(hetir::Ordering::release, hetir::Scope::cluster);
}

constexpr LoweringRow kRows[] = {
    {Op::kMbarrierInit, Effect::kEffect, LowerInit},
    {Op::kMbarrierInval, Effect::kPure, LowerInval},
    {Op::kMbarrierArrive, Effect::kEffect, LowerArrive},
    {Op::kMbarrierArriveDrop, Effect::kEffect, LowerArriveDrop},
    {Op::kMbarrierExpectTx, Effect::kEffect, LowerExpectTx},
    {Op::kMbarrierCompleteTx, Effect::kEffect, LowerCompleteTx},
    {Op::kMbarrierTestWait, Effect::kEffect, LowerWait},
    {Op::kMbarrierTryWait, Effect::kEffect, LowerWait},
    {Op::kMbarrierPendingCount, Effect::kPure, LowerPendingCount},
    {Op::kCpAsyncMbarrierArrive, Effect::kEffect, LowerCpAsyncArrive},
    {Op::kFenceMbarrierInit, Effect::kEffect, LowerFenceInit},
};

}  // namespace

void CompleteTransactions(Lowering& l, const Address& address, Value bytes) {
  Update(l, address, [&](Value object) {
    return CompletePhase(l, AddTransactions(l, object,
                                            Sub(l, Const(l, 0), bytes)));
  });
}

std::span<const LoweringRow> MbarrierRows() { return kRows; }

}  // namespace hetgpu::ptx
