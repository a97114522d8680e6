// Loads, stores, prefetches and hints.
#include <algorithm>

#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

struct Access {
  hetir::Ordering ordering = hetir::Ordering::weak;
  hetir::Scope scope = hetir::Scope::device;
  hetir::CacheHint cache = hetir::CacheHint::none;
};

// .cv fetches again every time: another agent may have written. That is what
// volatile means.
Access AccessOf(const Modifiers& mods) {
  Access access;
  access.scope = ScopeOf(mods.scope, hetir::Scope::device);
  switch (mods.semantics) {
    case MemorySemantics::kNone:
    case MemorySemantics::kWeak:
      break;
    case MemorySemantics::kVolatile:
      access.ordering = hetir::Ordering::volatile_;
      access.scope = hetir::Scope::system;
      break;
    case MemorySemantics::kRelaxed:
      access.ordering = hetir::Ordering::relaxed;
      break;
    case MemorySemantics::kAcquire:
      access.ordering = hetir::Ordering::acquire;
      break;
    case MemorySemantics::kRelease:
      access.ordering = hetir::Ordering::release;
      break;
    case MemorySemantics::kAcqRel:
      access.ordering = hetir::Ordering::acq_rel;
      break;
    case MemorySemantics::kSc:
      access.ordering = hetir::Ordering::sc;
      break;
  }
  if (mods.cache == CacheOp::kCv) {
    access.ordering = hetir::Ordering::volatile_;
    access.scope = hetir::Scope::system;
  }
  if (mods.Has(Flag::kNc)) {
    access.cache = hetir::CacheHint::read_only;
  } else if (mods.cache == CacheOp::kLu) {
    access.cache = hetir::CacheHint::last_use;
  } else if (mods.cache == CacheOp::kCs) {
    access.cache = hetir::CacheHint::streaming;
  } else if (mods.cache == CacheOp::kCg) {
    access.cache = hetir::CacheHint::cache_global;
  } else if (mods.cache == CacheOp::kWt) {
    access.cache = hetir::CacheHint::write_through;
  }
  return access;
}

// Floats of 32 and 64 bits move as floats, everything else as integers.
mlir::Type MemoryType(Lowering& l, Type type) {
  return l.StorageOf(type);
}

// 128-bit values move as two 64-bit ones.
bool IsWide(Type type) { return TypeBits(type) == 128; }

void LoadCell(Lowering& l, Cell cell, Type type) {
  for (const Operand& target : l.Elements(l.operand(0))) {
    mlir::Type memory = MemoryType(l, type);
    l.Write(target, l.ReadCell(cell, memory), type);
    cell.offset += TypeBytes(type);
  }
}

void LoadInto(Lowering& l, const Access& access) {
  Type type = l.mods().type();
  Cell cell;
  if (l.FindCell(l.operand(1), &cell)) return LoadCell(l, cell, type);
  Address address = l.ReadAddress(l.operand(1), l.SpaceOf(l.mods().space));
  std::vector<Operand> targets = l.Elements(l.operand(0));
  size_t parts = IsWide(type) ? 2 : 1;
  llvm::SmallVector<mlir::Type, 8> types(
      targets.size() * parts, IsWide(type) ? l.I64() : MemoryType(l, type));
  auto load = l.Create<hetir::LoadOp>(
      types, address.space, address.base, Value(), Value(),
      static_cast<uint64_t>(address.offset), access.ordering, access.scope,
      access.cache);
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].kind == OperandKind::kSink) continue;
    auto values = load.getValues().slice(i * parts, parts);
    l.Write(targets[i], parts == 2 ? l.Concat(values) : Value(values.front()),
            type);
  }
}

void LowerLd(Lowering& l) { LoadInto(l, AccessOf(l.mods())); }

void LowerLdu(Lowering& l) {
  Access access;
  access.cache = hetir::CacheHint::read_only;
  LoadInto(l, access);
}

void StoreCell(Lowering& l, Cell cell, Type type) {
  for (const Operand& source : l.Elements(l.operand(1))) {
    l.WriteCell(cell, l.Read(source, type));
    cell.offset += TypeBytes(type);
  }
}

void LowerSt(Lowering& l) {
  Type type = l.mods().type();
  Cell cell;
  if (l.FindCell(l.operand(0), &cell)) return StoreCell(l, cell, type);
  hetir::Space space = l.SpaceOf(l.mods().space);
  // A kernel's parameters cannot be written: these are a call's, in memory.
  if (space == hetir::Space::param) space = hetir::Space::local;
  Address address = l.ReadAddress(l.operand(0), space);
  if (address.space == hetir::Space::constant) {
    return l.Fail(absl::StatusCode::kInvalidArgument,
                  "store to the const space");
  }
  if (address.space == hetir::Space::param) {
    return l.Fail(absl::StatusCode::kInvalidArgument,
                  "store to a kernel parameter");
  }
  Values values;
  for (const Operand& source : l.Elements(l.operand(1))) {
    Value value = l.Bitcast(l.Read(source, type), MemoryType(l, type));
    if (!IsWide(type)) {
      values.push_back(value);
      continue;
    }
    values.push_back(l.Extract(value, 0, l.I64()));
    values.push_back(l.Extract(value, 1, l.I64()));
  }
  Access access = AccessOf(l.mods());
  l.Create<hetir::StoreOp>(address.space, address.base, Value(), values,
                           Value(), static_cast<uint64_t>(address.offset),
                           access.ordering, access.scope, access.cache);
}

void LowerPrefetch(Lowering& l) {
  if (l.Has(Flag::kTensormap)) return l.Refuse("prefetch of a tensor map");
  hetir::Space space = l.SpaceOf(l.mods().space);
  Address address = l.ReadAddress(l.operand(0), space);
  l.Create<hetir::PrefetchOp>(address.space, address.base,
                              static_cast<uint64_t>(address.offset));
}

// Cache hints without a meaning of their own: every behaviour is allowed.
void LowerHint(Lowering&) {}

// A cache policy is a hint: loads and stores ignore its value.
void LowerCreatepolicy(Lowering& l) {
  l.Write(l.ConstantInt(64, 0), Type::kB64);
}

constexpr uint64_t kStackAlign = 8;  // where alloca names none

void LowerAlloca(Lowering& l) {
  if (l.mods().type() != Type::kU64) return l.Refuse("32-bit address");
  uint64_t align = kStackAlign;
  if (l.num_operands() == 3) align = l.ReadConstant(l.operand(2));
  Value bytes = l.Read(1, Type::kU64);
  l.Write(l.Create<hetir::StackAllocOp>(bytes, align), Type::kU64);
}

void LowerStacksave(Lowering& l) {
  if (l.mods().type() != Type::kU64) return l.Refuse("32-bit address");
  l.Write(l.Create<hetir::StackSaveOp>(), Type::kU64);
}

void LowerStackrestore(Lowering& l) {
  if (l.mods().type() != Type::kU64) return l.Refuse("32-bit address");
  l.Create<hetir::StackRestoreOp>(l.Read(0, Type::kU64));
}

constexpr LoweringRow kRows[] = {
    {Op::kLd, Effect::kEffect, LowerLd},
    {Op::kLdu, Effect::kEffect, LowerLdu},
    {Op::kSt, Effect::kEffect, LowerSt},
    {Op::kPrefetch, Effect::kEffect, LowerPrefetch},
    {Op::kPrefetchu, Effect::kEffect, LowerPrefetch},
    {Op::kApplypriority, Effect::kPure, LowerHint},
    {Op::kDiscard, Effect::kPure, LowerHint},
    {Op::kCreatepolicy, Effect::kPure, LowerCreatepolicy},
    {Op::kAlloca, Effect::kEffect, LowerAlloca},
    {Op::kStacksave, Effect::kEffect, LowerStacksave},
    {Op::kStackrestore, Effect::kEffect, LowerStackrestore},
};

}  // namespace

std::span<const LoweringRow> MemoryRows() { return kRows; }

}  // namespace hetgpu::ptx
