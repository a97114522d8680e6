// cvt and cvt.pack.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/small_floats.h"
#include "frontend/ptx/lowering/table.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;

bool IsNumber(Type type) { return IsInteger(type) || IsFloatValue(type); }

bool Widens(Type from, Type to) { return TypeBits(from) <= TypeBits(to); }

// Every value of an unsigned or equally signed narrower type fits.
bool SaturationIsVoid(Type from, Type to) {
  if (IsSigned(from) != IsSigned(to)) {
    return IsSigned(to) && TypeBits(from) < TypeBits(to);
  }
  return Widens(from, to);
}

Value ConvertInteger(Lowering& l, Value value, Type from, Type to) {
  if (l.Has(Flag::kSat) && !SaturationIsVoid(from, to)) {
    return l.Create<hetir::CvtOp>(l.TypeOf(to), value, hetir::Rounding::rn,
                                  false, true, false, IsSigned(from),
                                  IsSigned(to));
  }
  return l.Resize(value, TypeBits(to), IsSigned(from));
}

Value ConvertNumber(Lowering& l, Value value, Type from, Type to) {
  if (IsInteger(from) && IsInteger(to)) {
    return ConvertInteger(l, value, from, to);
  }
  hetir::Rounding rounding = RoundingOf(l.mods());
  bool sat = l.Has(Flag::kSat);
  // Between f16 and f32, .ftz changes nothing on NVIDIA's devices.
  bool ftz = l.Has(Flag::kFtz) && from != Type::kF16 && to != Type::kF16;
  // Without rounding, saturation or flushing a float stays what it is.
  bool identity = from == to && l.mods().rounding == Rounding::kNone && !sat &&
                  !ftz;
  if (identity) return value;
  return l.Create<hetir::CvtOp>(l.TypeOf(to), value, rounding, ftz, sat,
                                l.Has(Flag::kRelu),
                                IsSigned(from), IsSigned(to));
}

bool IsFloat8(Type type) { return type == Type::kE4m3 || type == Type::kE5m2; }

// The halves of a packed type that only conversions know.
Type HalfOf(Type type) {
  if (type == Type::kE4m3x2) return Type::kE4m3;
  if (type == Type::kE5m2x2) return Type::kE5m2;
  return ElementOf(type);
}

// One scalar; refuses what has no definition here.
Value ConvertScalar(Lowering& l, Value value, Type from, Type to) {
  if (IsFloat8(from) && to == Type::kF16) {
    Value result = FromFloat8(l, value, from);
    if (!l.Has(Flag::kRelu)) return result;
    return l.Create<hetir::FMaxOp>(result, l.Zero(result.getType()), false,
                                   true, false);
  }
  if (IsFloat8(to) && from == Type::kF16) {
    value = l.Create<hetir::CvtOp>(l.TypeOf(Type::kF32), value);
    from = Type::kF32;
  }
  if (IsFloat8(to) && from == Type::kF32) return ToFloat8(l, value, to);
  if (to == Type::kTf32 && from == Type::kF32) return ToTf32(l, value);
  if (!IsNumber(to) || !IsNumber(from)) {
    l.Refuse(Cat("no conversion from ", TypeName(from), " to ", TypeName(to)));
    return l.Zero(l.TypeOf(to));
  }
  Value result = ConvertNumber(l, value, from, to);
  return l.Has(Flag::kSatfinite) ? SaturateToFinite(l, result) : result;
}

// d, a, b: a becomes the high half.
void ConvertPair(Lowering& l, Type from, Type to) {
  Value low = ConvertScalar(l, l.Read(2, from), from, HalfOf(to));
  Value high = ConvertScalar(l, l.Read(1, from), from, HalfOf(to));
  l.Write(l.Concat({low, high}), to);
}

void ConvertHalves(Lowering& l, Type from, Type to) {
  Value packed = l.Read(1, from);
  Values halves;
  for (unsigned i = 0; i < 2; ++i) {
    Value half = l.Extract(packed, i, l.TypeOf(HalfOf(from)));
    halves.push_back(ConvertScalar(l, half, HalfOf(from), HalfOf(to)));
  }
  l.Write(l.Concat(halves), to);
}

void LowerCvt(Lowering& l) {
  Type to = l.mods().type(0);
  Type from = l.mods().type(1);
  if (l.mods().rounding == Rounding::kRs) return l.Refuse("modifier '.rs'");
  bool packed = HalfOf(to) != to;
  if (packed && HalfOf(from) != from) return ConvertHalves(l, from, to);
  if (packed && l.num_operands() == 3) return ConvertPair(l, from, to);
  l.Write(ConvertScalar(l, l.Read(1, from), from, to), to);
}

// A 32-bit value clamped to a signed or unsigned range of `bits`.
Value ClampTo(Lowering& l, Value value, unsigned bits, bool is_signed) {
  int64_t low = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  int64_t high = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  Value above = l.Create<arith::MaxSIOp>(
      value, l.ConstantInt(32, static_cast<uint64_t>(low)));
  return l.Create<arith::MinSIOp>(
      above, l.ConstantInt(32, static_cast<uint64_t>(high)));
}

// cvt.pack.sat.T.s32 d, a, b, c: {a, b} clamped to T; above them the low bits
// of c.
void LowerCvtPack(Lowering& l) {
  Type to = l.mods().type(0);
  unsigned bits = TypeBits(to);
  uint64_t mask = (uint64_t{1} << bits) - 1;
  auto piece = [&](size_t operand, unsigned shift) -> Value {
    Value clamped =
        ClampTo(l, l.Read(operand, Type::kS32), bits, IsSigned(to));
    Value field = l.Create<arith::AndIOp>(clamped, l.ConstantInt(32, mask));
    return l.Create<arith::ShLIOp>(field, l.ConstantInt(32, shift));
  };
  Value packed = l.Create<arith::OrIOp>(piece(2, 0), piece(1, bits));
  if (l.num_operands() == 4) {
    Value rest = l.Create<arith::ShLIOp>(l.Read(3, Type::kB32),
                                         l.ConstantInt(32, 2 * bits));
    packed = l.Create<arith::OrIOp>(packed, rest);
  }
  l.Write(packed, Type::kB32);
}

constexpr LoweringRow kRows[] = {
    {Op::kCvt, Effect::kPure, LowerCvt},
    {Op::kCvtPack, Effect::kPure, LowerCvtPack},
};

}  // namespace

std::span<const LoweringRow> ConvertRows() { return kRows; }

}  // namespace hetgpu::ptx
