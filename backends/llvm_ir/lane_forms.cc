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

constexpr int64_t kHalf = kLanes / 2;

llvm::Value* Lane(Emitter& e, mlir::Value value, uint64_t lane) {
  return e.ir().CreateExtractElement(e.Get(value), lane);
}

// Applies `fn` to both halves.
template <typename Fn>
LaneForm Map(const LaneForm& form, int64_t stride, Fn fn) {
  LaneForm result{fn(form.low), nullptr, stride, form.valid};
  result.high = form.high == form.low ? result.low : fn(form.high);
  return result;
}
template <typename Fn>
LaneForm Map(Ir& ir, const LaneForm& a, const LaneForm& b, int64_t stride,
             Fn fn) {
  LaneForm result{fn(a.low, b.low), nullptr, stride,
                  AndConditions(ir, a.valid, b.valid)};
  bool same = a.low == a.high && b.low == b.high;
  result.high = same ? result.low : fn(a.high, b.high);
  return result;
}

}  // namespace

llvm::Value* AndConditions(Ir& ir, llvm::Value* a, llvm::Value* b) {
  if (!a || a == b) return b;
  return b ? ir.CreateAnd(a, b) : a;
}

LaneForm AddForms(Ir& ir, const LaneForm& a, const LaneForm& b) {
  return Map(ir, a, b, a.stride + b.stride,
             [&](llvm::Value* x, llvm::Value* y) {
               return ir.CreateAdd(x, y);
             });
}

// The lanes must not wrap in the narrow type.
LaneForm ExtendForm(Ir& ir, const LaneForm& form, llvm::Type* type,
                    bool is_signed) {
  llvm::Type* narrow = form.low->getType();
  if (narrow == type) return form;
  llvm::Value* valid = form.valid;
  bool up = form.stride > 0;
  llvm::CmpInst::Predicate order =
      is_signed ? (up ? llvm::CmpInst::ICMP_SGE : llvm::CmpInst::ICMP_SLE)
                : (up ? llvm::CmpInst::ICMP_UGE : llvm::CmpInst::ICMP_ULE);
  llvm::APInt reach(narrow->getIntegerBitWidth(),
                    static_cast<uint64_t>(form.stride * (kHalf - 1)), true);
  LaneForm wide = Map(form, form.stride, [&](llvm::Value* first) {
    if (form.stride != 0) {
      llvm::Value* last =
          ir.CreateAdd(first, llvm::ConstantInt::get(narrow, reach));
      valid = AndConditions(ir, valid, ir.CreateICmp(order, last, first));
    }
    return ir.CreateIntCast(first, type, is_signed);
  });
  wide.valid = valid;
  return wide;
}

LaneForms::LaneForms(mlir::Region& region)
    : classes_(region), strides_(FindLaneStrides(region)) {}

void LaneForms::AddArguments(Emitter& e, mlir::Block& block) {
  for (mlir::BlockArgument argument : block.getArguments()) {
    auto stride = strides_.find(argument);
    if (stride == strides_.end()) continue;
    llvm::Type* type = e.TypeOf(argument)->getScalarType();
    forms_[argument] = {e.ir().CreatePHI(type, 2), e.ir().CreatePHI(type, 2),
                        stride->second,
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
  llvm::cast<llvm::PHINode>(form->second.low)->addIncoming(passed->low, from);
  llvm::cast<llvm::PHINode>(form->second.high)
      ->addIncoming(passed->high, from);
  llvm::cast<llvm::PHINode>(form->second.valid)->addIncoming(valid, from);
}

std::optional<LaneForm> LaneForms::Find(Emitter& e, mlir::Value value) const {
  if (!mlir::isa<mlir::VectorType>(value.getType())) {
    return LaneForm{e.Get(value), e.Get(value), 0, nullptr};
  }
  auto form = forms_.find(value);
  if (form == forms_.end()) return std::nullopt;
  return form->second;
}

std::pair<llvm::Value*, llvm::Value*> LaneForms::Rebuild(
    Emitter& e, mlir::Value value, mlir::Operation* user) {
  auto own = forms_.find(value);
  if (own == forms_.end()) return {e.Get(value), nullptr};
  mlir::Value other = classes_.Representative(value, user);
  auto form = forms_.find(other);
  if (other == value || form == forms_.end()) return {e.Get(value), nullptr};
  return {e.Get(other),
          e.ir().CreateSub(own->second.low, form->second.low)};
}

void LaneForms::Record(Emitter& e, mlir::Operation* op) {
  for (mlir::Value result : op->getResults()) {
    auto stride = strides_.find(result);
    if (stride == strides_.end()) continue;
    std::optional<LaneForm> form = FormOfResult(e, op, stride->second);
    if (!form) {
      // Any other op with one value for all lanes.
      form = LaneForm{Lane(e, result, 0), Lane(e, result, kHalf), 0, nullptr};
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
  auto lanes = [&](mlir::Value value, llvm::Value* valid) {
    return LaneForm{Lane(e, value, 0), Lane(e, value, kHalf), stride, valid};
  };
  auto binary = [&](mlir::Value a, mlir::Value b,
                    llvm::Instruction::BinaryOps opcode) {
    return Map(ir, form(a), form(b), stride,
               [&](llvm::Value* x, llvm::Value* y) {
                 return ir.CreateBinOp(opcode, x, y);
               });
  };
  return llvm::TypeSwitch<mlir::Operation*, Result>(op)
      .Case<arith::ConstantOp, mlir::vector::StepOp>([&](auto o) -> Result {
        return lanes(o.getResult(), nullptr);
      })
      .Case<mlir::vector::BroadcastOp>([&](auto o) -> Result {
        llvm::Value* source = e.Get(o.getSource());
        return LaneForm{source, source, 0, nullptr};
      })
      .Case<hetir::SpecialRegisterOp>([&](auto o) -> Result {
        LaneForm own = e.hooks().RegisterForm(e, o);
        own.stride = stride;
        return own;
      })
      .Case<arith::AddIOp>([&](auto o) -> Result {
        return binary(o.getLhs(), o.getRhs(), llvm::Instruction::Add);
      })
      .Case<arith::SubIOp>([&](auto o) -> Result {
        return binary(o.getLhs(), o.getRhs(), llvm::Instruction::Sub);
      })
      .Case<arith::MulIOp>([&](auto o) -> Result {
        return binary(o.getLhs(), o.getRhs(), llvm::Instruction::Mul);
      })
      .Case<hetir::ShlOp>([&](auto o) -> Result {
        if (stride == 0) return std::nullopt;
        return Map(ir, form(o.getA()), form(o.getAmount()), stride,
                   [&](llvm::Value* x, llvm::Value* amount) {
                     return ShlTotal(ir, x,
                                     AmountLike(ir, amount, x->getType()));
                   });
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
        llvm::Type* type = e.TypeOf(o.getResult())->getScalarType();
        return Map(form(o.getIn()), stride, [&](llvm::Value* x) {
          return ir.CreateTrunc(x, type);
        });
      })
      .Case<hetir::ToGenericOp, hetir::FromGenericOp>([&](auto o) -> Result {
        // The difference to the operand is the same for all lanes.
        return lanes(o.getResult(), form(o.getAddress()).valid);
      })
      .Default([](mlir::Operation*) -> Result { return std::nullopt; });
}

}  // namespace hetgpu::llvm_ir
