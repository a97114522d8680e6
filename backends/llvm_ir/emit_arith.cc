// arith: integer arithmetic as it is; shifts and divisions made total.
#include "backends/llvm_ir/ir_util.h"
#include "backends/llvm_ir/lane_division.h"
#include "backends/llvm_ir/op_table.h"
#include "hetir/dialect/HetIR.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace hetgpu::llvm_ir {
namespace {

namespace arith = mlir::arith;

// The bits of one element, whatever its type.
llvm::Constant* ScalarConstant(mlir::Attribute attribute, llvm::Type* type) {
  llvm::APInt bits(type->getScalarSizeInBits(), 0);
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute)) {
    bits = integer.getValue().zextOrTrunc(type->getScalarSizeInBits());
  } else {
    auto number = mlir::cast<mlir::FloatAttr>(attribute);
    if (number.getType().isTF32()) {
      return llvm::ConstantFP::get(type, number.getValueAsDouble());
    }
    bits = number.getValue().bitcastToAPInt();
  }
  llvm::LLVMContext& context = type->getContext();
  llvm::Constant* constant =
      llvm::ConstantInt::get(context, bits);
  if (type->isIntegerTy()) return constant;
  return llvm::ConstantFP::get(
      context, llvm::APFloat(type->getFltSemantics(), bits));
}

absl::StatusOr<llvm::Value*> EmitConstant(Emitter& e, arith::ConstantOp op) {
  llvm::Type* type = e.TypeOf(op.getResult());
  if (auto elements =
          mlir::dyn_cast<mlir::DenseElementsAttr>(op.getValue())) {
    std::vector<llvm::Constant*> lanes;
    for (mlir::Attribute lane : elements.getValues<mlir::Attribute>()) {
      lanes.push_back(ScalarConstant(lane, type->getScalarType()));
    }
    return llvm::ConstantVector::get(lanes);
  }
  if (!mlir::isa<mlir::IntegerAttr, mlir::FloatAttr>(op.getValue())) {
    return ErrorAt(op, "expected an integer, a float or a dense vector");
  }
  return ScalarConstant(op.getValue(), type);
}

template <typename Op, llvm::Instruction::BinaryOps kOpcode>
llvm::Value* EmitBinary(Emitter& e, Op op) {
  return e.ir().CreateBinOp(kOpcode, e.Get(op.getLhs()), e.Get(op.getRhs()));
}
template <typename Op, llvm::Intrinsic::ID kId>
llvm::Value* EmitIntrinsic(Emitter& e, Op op) {
  return Binary(e.ir(), kId, e.Get(op.getLhs()), e.Get(op.getRhs()));
}
template <typename Op, llvm::Instruction::CastOps kOpcode>
llvm::Value* EmitCast(Emitter& e, Op op) {
  return e.ir().CreateCast(kOpcode, e.Get(op.getIn()),
                           e.TypeOf(op.getResult()));
}
template <typename Op, llvm::Value* (*kShift)(Ir&, llvm::Value*, llvm::Value*)>
llvm::Value* EmitShift(Emitter& e, Op op) {
  return kShift(e.ir(), e.Get(op.getLhs()), e.Get(op.getRhs()));
}
template <typename Op, bool kSigned>
llvm::Value* EmitDiv(Emitter& e, Op op) {
  return Divide(e, e.Get(op.getLhs()), e.Get(op.getRhs()), kSigned);
}
template <typename Op, bool kSigned>
llvm::Value* EmitRem(Emitter& e, Op op) {
  return Remainder(e, e.Get(op.getLhs()), e.Get(op.getRhs()), kSigned);
}

llvm::Value* EmitBitcast(Emitter& e, arith::BitcastOp op) {
  return e.ir().CreateBitCast(e.Get(op.getIn()), e.TypeOf(op.getResult()));
}

llvm::Value* EmitSelect(Emitter& e, arith::SelectOp op) {
  return e.ir().CreateSelect(e.Get(op.getCondition()),
                             e.Get(op.getTrueValue()),
                             e.Get(op.getFalseValue()));
}

llvm::Value* EmitCompare(Emitter& e, arith::CmpIOp op) {
  static constexpr llvm::CmpInst::Predicate kPredicates[] = {
      llvm::CmpInst::ICMP_EQ,  llvm::CmpInst::ICMP_NE,
      llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_SLE,
      llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_SGE,
      llvm::CmpInst::ICMP_ULT, llvm::CmpInst::ICMP_ULE,
      llvm::CmpInst::ICMP_UGT, llvm::CmpInst::ICMP_UGE};
  return e.ir().CreateICmp(
      kPredicates[static_cast<size_t>(op.getPredicate())],
      e.Get(op.getLhs()), e.Get(op.getRhs()));
}

absl::Status EmitAddExtended(Emitter& e, arith::AddUIExtendedOp op) {
  llvm::Value* pair =
      Binary(e.ir(), llvm::Intrinsic::uadd_with_overflow, e.Get(op.getLhs()),
             e.Get(op.getRhs()));
  e.Set(op.getSum(), e.ir().CreateExtractValue(pair, 0));
  e.Set(op.getOverflow(), e.ir().CreateExtractValue(pair, 1));
  return absl::OkStatus();
}

template <typename Op, bool kSigned>
absl::Status EmitMulExtended(Emitter& e, Op op) {
  llvm::Value* a = e.Get(op.getLhs());
  unsigned width = BitWidth(a);
  llvm::Type* wide = IntLike(a->getType(), 2 * width);
  llvm::Value* product = e.ir().CreateMul(
      e.ir().CreateIntCast(a, wide, kSigned),
      e.ir().CreateIntCast(e.Get(op.getRhs()), wide, kSigned));
  e.Set(op.getLow(), e.ir().CreateTrunc(product, a->getType()));
  e.Set(op.getHigh(),
        e.ir().CreateTrunc(e.ir().CreateLShr(product, width), a->getType()));
  return absl::OkStatus();
}

llvm::Value* EmitIndexCast(Emitter& e, arith::IndexCastOp op) {
  return e.ir().CreateSExtOrTrunc(e.Get(op.getIn()),
                                  e.TypeOf(op.getResult()));
}
llvm::Value* EmitIndexCastUnsigned(Emitter& e, arith::IndexCastUIOp op) {
  return e.ir().CreateZExtOrTrunc(e.Get(op.getIn()),
                                  e.TypeOf(op.getResult()));
}

}  // namespace

void AddArithOps(OpTable& table) {
  using I = llvm::Instruction;
  namespace Id = llvm::Intrinsic;
  table.Fallible<arith::ConstantOp, EmitConstant>();
  table.Value<arith::AddIOp, EmitBinary<arith::AddIOp, I::Add>>();
  table.Value<arith::SubIOp, EmitBinary<arith::SubIOp, I::Sub>>();
  table.Value<arith::MulIOp, EmitBinary<arith::MulIOp, I::Mul>>();
  table.Value<arith::AndIOp, EmitBinary<arith::AndIOp, I::And>>();
  table.Value<arith::OrIOp, EmitBinary<arith::OrIOp, I::Or>>();
  table.Value<arith::XOrIOp, EmitBinary<arith::XOrIOp, I::Xor>>();
  table.Value<arith::MinSIOp, EmitIntrinsic<arith::MinSIOp, Id::smin>>();
  table.Value<arith::MaxSIOp, EmitIntrinsic<arith::MaxSIOp, Id::smax>>();
  table.Value<arith::MinUIOp, EmitIntrinsic<arith::MinUIOp, Id::umin>>();
  table.Value<arith::MaxUIOp, EmitIntrinsic<arith::MaxUIOp, Id::umax>>();
  table.Value<arith::ShLIOp, EmitShift<arith::ShLIOp, ShlTotal>>();
  table.Value<arith::ShRUIOp, EmitShift<arith::ShRUIOp, LShrTotal>>();
  table.Value<arith::ShRSIOp, EmitShift<arith::ShRSIOp, AShrTotal>>();
  table.Value<arith::DivSIOp, EmitDiv<arith::DivSIOp, true>>();
  table.Value<arith::DivUIOp, EmitDiv<arith::DivUIOp, false>>();
  table.Value<arith::RemSIOp, EmitRem<arith::RemSIOp, true>>();
  table.Value<arith::RemUIOp, EmitRem<arith::RemUIOp, false>>();
  table.Value<arith::ExtSIOp, EmitCast<arith::ExtSIOp, I::SExt>>();
  table.Value<arith::ExtUIOp, EmitCast<arith::ExtUIOp, I::ZExt>>();
  table.Value<arith::TruncIOp, EmitCast<arith::TruncIOp, I::Trunc>>();
  table.Value<arith::BitcastOp, EmitBitcast>();
  table.Value<arith::SelectOp, EmitSelect>();
  table.Value<arith::CmpIOp, EmitCompare>();
  table.Value<arith::IndexCastOp, EmitIndexCast>();
  table.Value<arith::IndexCastUIOp, EmitIndexCastUnsigned>();
  table.Statement<arith::AddUIExtendedOp, EmitAddExtended>();
  table.Statement<arith::MulSIExtendedOp,
                  EmitMulExtended<arith::MulSIExtendedOp, true>>();
  table.Statement<arith::MulUIExtendedOp,
                  EmitMulExtended<arith::MulUIExtendedOp, false>>();
}

}  // namespace hetgpu::llvm_ir
