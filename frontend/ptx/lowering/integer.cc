// Integer operations that exist on integers only.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

void LowerMul24(Lowering& l) {
  Type type = l.mods().type();
  Value product = l.Create<hetir::Mul24Op>(l.Read(1, type), l.Read(2, type),
                                           IsSigned(type),
                                           l.mods().mode == Mode::kHi);
  l.Write(product, type);
}

void LowerMad24(Lowering& l) {
  Type type = l.mods().type();
  Value product = l.Create<hetir::Mul24Op>(l.Read(1, type), l.Read(2, type),
                                           IsSigned(type),
                                           l.mods().mode == Mode::kHi);
  Value addend = l.Read(3, type);
  if (l.Has(Flag::kSat)) {
    return l.Write(l.Create<hetir::AddSatOp>(product, addend, true), type);
  }
  l.Write(l.Create<mlir::arith::AddIOp>(product, addend), type);
}

void LowerSad(Lowering& l) {
  Type type = l.mods().type();
  l.Write(l.Create<hetir::SadOp>(l.Read(1, type), l.Read(2, type),
                                 l.Read(3, type), IsSigned(type)),
          type);
}

void LowerPopc(Lowering& l) {
  l.Write(l.Create<hetir::PopcOp>(l.I32(), l.Read(1, l.mods().type())),
          Type::kU32);
}

void LowerClz(Lowering& l) {
  l.Write(l.Create<hetir::ClzOp>(l.I32(), l.Read(1, l.mods().type())),
          Type::kU32);
}

void LowerBfind(Lowering& l) {
  Type type = l.mods().type();
  l.Write(l.Create<hetir::BfindOp>(l.I32(), l.Read(1, type), IsSigned(type),
                                   l.Has(Flag::kShiftamt)),
          Type::kU32);
}

void LowerFns(Lowering& l) {
  l.Write(l.Create<hetir::FnsOp>(l.Read(1, Type::kB32), l.Read(2, Type::kB32),
                                 l.Read(3, Type::kS32)),
          Type::kB32);
}

void LowerBrev(Lowering& l) {
  Type type = l.mods().type();
  l.Write(l.Create<hetir::BrevOp>(l.Read(1, type)), type);
}

void LowerBfe(Lowering& l) {
  Type type = l.mods().type();
  l.Write(l.Create<hetir::BfeOp>(l.Read(1, type), l.Read(2, Type::kU32),
                                 l.Read(3, Type::kU32), IsSigned(type)),
          type);
}

void LowerBfi(Lowering& l) {
  Type type = l.mods().type();
  l.Write(l.Create<hetir::BfiOp>(l.Read(1, type), l.Read(2, type),
                                 l.Read(3, Type::kU32), l.Read(4, Type::kU32)),
          type);
}

void LowerBmsk(Lowering& l) {
  l.Write(l.Create<hetir::BmskOp>(l.Read(1, Type::kU32), l.Read(2, Type::kU32),
                                  l.mods().clamp == Clamp::kWrap),
          Type::kB32);
}

void LowerSzext(Lowering& l) {
  Type type = l.mods().type();
  l.Write(l.Create<hetir::SzextOp>(l.Read(1, type), l.Read(2, Type::kU32),
                                   IsSigned(type),
                                   l.mods().clamp == Clamp::kWrap),
          type);
}

void LowerDp4a(Lowering& l) {
  l.Write(l.Create<hetir::Dp4aOp>(l.Read(1, Type::kB32), l.Read(2, Type::kB32),
                                  l.Read(3, Type::kB32),
                                  IsSigned(l.mods().type(0)),
                                  IsSigned(l.mods().type(1))),
          Type::kB32);
}

void LowerDp2a(Lowering& l) {
  l.Write(l.Create<hetir::Dp2aOp>(l.Read(1, Type::kB32), l.Read(2, Type::kB32),
                                  l.Read(3, Type::kB32),
                                  IsSigned(l.mods().type(0)),
                                  IsSigned(l.mods().type(1)),
                                  l.mods().mode == Mode::kHi),
          Type::kB32);
}

constexpr LoweringRow kRows[] = {
    {Op::kMul24, Effect::kPure, LowerMul24},
    {Op::kMad24, Effect::kPure, LowerMad24},
    {Op::kSad, Effect::kPure, LowerSad},
    {Op::kPopc, Effect::kPure, LowerPopc},
    {Op::kClz, Effect::kPure, LowerClz},
    {Op::kBfind, Effect::kPure, LowerBfind},
    {Op::kFns, Effect::kPure, LowerFns},
    {Op::kBrev, Effect::kPure, LowerBrev},
    {Op::kBfe, Effect::kPure, LowerBfe},
    {Op::kBfi, Effect::kPure, LowerBfi},
    {Op::kBmsk, Effect::kPure, LowerBmsk},
    {Op::kSzext, Effect::kPure, LowerSzext},
    {Op::kDp4a, Effect::kPure, LowerDp4a},
    {Op::kDp2a, Effect::kPure, LowerDp2a},
};

}  // namespace

std::span<const LoweringRow> IntegerRows() { return kRows; }

}  // namespace hetgpu::ptx
