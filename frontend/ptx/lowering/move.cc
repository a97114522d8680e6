// mov, address conversions, isspacep.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

void LowerMov(Lowering& l) {
  Type type = l.mods().type();
  l.Write(l.Read(1, type), type);
}

// cvta.space d, a: generic address of a; cvta.to.space d, a: the reverse.
void LowerCvta(Lowering& l) {
  Type type = l.mods().type();
  hetir::Space space = l.SpaceOf(l.mods().space);
  const Operand& source = l.operand(1);
  if (l.Has(Flag::kTo)) {
    Value generic = l.Resize(l.Read(source, type), 64, false);
    return l.Write(l.Create<hetir::FromGenericOp>(l.TypeOf(type), space,
                                                  generic),
                   type);
  }
  if (source.kind == OperandKind::kSymbol) space = l.SpaceOfSymbol(source);
  Value generic = l.Create<hetir::ToGenericOp>(l.I64(), space,
                                               l.Read(source, type));
  l.Write(l.Resize(generic, TypeBits(type), false), type);
}

void LowerIsspacep(Lowering& l) {
  hetir::Space space = l.SpaceOf(l.mods().space);
  Value address = l.Read(1, Type::kB64);
  l.Write(l.Create<hetir::IsSpaceOp>(l.I1(), space, address), Type::kPred);
}

constexpr LoweringRow kRows[] = {
    {Op::kMov, Effect::kPure, LowerMov},
    {Op::kCvta, Effect::kPure, LowerCvta},
    {Op::kIsspacep, Effect::kPure, LowerIsspacep},
};

}  // namespace

std::span<const LoweringRow> MoveRows() { return kRows; }

}  // namespace hetgpu::ptx
