// Bitwise logic, shifts, byte permutation.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;

template <typename Op>
void LowerBitwise(Lowering& l) {
  Type type = l.mods().type();
  l.Write(l.Create<Op>(l.Read(1, type), l.Read(2, type)), type);
}

void LowerNot(Lowering& l) {
  Type type = l.mods().type();
  l.Write(l.Not(l.Read(1, type)), type);
}

void LowerCnot(Lowering& l) {
  Type type = l.mods().type();
  Value a = l.Read(1, type);
  Value is_zero = l.Create<arith::CmpIOp>(arith::CmpIPredicate::eq, a,
                                          l.Zero(a.getType()));
  l.Write(l.Resize(is_zero, TypeBits(type), false), type);
}

// lop3.or.b32 d|p, a, b, c, lut, q: p is (d != 0) or q.
void LowerLop3(Lowering& l) {
  uint32_t lut = static_cast<uint32_t>(l.ReadConstant(l.operand(4))) & 0xff;
  Value result = l.Create<hetir::Lop3Op>(l.Read(1, Type::kB32),
                                         l.Read(2, Type::kB32),
                                         l.Read(3, Type::kB32), lut);
  if (l.operand(0).kind != OperandKind::kPair) {
    return l.Write(result, Type::kB32);
  }
  Value nonzero = l.Create<arith::CmpIOp>(arith::CmpIPredicate::ne, result,
                                          l.ConstantInt(32, 0));
  Value q = l.ReadPredicate(l.operand(5));
  Value p = l.mods().operation == Operation::kAnd
                ? Value(l.Create<arith::AndIOp>(nonzero, q))
                : Value(l.Create<arith::OrIOp>(nonzero, q));
  l.Write(l.child(l.operand(0), 0), result, Type::kB32);
  l.Write(l.child(l.operand(0), 1), p, Type::kPred);
}

void LowerShl(Lowering& l) {
  Type type = l.mods().type();
  l.Write(l.Create<hetir::ShlOp>(l.Read(1, type), l.Read(2, Type::kU32)), type);
}

void LowerShr(Lowering& l) {
  Type type = l.mods().type();
  Value a = l.Read(1, type);
  l.Write(l.Create<hetir::ShrOp>(a.getType(), a, l.Read(2, Type::kU32),
                                 IsSigned(type)),
          type);
}

void LowerShf(Lowering& l) {
  l.Write(l.Create<hetir::FunnelShiftOp>(
              l.Read(1, Type::kB32), l.Read(2, Type::kB32),
              l.Read(3, Type::kU32), l.mods().mode == Mode::kR,
              l.mods().clamp == Clamp::kWrap),
          Type::kB32);
}

hetir::PrmtMode PrmtModeOf(Mode mode) {
  switch (mode) {
    case Mode::kF4e: return hetir::PrmtMode::f4e;
    case Mode::kB4e: return hetir::PrmtMode::b4e;
    case Mode::kRc8: return hetir::PrmtMode::rc8;
    case Mode::kEcl: return hetir::PrmtMode::ecl;
    case Mode::kEcr: return hetir::PrmtMode::ecr;
    case Mode::kRc16: return hetir::PrmtMode::rc16;
    default: return hetir::PrmtMode::index;
  }
}

void LowerPrmt(Lowering& l) {
  l.Write(l.Create<hetir::PrmtOp>(l.Read(1, Type::kB32), l.Read(2, Type::kB32),
                                  l.Read(3, Type::kB32),
                                  PrmtModeOf(l.mods().mode)),
          Type::kB32);
}

constexpr LoweringRow kRows[] = {
    {Op::kAnd, Effect::kPure, LowerBitwise<arith::AndIOp>},
    {Op::kOr, Effect::kPure, LowerBitwise<arith::OrIOp>},
    {Op::kXor, Effect::kPure, LowerBitwise<arith::XOrIOp>},
    {Op::kNot, Effect::kPure, LowerNot},
    {Op::kCnot, Effect::kPure, LowerCnot},
    {Op::kLop3, Effect::kPure, LowerLop3},
    {Op::kShl, Effect::kPure, LowerShl},
    {Op::kShr, Effect::kPure, LowerShr},
    {Op::kShf, Effect::kPure, LowerShf},
    {Op::kPrmt, Effect::kPure, LowerPrmt},
};

}  // namespace

std::span<const LoweringRow> LogicRows() { return kRows; }

}  // namespace hetgpu::ptx
