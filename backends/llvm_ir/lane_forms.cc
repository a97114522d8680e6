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
  LaneForm result{fn(form.low), nullptr, stride, form.valid, form.in_range};
  result.high = form.high == form.low ? result.low : fn(form.high);
  return result;
}
template <typename Fn>
LaneForm Map(Ir& ir, const LaneForm& a, const LaneForm& b, int64_t stride,
             Fn fn) {
  LaneForm result{fn(a.low, b.low), nullptr, stride,
                  AndConditions(ir, a.valid, b.valid),
                  AndConditions(ir, a.in_range, b.in_range)};
  bool same = a.low == a.high && b.low == b.high;
  result.high = same ? result.low : fn(a.high, b.high);
  return result;
}

}  // namespace

llvm::Value* AndConditions(Ir& ir, llvm::Value* a, llvm::Value* b) {
  if (!a || a == b) return b;
  return b ? ir.CreateAnd(a, b) : a;
}

llvm::Value* ConditionOf(Ir& ir, const LaneForm& form) {
  return AndConditions(ir, form.valid, form.in_range);
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
  llvm::Value* in_range = form.in_range;
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
      in_range = AndConditions(ir, in_range, ir.CreateICmp(order, last, first));
    }
    return ir.CreateIntCast(first, type, is_signed);
  });
  wide.in_range = in_range;
  return wide;
}

LaneForms::LaneForms(mlir::Region& region)
    : classes_(region), strides_(FindLaneStrides(region)) {}

// Addresses are followed on their own: one step more of each costs less than
// what they have in common.
mlir::Value LaneForms::LeaderOf(mlir::Value value) {
  constexpr unsigned kIndexBits = 32;
  mlir::Type type = mlir::getElementTypeOrSelf(value.getType());
  if (type.getIntOrFloatBitWidth() > kIndexBits) return mlir::Value();
  mlir::Value leader = classes_.Leader(value);
  return leader && strides_.count(leader) ? leader : mlir::Value();
}

void LaneForms::RecordLeader(Emitter& e, mlir::Value value) {
  if (!classes_.IsLeader(value)) return;
  const LaneForm& form = forms_.find(value)->second;
  distances_[value] = e.ir().CreateSub(form.high, form.low);
}

void LaneForms::FollowLeader(Emitter& e, mlir::Value leader, LaneForm& form) {
  const LaneForm& first = forms_.find(leader)->second;
  form.high = e.ir().CreateAdd(form.low, distances_.lookup(leader));
  form.valid = first.valid;
  form.in_range = first.in_range;
}

void LaneForms::AddArguments(Emitter& e, mlir::Block& block) {
  for (mlir::BlockArgument argument : block.getArguments()) {
    auto stride = strides_.find(argument);
    if (stride == strides_.end()) continue;
    llvm::Type* type = e.TypeOf(argument)->getScalarType();
    LaneForm& form = forms_[argument];
    form.low = e.ir().CreatePHI(type, 2);
    form.stride = stride->second;
    if (LeaderOf(argument)) continue;
    form.high = e.ir().CreatePHI(type, 2);
    form.valid = e.ir().CreatePHI(e.ir().getInt1Ty(), 2);
  }
}

void LaneForms::BeginBlock(Emitter& e, mlir::Block& block) {
  for (mlir::BlockArgument argument : block.getArguments()) {
    auto form = forms_.find(argument);
    if (form == forms_.end()) continue;
    if (mlir::Value leader = LeaderOf(argument)) {
      FollowLeader(e, leader, form->second);
    } else {
      RecordLeader(e, argument);
    }
  }
}

void LaneForms::AddIncoming(Emitter& e, mlir::Value parameter,
                            mlir::Value value) {
  auto form = forms_.find(parameter);
  if (form == forms_.end()) return;
  std::optional<LaneForm> passed = Find(e, value);
  llvm::BasicBlock* from = e.ir().GetInsertBlock();
  auto add = [&](llvm::Value* phi, llvm::Value* incoming) {
    llvm::cast<llvm::PHINode>(phi)->addIncoming(incoming, from);
  };
  add(form->second.low, passed->low);
  if (LeaderOf(parameter)) return;
  add(form->second.high, passed->high);
  llvm::Value* valid = ConditionOf(e.ir(), *passed);
  add(form->second.valid, valid ? valid : e.ir().getTrue());
}

std::optional<LaneForm> LaneForms::Find(Emitter& e, mlir::Value value) const {
  if (!mlir::isa<mlir::VectorType>(value.getType())) {
    return LaneForm{e.Get(value), e.Get(value), 0, nullptr};
  }
  auto form = forms_.find(value);
  if (form == forms_.end()) return std::nullopt;
  return form->second;
}

LaneSum LaneForms::Rebuild(Emitter& e, mlir::Value value, mlir::Operation* user,
                           bool narrow) {
  if (narrow) {
    if (std::optional<LaneSum> sum = RebuildNarrow(e, value, user)) return *sum;
  }
  LaneSum sum;
  sum.lanes = e.Get(value);
  auto own = forms_.find(value);
  if (own == forms_.end()) return sum;
  mlir::Value other = classes_.Representative(value, user);
  auto form = forms_.find(other);
  if (other == value || form == forms_.end()) return sum;
  sum.lanes = e.Get(other);
  sum.more = e.ir().CreateSub(own->second.low, form->second.low);
  return sum;
}

// What the lanes have in common follows from lane 0, which the forms give
// however the block is shaped.
std::optional<LaneSum> LaneForms::RebuildNarrow(Emitter& e, mlir::Value value,
                                                mlir::Operation* user) {
  std::optional<LaneClasses::Product> product = classes_.ProductOf(value, user);
  if (!product) return std::nullopt;
  auto extended = product->vector.getDefiningOp<arith::ExtSIOp>();
  if (!extended) return std::nullopt;
  auto own = forms_.find(value);
  auto form = forms_.find(extended.getIn());
  if (own == forms_.end() || form == forms_.end()) return std::nullopt;
  Ir& ir = e.ir();
  LaneSum sum = Rebuild(e, extended.getIn(), user, false);
  sum.scale = product->factor;
  llvm::Type* type = own->second.low->getType();
  llvm::Value* first =
      ir.CreateMul(ir.CreateSExt(form->second.low, type),
                   llvm::ConstantInt::getSigned(type, sum.scale));
  sum.base = ir.CreateSub(own->second.low, first);
  return sum;
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
        std::optional<LaneForm> of_operand = Find(e, operand);
        form->valid = AndConditions(e.ir(), form->valid, of_operand->valid);
        form->in_range =
            AndConditions(e.ir(), form->in_range, of_operand->in_range);
      }
    }
    forms_[result] = *form;
    RecordLeader(e, result);
  }
}

std::optional<LaneForm> LaneForms::FormOfResult(Emitter& e,
                                                mlir::Operation* op,
                                                int64_t stride) {
  using Result = std::optional<LaneForm>;
  Ir& ir = e.ir();
  auto form = [&](mlir::Value value) { return *Find(e, value); };
  auto lanes = [&](mlir::Value value) {
    return LaneForm{Lane(e, value, 0), Lane(e, value, kHalf), stride};
  };
  auto binary = [&](mlir::Value a, mlir::Value b,
                    llvm::Instruction::BinaryOps opcode) {
    auto apply = [&](llvm::Value* x, llvm::Value* y) {
      return ir.CreateBinOp(opcode, x, y);
    };
    LaneForm x = form(a), y = form(b);
    mlir::Value leader = LeaderOf(op->getResult(0));
    if (!leader) return Map(ir, x, y, stride, apply);
    LaneForm sum{apply(x.low, y.low), nullptr, stride};
    FollowLeader(e, leader, sum);
    return sum;
  };
  return llvm::TypeSwitch<mlir::Operation*, Result>(op)
      .Case<arith::ConstantOp, mlir::vector::StepOp>(
          [&](auto o) -> Result { return lanes(o.getResult()); })
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
        LaneForm own = lanes(o.getResult());
        LaneForm address = form(o.getAddress());
        own.valid = address.valid;
        own.in_range = address.in_range;
        return own;
      })
      .Default([](mlir::Operation*) -> Result { return std::nullopt; });
}

}  // namespace hetgpu::llvm_ir
