// Operations that exist on integers and floats: add, sub, mul, mad, div, min,
// max, abs, neg.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;

bool OnFloats(const Lowering& l) {
  return IsFloatValue(ElementOf(l.mods().type()));
}

bool SignedType(const Lowering& l) {
  return IsSigned(ElementOf(l.mods().type()));
}

// `add.f32.f16 d, a, b`: only the last operand has the type of the result.
bool MixedFloats(Lowering& l) {
  if (l.mods().num_types < 2) return false;
  l.Refuse("mixed float types");
  return true;
}

template <typename Op>
void FloatBinary(Lowering& l) {
  if (MixedFloats(l)) return;
  l.MapOperands(l.mods().type(), 2, [&l](const Values& in) -> Value {
    return l.Create<Op>(in[0], in[1], RoundingOf(l.mods()), l.Has(Flag::kFtz),
                        l.Has(Flag::kSat));
  });
}

// The flag of PTX is a carry; after a subtraction it is set when there was no
// borrow (a + ~b + 1), which code that mixes sub.cc with addc relies on.
template <typename Carrying>
Value FlagFromCarry(Lowering& l, Value carry) {
  if (!std::is_same_v<Carrying, hetir::SubBorrowOp>) return carry;
  return l.Create<arith::XOrIOp>(carry, l.ConstantInt(1, 1));
}

template <typename Plain, typename Saturating, typename Carrying>
void AddOrSub(Lowering& l) {
  Type type = l.mods().type();
  if (l.Has(Flag::kCc)) {
    auto op = l.Create<Carrying>(l.Read(1, type), l.Read(2, type),
                                 l.ConstantInt(1, 0));
    l.WriteCarry(FlagFromCarry<Carrying>(l, op.getCarryOut()));
    return l.Write(op.getResult(), type);
  }
  l.MapOperands(type, 2, [&l](const Values& in) -> Value {
    if (l.Has(Flag::kSat)) {
      return l.Create<Saturating>(in[0], in[1], SignedType(l));
    }
    return l.Create<Plain>(in[0], in[1]);
  });
}

void LowerAdd(Lowering& l) {
  if (OnFloats(l)) return FloatBinary<hetir::FAddOp>(l);
  AddOrSub<arith::AddIOp, hetir::AddSatOp, hetir::AddCarryOp>(l);
}

void LowerSub(Lowering& l) {
  if (OnFloats(l)) return FloatBinary<hetir::FSubOp>(l);
  AddOrSub<arith::SubIOp, hetir::SubSatOp, hetir::SubBorrowOp>(l);
}

template <typename Carrying>
void WithCarryIn(Lowering& l) {
  Type type = l.mods().type();
  auto op = l.Create<Carrying>(l.Read(1, type), l.Read(2, type),
                               FlagFromCarry<Carrying>(l, l.ReadCarry()));
  if (l.Has(Flag::kCc)) {
    l.WriteCarry(FlagFromCarry<Carrying>(l, op.getCarryOut()));
  }
  l.Write(op.getResult(), type);
}

Type Widened(Type type) {
  switch (type) {
    case Type::kU16: return Type::kU32;
    case Type::kS16: return Type::kS32;
    case Type::kU32: return Type::kU64;
    default: return Type::kS64;
  }
}

// Operands 1 and 2, by .lo, .hi or .wide.
Value IntegerProduct(Lowering& l) {
  Type type = l.mods().type();
  Value a = l.Read(1, type);
  Value b = l.Read(2, type);
  if (l.mods().mode == Mode::kHi) {
    return l.Create<hetir::MulHiOp>(a, b, IsSigned(type));
  }
  if (l.mods().mode == Mode::kWide) {
    unsigned bits = TypeBits(Widened(type));
    a = l.Resize(a, bits, IsSigned(type));
    b = l.Resize(b, bits, IsSigned(type));
  }
  return l.Create<arith::MulIOp>(a, b);
}

Type ProductType(const Lowering& l) {
  Type type = l.mods().type();
  return l.mods().mode == Mode::kWide ? Widened(type) : type;
}

void LowerMul(Lowering& l) {
  if (OnFloats(l)) return FloatBinary<hetir::FMulOp>(l);
  l.Write(IntegerProduct(l), ProductType(l));
}

void LowerFma(Lowering& l) {
  if (MixedFloats(l)) return;
  if (l.inst().opcode->text.find(".oob") != std::string_view::npos) {
    return l.Refuse("modifier '.oob'");
  }
  l.MapOperands(l.mods().type(), 3, [&l](const Values& in) -> Value {
    return l.Create<hetir::FFmaOp>(in[0], in[1], in[2], RoundingOf(l.mods()),
                                   l.Has(Flag::kFtz), l.Has(Flag::kSat),
                                   l.Has(Flag::kRelu));
  });
}

void LowerMad(Lowering& l) {
  if (OnFloats(l)) return LowerFma(l);
  Type type = ProductType(l);
  Value product = IntegerProduct(l);
  Value addend = l.Read(3, type);
  if (l.Has(Flag::kCc)) {
    auto op = l.Create<hetir::AddCarryOp>(product, addend, l.ConstantInt(1, 0));
    l.WriteCarry(op.getCarryOut());
    return l.Write(op.getResult(), type);
  }
  if (l.Has(Flag::kSat)) {
    return l.Write(l.Create<hetir::AddSatOp>(product, addend, true), type);
  }
  l.Write(l.Create<arith::AddIOp>(product, addend), type);
}

void LowerMadc(Lowering& l) {
  Type type = l.mods().type();
  Value product = IntegerProduct(l);
  auto op =
      l.Create<hetir::AddCarryOp>(product, l.Read(3, type), l.ReadCarry());
  if (l.Has(Flag::kCc)) l.WriteCarry(op.getCarryOut());
  l.Write(op.getResult(), type);
}

void LowerDiv(Lowering& l) {
  Type type = l.mods().type();
  l.MapOperands(type, 2, [&](const Values& in) -> Value {
    if (OnFloats(l)) {
      return l.Create<hetir::FDivOp>(in[0], in[1], RoundingOf(l.mods()),
                                     l.Has(Flag::kFtz), false);
    }
    return l.Create<hetir::DivOp>(in[0], in[1], IsSigned(type));
  });
}

void LowerRem(Lowering& l) {
  Type type = l.mods().type();
  l.MapOperands(type, 2, [&](const Values& in) -> Value {
    return l.Create<hetir::RemOp>(in[0], in[1], IsSigned(type));
  });
}

template <typename FloatOp, typename SignedOp, typename UnsignedOp>
void MinMax(Lowering& l) {
  bool absolute = l.Has(Flag::kAbs) && !l.Has(Flag::kXorsign);
  if (absolute) return l.Refuse("modifier '.abs' without '.xorsign'");
  size_t count = l.num_operands() - 1;
  auto pick = [&l](Value a, Value b) -> Value {
    if (OnFloats(l)) {
      return l.Create<FloatOp>(a, b, l.Has(Flag::kFtz), l.Has(Flag::kNaN),
                               l.Has(Flag::kXorsign));
    }
    if (SignedType(l)) return l.Create<SignedOp>(a, b);
    return l.Create<UnsignedOp>(a, b);
  };
  l.MapOperands(l.mods().type(), count, [&](const Values& in) -> Value {
    Value result = in[0];
    for (size_t i = 1; i < in.size(); ++i) result = pick(result, in[i]);
    if (!l.Has(Flag::kRelu)) return result;
    return l.Create<arith::MaxSIOp>(result, l.Zero(result.getType()));
  });
}

void LowerMin(Lowering& l) {
  MinMax<hetir::FMinOp, arith::MinSIOp, arith::MinUIOp>(l);
}

void LowerMax(Lowering& l) {
  MinMax<hetir::FMaxOp, arith::MaxSIOp, arith::MaxUIOp>(l);
}

void LowerAbs(Lowering& l) {
  l.MapOperands(l.mods().type(), 1, [&l](const Values& in) -> Value {
    if (OnFloats(l)) {
      return l.Create<hetir::FAbsOp>(in[0], l.Has(Flag::kFtz));
    }
    return l.Create<hetir::AbsOp>(in[0]);
  });
}

void LowerNeg(Lowering& l) {
  l.MapOperands(l.mods().type(), 1, [&l](const Values& in) -> Value {
    if (OnFloats(l)) {
      return l.Create<hetir::FNegOp>(in[0], l.Has(Flag::kFtz));
    }
    return l.Create<arith::SubIOp>(l.Zero(in[0].getType()), in[0]);
  });
}

constexpr LoweringRow kRows[] = {
    {Op::kAdd, Effect::kPure, LowerAdd},
    {Op::kAddc, Effect::kPure, WithCarryIn<hetir::AddCarryOp>},
    {Op::kSub, Effect::kPure, LowerSub},
    {Op::kSubc, Effect::kPure, WithCarryIn<hetir::SubBorrowOp>},
    {Op::kMul, Effect::kPure, LowerMul},
    {Op::kMad, Effect::kPure, LowerMad},
    {Op::kMadc, Effect::kPure, LowerMadc},
    {Op::kFma, Effect::kPure, LowerFma},
    {Op::kDiv, Effect::kPure, LowerDiv},
    {Op::kRem, Effect::kPure, LowerRem},
    {Op::kMin, Effect::kPure, LowerMin},
    {Op::kMax, Effect::kPure, LowerMax},
    {Op::kAbs, Effect::kPure, LowerAbs},
    {Op::kNeg, Effect::kPure, LowerNeg},
};

}  // namespace

std::span<const LoweringRow> ArithmeticRows() { return kRows; }

}  // namespace hetgpu::ptx
