// cvt and cvt.pack.
#include "frontend/ptx/lowering/context.h"
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

// tf32 is f32 with the low 13 bits of the fraction rounded away.
void ToTf32(Lowering& l) {
  if (l.mods().rounding != Rounding::kRna || l.Has(Flag::kSatfinite)) {
    return l.Refuse("rounding to tf32 other than .rna");
  }
  Value bits = l.Read(1, Type::kB32);
  Value magnitude =
      l.Create<arith::AndIOp>(bits, l.ConstantInt(32, 0x7fffffff));
  Value finite = l.Create<arith::CmpIOp>(arith::CmpIPredicate::ult, magnitude,
                                         l.ConstantInt(32, 0x7f800000));
  Value carried = l.Create<arith::AddIOp>(bits, l.ConstantInt(32, 0x1000));
  // NVIDIA's devices cut NaN like numbers: one whose payload lies in the low
  // bits becomes infinity.
  Value rounded = l.Select(finite, carried, bits);
  l.Write(l.Create<arith::AndIOp>(rounded, l.ConstantInt(32, 0xffffe000)),
          Type::kB32);
}

// cvt.rn.f16x2.f32 d, a, b: a becomes the high half.
void ToPackedPair(Lowering& l, Type to, Type from) {
  Type element = ElementOf(to);
  Value low = ConvertNumber(l, l.Read(2, from), from, element);
  Value high = ConvertNumber(l, l.Read(1, from), from, element);
  l.Write(l.Concat({low, high}), to);
}

void LowerCvt(Lowering& l) {
  Type to = l.mods().type(0);
  Type from = l.mods().type(1);
  if (l.mods().rounding == Rounding::kRs) return l.Refuse("modifier '.rs'");
  if (to == Type::kTf32) return ToTf32(l);
  if (l.Has(Flag::kSatfinite)) return l.Refuse("modifier '.satfinite'");
  bool pair = (to == Type::kF16x2 || to == Type::kBf16x2) &&
              from == Type::kF32 && l.num_operands() == 3;
  if (pair) return ToPackedPair(l, to, from);
  if (!IsNumber(to) || !IsNumber(from)) {
    return l.Refuse(Cat("no conversion from ", TypeName(from), " to ",
                        TypeName(to)));
  }
  l.Write(ConvertNumber(l, l.Read(1, from), from, to), to);
}

// cvt.pack.sat.T.s32 d, a, b, c: {a, b} saturated to T; the rest from the low
// bits of c.
void LowerCvtPack(Lowering& l) {
  Type to = l.mods().type(0);
  unsigned bits = TypeBits(to);
  if (bits < 8) return l.Refuse("packing of less than 8 bits");
  auto saturated = [&](size_t i) -> Value {
    return l.Create<hetir::CvtOp>(l.TypeOf(to), l.Read(i, Type::kS32),
                                  hetir::Rounding::rn, false, true, false, true,
                                  IsSigned(to));
  };
  Value high = saturated(1);
  Value low = saturated(2);
  Value packed = l.Resize(l.Concat({low, high}), 32, false);
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
