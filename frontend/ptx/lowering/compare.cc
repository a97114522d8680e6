// set, setp, selp, slct.
#include <optional>

#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;
using Predicate = arith::CmpIPredicate;

std::optional<hetir::FCmp> FloatComparison(CompareOp op) {
  switch (op) {
    case CompareOp::kEq: return hetir::FCmp::eq;
    case CompareOp::kNe: return hetir::FCmp::ne;
    case CompareOp::kLt: return hetir::FCmp::lt;
    case CompareOp::kLe: return hetir::FCmp::le;
    case CompareOp::kGt: return hetir::FCmp::gt;
    case CompareOp::kGe: return hetir::FCmp::ge;
    case CompareOp::kEqu: return hetir::FCmp::equ;
    case CompareOp::kNeu: return hetir::FCmp::neu;
    case CompareOp::kLtu: return hetir::FCmp::ltu;
    case CompareOp::kLeu: return hetir::FCmp::leu;
    case CompareOp::kGtu: return hetir::FCmp::gtu;
    case CompareOp::kGeu: return hetir::FCmp::geu;
    case CompareOp::kNum: return hetir::FCmp::num;
    case CompareOp::kNan: return hetir::FCmp::nan;
    default: return std::nullopt;
  }
}

std::optional<Predicate> IntegerComparison(CompareOp op, bool is_signed) {
  switch (op) {
    case CompareOp::kEq: return Predicate::eq;
    case CompareOp::kNe: return Predicate::ne;
    case CompareOp::kLt: return is_signed ? Predicate::slt : Predicate::ult;
    case CompareOp::kLe: return is_signed ? Predicate::sle : Predicate::ule;
    case CompareOp::kGt: return is_signed ? Predicate::sgt : Predicate::ugt;
    case CompareOp::kGe: return is_signed ? Predicate::sge : Predicate::uge;
    case CompareOp::kLo: return Predicate::ult;
    case CompareOp::kLs: return Predicate::ule;
    case CompareOp::kHi: return Predicate::ugt;
    case CompareOp::kHs: return Predicate::uge;
    default: return std::nullopt;
  }
}

// Of scalar values of `type`.
Value Compare(Lowering& l, Type type, Value a, Value b) {
  CompareOp op = l.mods().compare;
  if (IsFloatValue(type)) {
    if (auto predicate = FloatComparison(op)) {
      return l.Create<hetir::FCmpOp>(l.I1(), *predicate, a, b,
                                     l.Has(Flag::kFtz));
    }
  } else if (auto predicate = IntegerComparison(op, IsSigned(type))) {
    return l.Create<arith::CmpIOp>(*predicate, a, b);
  }
  l.Refuse("comparison does not apply to the type");
  return l.Zero(l.I1());
}

// `value` combined with the optional predicate operand by .and, .or, .xor.
Value Combine(Lowering& l, Value value, size_t operand) {
  if (l.num_operands() <= operand) return value;
  Value other = l.ReadPredicate(l.operand(operand));
  switch (l.mods().operation) {
    case Operation::kAnd: return l.Create<arith::AndIOp>(value, other);
    case Operation::kOr: return l.Create<arith::OrIOp>(value, other);
    case Operation::kXor: return l.Create<arith::XOrIOp>(value, other);
    default: l.Refuse("expected .and, .or or .xor"); return value;
  }
}

// One comparison, or of packed types that of the low and the high half.
Values CompareHalves(Lowering& l, Type type) {
  Value a = l.Read(1, type);
  Value b = l.Read(2, type);
  Type element = ElementOf(type);
  if (element == type) return {Compare(l, type, a, b)};
  Values results;
  for (unsigned half = 0; half < 2; ++half) {
    mlir::Type part = l.TypeOf(element);
    results.push_back(Compare(l, element, l.Extract(a, half, part),
                              l.Extract(b, half, part)));
  }
  return results;
}

// setp p|q: q is the negated comparison combined; of packed types the high
// half's comparison.
void LowerSetp(Lowering& l) {
  Values results = CompareHalves(l, l.mods().type());
  const Operand& target = l.operand(0);
  if (target.kind != OperandKind::kPair) {
    return l.Write(Combine(l, results[0], 3), Type::kPred);
  }
  Value q = results.size() == 2 ? results[1] : l.Not(results[0]);
  Value combined_p = Combine(l, results[0], 3);
  Value combined_q = Combine(l, q, 3);
  l.Write(l.child(target, 0), combined_p, Type::kPred);
  l.Write(l.child(target, 1), combined_q, Type::kPred);
}

// What set writes for true: 1.0 to floats, all ones to integers.
Value SetValue(Lowering& l, Value condition, Type type) {
  if (!IsFloatValue(type)) return l.Resize(condition, TypeBits(type), true);
  uint64_t one = type == Type::kF32    ? 0x3f800000
                 : type == Type::kF16  ? 0x3c00
                                       : 0x3f80;
  mlir::Type result = l.TypeOf(type);
  return l.Select(condition, l.Constant(result, one), l.Zero(result));
}

// set.eq.f16x2.f16x2 gives two halves; set.eq.u32.f16x2 two 16-bit masks.
void LowerSet(Lowering& l) {
  Type target = l.mods().type(0);
  Values results = CompareHalves(l, l.mods().type(1));
  Type element = ElementOf(target);
  if (results.size() == 2 && element == target) element = Type::kU16;
  Values parts;
  for (Value result : results) {
    parts.push_back(SetValue(l, Combine(l, result, 3), element));
  }
  l.Write(parts.size() == 2 ? l.Concat(parts) : parts[0], target);
}

void LowerSelp(Lowering& l) {
  Type type = l.mods().type();
  Value condition = l.ReadPredicate(l.operand(3));
  l.Write(l.Select(condition, l.Read(1, type), l.Read(2, type)), type);
}

// slct: a when c >= 0. -0.0 counts as zero, NaN as negative.
void LowerSlct(Lowering& l) {
  Type type = l.mods().type(0);
  Value a = l.Read(1, type);
  Value b = l.Read(2, type);
  Value c = l.Read(3, l.mods().type(1));
  Value zero = l.Zero(c.getType());
  Value condition;
  if (l.mods().type(1) == Type::kF32) {
    condition = l.Create<hetir::FCmpOp>(l.I1(), hetir::FCmp::ge, c, zero,
                                        l.Has(Flag::kFtz));
  } else {
    condition = l.Create<arith::CmpIOp>(Predicate::sge, c, zero);
  }
  l.Write(l.Select(condition, a, b), type);
}

constexpr LoweringRow kRows[] = {
    {Op::kSetp, Effect::kPure, LowerSetp},
    {Op::kSet, Effect::kPure, LowerSet},
    {Op::kSelp, Effect::kPure, LowerSelp},
    {Op::kSlct, Effect::kPure, LowerSlct},
};

}  // namespace

std::span<const LoweringRow> CompareRows() { return kRows; }

}  // namespace hetgpu::ptx
