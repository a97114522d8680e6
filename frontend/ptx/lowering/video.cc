// Video instructions: arithmetic on words, or on halves or bytes of a word side
// by side, wide enough that nothing wraps, then clamped and combined with a
// third operand. Selectors of parts (`.b0`, `.h10`) are no part of the grammar.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;
using Predicate = arith::CmpIPredicate;

enum class Kind { kAdd, kSub, kAverage, kAbsdiff, kMin, kMax, kSet, kShl, kShr };

Kind KindOf(Op op) {
  switch (op) {
    case Op::kVsub: case Op::kVsub2: case Op::kVsub4: return Kind::kSub;
    case Op::kVavrg2: case Op::kVavrg4: return Kind::kAverage;
    case Op::kVabsdiff: case Op::kVabsdiff2: case Op::kVabsdiff4:
      return Kind::kAbsdiff;
    case Op::kVmin: case Op::kVmin2: case Op::kVmin4: return Kind::kMin;
    case Op::kVmax: case Op::kVmax2: case Op::kVmax4: return Kind::kMax;
    case Op::kVset: case Op::kVset2: case Op::kVset4: return Kind::kSet;
    case Op::kVshl: return Kind::kShl;
    case Op::kVshr: return Kind::kShr;
    default: return Kind::kAdd;
  }
}

// As the types stand in the text; comparisons name none of the result, whose
// third operand hardware takes as signed where one of those compared is.
struct Types {
  Type d = Type::kU32, a = Type::kU32, b = Type::kU32;
};

Types TypesOf(Lowering& l) {
  const Modifiers& mods = l.mods();
  if (KindOf(l.inst().op()) == Kind::kSet) {
    const bool is_signed = IsSigned(mods.type(0)) || IsSigned(mods.type(1));
    return {is_signed ? Type::kS32 : Type::kU32, mods.type(0), mods.type(1)};
  }
  return {mods.type(0), mods.type(1), mods.type(2)};
}

Value Number(Lowering& l, Value like, int64_t number) {
  return l.Constant(like.getType(), static_cast<uint64_t>(number));
}

Value Compare(Lowering& l, Value a, Value b) {
  Predicate predicate = Predicate::eq;
  switch (l.mods().compare) {
    case CompareOp::kEq: break;
    case CompareOp::kNe: predicate = Predicate::ne; break;
    case CompareOp::kLt: predicate = Predicate::slt; break;
    case CompareOp::kLe: predicate = Predicate::sle; break;
    case CompareOp::kGt: predicate = Predicate::sgt; break;
    case CompareOp::kGe: predicate = Predicate::sge; break;
    default: l.Refuse("comparison does not apply to integers");
  }
  return l.Create<arith::ExtUIOp>(a.getType(),
                                  l.Create<arith::CmpIOp>(predicate, a, b));
}

// Half of the sum, halves rounded up.
Value Average(Lowering& l, Value a, Value b) {
  Value sum = l.Create<arith::AddIOp>(a, b);
  Value up = l.Create<arith::CmpIOp>(Predicate::sge, sum, Number(l, sum, 0));
  sum = l.Create<arith::AddIOp>(
      sum, l.Create<arith::ExtUIOp>(sum.getType(), up));
  return l.Create<arith::ShRSIOp>(sum, Number(l, sum, 1));
}

Value ShiftAmount(Lowering& l, Value b) {
  if (l.mods().clamp == Clamp::kWrap) {
    return l.Create<arith::AndIOp>(b, Number(l, b, 31));
  }
  return l.Create<arith::MinSIOp>(b, Number(l, b, 32));
}

// Of operands so wide that the result is exact.
Value Compute(Lowering& l, Value a, Value b) {
  switch (KindOf(l.inst().op())) {
    case Kind::kAdd: return l.Create<arith::AddIOp>(a, b);
    case Kind::kSub: return l.Create<arith::SubIOp>(a, b);
    case Kind::kAverage: return Average(l, a, b);
    case Kind::kAbsdiff:
      return l.Create<arith::SubIOp>(l.Create<arith::MaxSIOp>(a, b),
                                     l.Create<arith::MinSIOp>(a, b));
    case Kind::kMin: return l.Create<arith::MinSIOp>(a, b);
    case Kind::kMax: return l.Create<arith::MaxSIOp>(a, b);
    case Kind::kSet: return Compare(l, a, b);
    case Kind::kShl: return l.Create<arith::ShLIOp>(a, ShiftAmount(l, b));
    case Kind::kShr: return l.Create<arith::ShRSIOp>(a, ShiftAmount(l, b));
  }
  return a;
}

// To what `bits` bits hold.
Value ClampTo(Lowering& l, Value value, unsigned bits, bool is_signed) {
  const int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t high = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  value = l.Create<arith::MaxSIOp>(value, Number(l, value, low));
  return l.Create<arith::MinSIOp>(value, Number(l, value, high));
}

Value Accumulate(Lowering& l, Value value, Value c) {
  switch (l.mods().operation) {
    case Operation::kMin: return l.Create<arith::MinSIOp>(value, c);
    case Operation::kMax: return l.Create<arith::MaxSIOp>(value, c);
    default: return l.Create<arith::AddIOp>(value, c);
  }
}

// Operand `i` as a number of 64 bits.
Value ReadWide(Lowering& l, size_t i, bool is_signed) {
  return l.Resize(l.Read(i, Type::kB32), 64, is_signed);
}

void LowerScalar(Lowering& l) {
  const Types types = TypesOf(l);
  Value value = Compute(l, ReadWide(l, 1, IsSigned(types.a)),
                        ReadWide(l, 2, IsSigned(types.b)));
  if (l.Has(Flag::kSat)) value = ClampTo(l, value, 32, IsSigned(types.d));
  if (l.num_operands() == 4) {
    // As hardware does it: c is compared with all bits of the result.
    value = Accumulate(l, value, ReadWide(l, 3, IsSigned(types.d)));
  }
  l.Write(l.Resize(value, 32, false), Type::kB32);
}

// a * b + c, shifted right; no intermediate result needs more than 64 bits.
void LowerVmad(Lowering& l) {
  const Types types = TypesOf(l);
  const bool is_signed = IsSigned(types.a) || IsSigned(types.b);
  Value value = l.Create<arith::MulIOp>(ReadWide(l, 1, IsSigned(types.a)),
                                        ReadWide(l, 2, IsSigned(types.b)));
  value = l.Create<arith::AddIOp>(value, ReadWide(l, 3, is_signed));
  const std::string_view text = l.inst().opcode->text;
  const int shift = text.ends_with(".shr7") ? 7 : text.ends_with(".shr15") ? 15
                                                                           : 0;
  if (is_signed) {
    value = l.Create<arith::ShRSIOp>(value, Number(l, value, shift));
    if (l.Has(Flag::kSat)) value = ClampTo(l, value, 32, true);
  } else {
    value = l.Create<arith::ShRUIOp>(value, Number(l, value, shift));
    if (l.Has(Flag::kSat)) {
      value = l.Create<arith::MinUIOp>(value, Number(l, value, UINT32_MAX));
    }
  }
  l.Write(l.Resize(value, 32, false), Type::kB32);
}

// Part `i` of `bits` bits of a word, as a number of 32 bits.
Value Part(Lowering& l, Value word, unsigned i, unsigned bits,
           bool is_signed) {
  word = l.Create<arith::ShLIOp>(word, Number(l, word, 32 - bits * (i + 1)));
  Value back = Number(l, word, 32 - bits);
  if (is_signed) return l.Create<arith::ShRSIOp>(word, back);
  return l.Create<arith::ShRUIOp>(word, back);
}

// The low `bits` bits of a number as part `i` of a word.
Value Placed(Lowering& l, Value number, unsigned i, unsigned bits) {
  number = l.Create<arith::AndIOp>(
      number, Number(l, number, (int64_t{1} << bits) - 1));
  return l.Create<arith::ShLIOp>(number, Number(l, number, bits * i));
}

void LowerParts(Lowering& l, unsigned bits) {
  const Types types = TypesOf(l);
  const bool accumulates = l.mods().operation == Operation::kAdd;
  Value a = l.Read(1, Type::kB32);
  Value b = l.Read(2, Type::kB32);
  // Merged into the parts of c that no part of the result replaces: none.
  Value result = accumulates ? l.Read(3, Type::kB32) : l.ConstantInt(32, 0);
  for (unsigned i = 0; i < 32 / bits; ++i) {
    Value part = Compute(l, Part(l, a, i, bits, IsSigned(types.a)),
                         Part(l, b, i, bits, IsSigned(types.b)));
    if (l.Has(Flag::kSat)) part = ClampTo(l, part, bits, IsSigned(types.d));
    result = accumulates
                 ? Value(l.Create<arith::AddIOp>(result, part))
                 : Value(l.Create<arith::OrIOp>(result,
                                                Placed(l, part, i, bits)));
  }
  l.Write(result, Type::kB32);
}

void LowerHalves(Lowering& l) { LowerParts(l, 16); }
void LowerBytes(Lowering& l) { LowerParts(l, 8); }

constexpr LoweringRow kRows[] = {
    {Op::kVadd, Effect::kPure, LowerScalar},
    {Op::kVsub, Effect::kPure, LowerScalar},
    {Op::kVabsdiff, Effect::kPure, LowerScalar},
    {Op::kVmin, Effect::kPure, LowerScalar},
    {Op::kVmax, Effect::kPure, LowerScalar},
    {Op::kVshl, Effect::kPure, LowerScalar},
    {Op::kVshr, Effect::kPure, LowerScalar},
    {Op::kVset, Effect::kPure, LowerScalar},
    {Op::kVmad, Effect::kPure, LowerVmad},
    {Op::kVadd2, Effect::kPure, LowerHalves},
    {Op::kVsub2, Effect::kPure, LowerHalves},
    {Op::kVavrg2, Effect::kPure, LowerHalves},
    {Op::kVabsdiff2, Effect::kPure, LowerHalves},
    {Op::kVmin2, Effect::kPure, LowerHalves},
    {Op::kVmax2, Effect::kPure, LowerHalves},
    {Op::kVset2, Effect::kPure, LowerHalves},
    {Op::kVadd4, Effect::kPure, LowerBytes},
    {Op::kVsub4, Effect::kPure, LowerBytes},
    {Op::kVavrg4, Effect::kPure, LowerBytes},
    {Op::kVabsdiff4, Effect::kPure, LowerBytes},
    {Op::kVmin4, Effect::kPure, LowerBytes},
    {Op::kVmax4, Effect::kPure, LowerBytes},
    {Op::kVset4, Effect::kPure, LowerBytes},
};

}  // namespace

std::span<const LoweringRow> VideoRows() { return kRows; }

}  // namespace hetgpu::ptx
