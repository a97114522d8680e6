#include "backends/llvm_ir/lane_forms.h"

#include "backends/llvm_ir/emitter.h"
#include "backends/llvm_ir/ir_util.h"
#include "backends/llvm_ir/lane_strides.h"
#include "backends/llvm_ir/target_hooks.h"
#include "hetir/dialect/HetIR.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace hetgpu::llvm_ir {
namespace {

namespace arith = mlir::arith;

llvm::Value* LaneZero(Emitter& e, mlir::Value value) {
  return e.ir().CreateExtractElement(e.Get(value), uint64_t{0});
}

}  // namespace

llvm::Value* AndConditions(Ir& ir, llvm::Value* a, llvm::Value* b) {
  if (!a || a == b) return b;
  return b ? ir.CreateAnd(a, b) : a;
}

LaneForm AddForms(Ir& ir, const LaneForm& a, const LaneForm& b) {
  return {ir.CreateAdd(a.base, b.base), a.stride + b.stride,
          AndConditions(ir, a.valid, b.valid)};
}

// The lanes must not wrap in the narrow type.
LaneForm ExtendForm(Ir& ir, const LaneForm& form, llvm::Type* type,
                    bool is_signed) {
  llvm::Type* narrow = form.base->getType();
  if (narrow == type) return form;
  LaneForm wide = {ir.CreateIntCast(form.base, type, is_signed), form.stride,
                   form.valid};
  if (form.stride == 0) return wide;
  unsigned width = narrow->getIntegerBitWidth();
  llvm::APInt reach(width, static_cast<uint64_t>(form.stride * (kLanes - 1)),
                    true);
  llvm::Value* last =
      ir.CreateAdd(form.base, llvm::ConstantInt::get(narrow, reach));
  bool up = form.stride > 0;
  llvm::CmpInst::Predicate order =
      is_signed ? (up ? llvm::CmpInst::ICMP_SGE : llvm::CmpInst::ICMP_SLE)
                : (up ? llvm::CmpInst::ICMP_UGE : llvm::CmpInst::ICMP_ULE);
  wide.valid = AndConditions(ir, form.valid,
                             ir.CreateICmp(order, last, form.base));
  return wide;
}

LaneForms::LaneForms(mlir::Region& region)
    : strides_(FindLaneStrides(region)) {}

void LaneForms::AddArguments(Emitter& e, mlir::Block& block) {
  for (mlir::BlockArgument argument : block.getArguments()) {
    auto stride = strides_.find(argument);
    if (stride == strides_.end()) continue;
    llvm::Type* type = e.TypeOf(argument)->getScalarType();
    forms_[argument] = {e.ir().CreatePHI(type, 2), stride->second,
                        e.ir().CreatePHI(e.ir().getInt1Ty(), 2)};
  }
}

void LaneForms::AddIncoming(Emitter& e, mlir::Value parameter,
                            mlir::Value value) {
  auto form = forms_.find(parameter);
  if (form == forms_.end()) return;
  std::optional<LaneForm> passed = Find(e, value);
  llvm::BasicBlock* from = e.ir().GetInsertBlock();
  llvm::Value* valid = passed->valid ? passed->valid : e.ir().getTrue();
  llvm::cast<llvm::PHINode>(form->second.base)
      ->addIncoming(passed->base, from);
  llvm::cast<llvm::PHINode>(form->second.valid)->addIncoming(valid, from);
}

std::optional<LaneForm> LaneForms::Find(Emitter& e, mlir::Value value) const {
  if (!mlir::isa<mlir::VectorType>(value.getType())) {
    return LaneForm{e.Get(value), 0, nullptr};
  }
  auto form = forms_.find(value);
  if (form == forms_.end()) return std::nullopt;
  return form->second;
}

void LaneForms::Record(Emitter& e, mlir::Operation* op) {
  for (mlir::Value result : op->getResults()) {
    auto stride = strides_.find(result);
    if (stride == strides_.end()) continue;
    std::optional<LaneForm> form = FormOfResult(e, op, stride->second);
    if (!form) {
      // Any other op with one value for all lanes.
      form = LaneForm{LaneZero(e, result), 0, nullptr};
      for (mlir::Value operand : op->getOperands()) {
        form->valid = AndConditions(e.ir(), form->valid,
                                    Find(e, operand)->valid);
      }
    }
    forms_[result] = *form;
  }
}

std::optional<LaneForm> LaneForms::FormOfResult(Emitter& e,
                                                mlir::Operation* op,
                                                int64_t stride) {
  using Result = std::optional<LaneForm>;
  Ir& ir = e.ir();
  auto form = [&](mlir::Value value) { return *Find(e, value); };
  auto joined = [&](llvm::Value* base, const LaneForm& a, const LaneForm& b) {
    return LaneForm{base, stride, AndConditions(ir, a.valid, b.valid)};
  };
  return llvm::TypeSwitch<mlir::Operation*, Result>(op)
      .Case<arith::ConstantOp, mlir::vector::StepOp>([&](auto o) -> Result {
        return LaneForm{LaneZero(e, o.getResult()), stride, nullptr};
      })
      .Case<mlir::vector::BroadcastOp>([&](auto o) -> Result {
        return LaneForm{e.Get(o.getSource()), 0, nullptr};
      })
      .Case<hetir::SpecialRegisterOp>([&](auto o) -> Result {
        LaneForm own{LaneZero(e, o.getResult()), stride, nullptr};
        own.valid = e.hooks().LanesInRow(e, o);
        return own;
      })
      .Case<arith::AddIOp>([&](auto o) -> Result {
        LaneForm a = form(o.getLhs()), b = form(o.getRhs());
        return joined(ir.CreateAdd(a.base, b.base), a, b);
      })
      .Case<arith::SubIOp>([&](auto o) -> Result {
        LaneForm a = form(o.getLhs()), b = form(o.getRhs());
        return joined(ir.CreateSub(a.base, b.base), a, b);
      })
      .Case<arith::MulIOp>([&](auto o) -> Result {
        LaneForm a = form(o.getLhs()), b = form(o.getRhs());
        return joined(ir.CreateMul(a.base, b.base), a, b);
      })
      .Case<hetir::ShlOp>([&](auto o) -> Result {
        if (stride == 0) return std::nullopt;
        LaneForm a = form(o.getA()), b = form(o.getAmount());
        llvm::Value* amount = AmountLike(ir, b.base, a.base->getType());
        return joined(ShlTotal(ir, a.base, amount), a, b);
      })
      .Case<arith::ExtUIOp>([&](auto o) -> Result {
        return ExtendForm(ir, form(o.getIn()),
                          e.TypeOf(o.getResult())->getScalarType(), false);
      })
      .Case<arith::ExtSIOp>([&](auto o) -> Result {
        return ExtendForm(ir, form(o.getIn()),
                          e.TypeOf(o.getResult())->getScalarType(), true);
      })
      .Case<arith::TruncIOp>([&](auto o) -> Result {
        LaneForm a = form(o.getIn());
        return LaneForm{
            ir.CreateTrunc(a.base, e.TypeOf(o.getResult())->getScalarType()),
            stride, a.valid};
      })
      .Case<hetir::ToGenericOp, hetir::FromGenericOp>([&](auto o) -> Result {
        // The difference to the operand is the same for all lanes.
        return LaneForm{LaneZero(e, o.getResult()), stride,
                        form(o.getAddress()).valid};
      })
      .Default([](mlir::Operation*) -> Result { return std::nullopt; });
}

}  // namespace hetgpu::llvm_ir
