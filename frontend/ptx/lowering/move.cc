// mov, address conversions, isspacep.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"

namespace hetgpu::ptx {
namespace {

namespace arith = mlir::arith;

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

// Adds to `found` whether `address` lies in one of the `.const` variables.
Value InConstants(Lowering& l, const std::vector<Variable>& variables,
                  uint32_t function, Value address, Value found) {
  for (uint32_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    if (variable.space != StateSpace::kConst) continue;
    uint64_t offset = l.program().DataOffset({function, i});
    if (offset == kNoOffset) continue;
    Value start = l.Create<hetir::DataAddressOp>(
        l.I64(), llvm::StringRef(variable.name), offset,
        hetir::Space::constant, mlir::DenseI64ArrayAttr());
    Value inside = l.Create<arith::CmpIOp>(
        arith::CmpIPredicate::ult,
        l.Create<arith::SubIOp>(address, start),
        l.ConstantInt(64, variable.size));
    found = l.Create<arith::OrIOp>(found, inside);
  }
  return found;
}

// Const data shares a segment with global data, so its variables tell where
// it lies.
Value IsConstant(Lowering& l, Value address) {
  const Module& module = l.module();
  Value found =
      InConstants(l, module.variables, kNone, address, l.ConstantInt(1, 0));
  for (uint32_t f = 0; f < module.functions.size(); ++f) {
    const Body* body = module.functions[f].body.get();
    if (body) found = InConstants(l, body->variables, f, address, found);
  }
  return found;
}

void LowerIsspacep(Lowering& l) {
  hetir::Space space = l.SpaceOf(l.mods().space);
  Value address = l.Read(1, Type::kB64);
  if (space == hetir::Space::constant) {
    return l.Write(IsConstant(l, address), Type::kPred);
  }
  Value inside = l.Create<hetir::IsSpaceOp>(l.I1(), space, address);
  if (space == hetir::Space::global) {
    Value other = l.Create<arith::XOrIOp>(IsConstant(l, address),
                                          l.ConstantInt(1, 1));
    inside = l.Create<arith::AndIOp>(inside, other);
  }
  l.Write(inside, Type::kPred);
}

constexpr LoweringRow kRows[] = {
    {Op::kMov, Effect::kPure, LowerMov},
    {Op::kCvta, Effect::kPure, LowerCvta},
    {Op::kIsspacep, Effect::kPure, LowerIsspacep},
};

}  // namespace

std::span<const LoweringRow> MoveRows() { return kRows; }

}  // namespace hetgpu::ptx
