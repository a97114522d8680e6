// atom and red.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

struct Atomic {
  hetir::AtomicKind kind = hetir::AtomicKind::add;
  hetir::Ordering ordering = hetir::Ordering::relaxed;
  hetir::Scope scope = hetir::Scope::device;
  bool ftz = false;
};

hetir::Ordering OrderingOf(MemorySemantics semantics) {
  switch (semantics) {
    case MemorySemantics::kAcquire: return hetir::Ordering::acquire;
    case MemorySemantics::kRelease: return hetir::Ordering::release;
    case MemorySemantics::kAcqRel: return hetir::Ordering::acq_rel;
    case MemorySemantics::kSc: return hetir::Ordering::sc;
    default: return hetir::Ordering::relaxed;
  }
}

hetir::AtomicKind KindOf(Lowering& l, Type element) {
  using K = hetir::AtomicKind;
  bool is_float = IsFloatValue(element);
  bool is_signed = IsSigned(element);
  switch (l.mods().operation) {
    case Operation::kAdd: return is_float ? K::fadd : K::add;
    case Operation::kMin:
      return is_float ? K::fmin : is_signed ? K::smin : K::umin;
    case Operation::kMax:
      return is_float ? K::fmax : is_signed ? K::smax : K::umax;
    case Operation::kAnd: return K::and_;
    case Operation::kOr: return K::or_;
    case Operation::kXor: return K::xor_;
    case Operation::kInc: return K::inc;
    case Operation::kDec: return K::dec;
    case Operation::kExch: return K::exch;
    default: break;
  }
  l.Refuse("atomic operation");
  return K::add;
}

// One scalar update; exch moves integers.
Value UpdateScalar(Lowering& l, const Atomic& atomic, const Address& address,
                   Value value) {
  if (atomic.kind == hetir::AtomicKind::exch) {
    value = l.Bitcast(value, l.Int(value.getType().getIntOrFloatBitWidth()));
  }
  return l.Create<hetir::AtomicOp>(
      value.getType(), atomic.kind, address.space, address.base, Value(), value,
      Value(), static_cast<uint64_t>(address.offset), atomic.ordering,
      atomic.scope, atomic.ftz);
}

// f32 addition flushes subnormals in global memory and keeps them in shared
// memory; behind a generic address may lie either.
Value AddAnywhere(Lowering& l, Atomic atomic, const Address& address,
                  Value value) {
  Value shared = l.Create<hetir::IsSpaceOp>(l.I1(), hetir::Space::shared,
                                            address.base);
  mlir::Block* fork = l.builder().getBlock();
  mlir::Block* keep = l.NewBlock();
  l.MoveTo(keep);
  atomic.ftz = false;
  Value kept = UpdateScalar(l, atomic, address, value);
  mlir::Block* flush = l.NewBlock();
  l.MoveTo(flush);
  atomic.ftz = true;
  Value flushed = UpdateScalar(l, atomic, address, value);
  mlir::Block* join = l.NewBlock();
  Value old = join->addArgument(value.getType(), l.loc());
  l.Create<mlir::cf::BranchOp>(join, mlir::ValueRange{flushed});
  l.MoveTo(keep);
  l.Create<mlir::cf::BranchOp>(join, mlir::ValueRange{kept});
  l.MoveTo(fork);
  l.Create<mlir::cf::CondBranchOp>(shared, keep, flush);
  l.MoveTo(join);
  return old;
}

// Packed halves are updated one by one, as PTX allows.
Value Update(Lowering& l, const Atomic& atomic, Address address, Type type,
             Value value) {
  return l.Map(type, {value}, [&](const Values& in) -> Value {
    bool anywhere = atomic.ftz && address.space == hetir::Space::generic;
    Value old = anywhere ? AddAnywhere(l, atomic, address, in[0])
                         : UpdateScalar(l, atomic, address, in[0]);
    address.offset += TypeBytes(ElementOf(type));
    return old;
  });
}

// Whether an update in global memory flushes subnormals.
bool Flushes(const Lowering& l, const Address& address) {
  return l.mods().operation == Operation::kAdd &&
         l.mods().type() == Type::kF32 &&
         address.space != hetir::Space::shared;
}

void LowerUpdate(Lowering& l, const Operand* target, size_t address_index) {
  Type type = l.mods().type();
  Address address =
      l.ReadAddress(l.operand(address_index), l.SpaceOf(l.mods().space));
  Atomic atomic;
  atomic.kind = KindOf(l, ElementOf(type));
  atomic.ordering = OrderingOf(l.mods().semantics);
  atomic.scope = ScopeOf(l.mods().scope, hetir::Scope::device);
  atomic.ftz = Flushes(l, address);
  std::vector<Operand> sources = l.Elements(l.operand(address_index + 1));
  std::vector<Operand> targets;
  if (target) targets = l.Elements(*target);
  for (size_t i = 0; i < sources.size(); ++i) {
    Value old = Update(l, atomic, address, type, l.Read(sources[i], type));
    if (target) l.Write(targets[i], old, type);
    address.offset += TypeBytes(type);
  }
}

void LowerCas(Lowering& l) {
  Type type = l.mods().type();
  Address address = l.ReadAddress(l.operand(1), l.SpaceOf(l.mods().space));
  Value compare = l.Read(2, type);
  Value value = l.Read(3, type);
  Value old = l.Create<hetir::AtomicCasOp>(
      value.getType(), address.space, address.base, Value(), compare, value,
      Value(), static_cast<uint64_t>(address.offset),
      OrderingOf(l.mods().semantics),
      ScopeOf(l.mods().scope, hetir::Scope::device));
  l.Write(old, type);
}

void LowerAtom(Lowering& l) {
  if (l.mods().operation == Operation::kCas) return LowerCas(l);
  LowerUpdate(l, &l.operand(0), 1);
}

void LowerRed(Lowering& l) { LowerUpdate(l, nullptr, 0); }

constexpr LoweringRow kRows[] = {
    {Op::kAtom, Effect::kEffect, LowerAtom},
    {Op::kRed, Effect::kEffect, LowerRed},
};

}  // namespace

std::span<const LoweringRow> AtomicRows() { return kRows; }

}  // namespace hetgpu::ptx
