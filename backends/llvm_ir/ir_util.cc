#include "backends/llvm_ir/ir_util.h"

#include "llvm/IR/Constants.h"

namespace hetgpu::llvm_ir {
namespace {

// Whether every lane of `amount` is a constant below the width.
bool IsSafeAmount(llvm::Value* amount, unsigned width) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(amount);
  if (!constant) return false;
  if (amount->getType()->isVectorTy()) constant = constant->getSplatValue();
  auto* integer = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
  return integer && integer->getValue().ult(width);
}

}  // namespace

llvm::Value* ShlTotal(Ir& ir, llvm::Value* a, llvm::Value* amount) {
  unsigned width = BitWidth(a);
  if (IsSafeAmount(amount, width)) return ir.CreateShl(a, amount);
  llvm::Type* type = a->getType();
  llvm::Value* in_range = ir.CreateICmpULT(amount, Int(type, width));
  llvm::Value* shifted =
      ir.CreateShl(a, ir.CreateAnd(amount, Int(type, width - 1)));
  return ir.CreateSelect(in_range, shifted, Int(type, 0));
}

llvm::Value* LShrTotal(Ir& ir, llvm::Value* a, llvm::Value* amount) {
  unsigned width = BitWidth(a);
  if (IsSafeAmount(amount, width)) return ir.CreateLShr(a, amount);
  llvm::Type* type = a->getType();
  llvm::Value* in_range = ir.CreateICmpULT(amount, Int(type, width));
  llvm::Value* shifted =
      ir.CreateLShr(a, ir.CreateAnd(amount, Int(type, width - 1)));
  return ir.CreateSelect(in_range, shifted, Int(type, 0));
}

llvm::Value* AShrTotal(Ir& ir, llvm::Value* a, llvm::Value* amount) {
  unsigned width = BitWidth(a);
  if (IsSafeAmount(amount, width)) return ir.CreateAShr(a, amount);
  return ir.CreateAShr(a, UMin(ir, amount, width - 1));
}

llvm::Value* LowMask(Ir& ir, llvm::Value* count) {
  llvm::Type* type = count->getType();
  return ir.CreateNot(
      ShlTotal(ir, llvm::Constant::getAllOnesValue(type), count));
}

llvm::Value* DivTotal(Ir& ir, llvm::Value* a, llvm::Value* b, bool is_signed,
                      DivideBy divide) {
  llvm::Type* type = a->getType();
  llvm::Value* zero = ir.CreateICmpEQ(b, Int(type, 0));
  llvm::Constant* ones = llvm::Constant::getAllOnesValue(type);
  llvm::Value* unsafe = zero;
  if (is_signed) {
    llvm::Value* least =
        llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(
                                         BitWidth(a)));
    unsafe = ir.CreateOr(zero, ir.CreateAnd(ir.CreateICmpEQ(a, least),
                                            ir.CreateICmpEQ(b, ones)));
  }
  llvm::Value* divisor = ir.CreateSelect(unsafe, Int(type, 1), b);
  return ir.CreateSelect(zero, ones, divide(divisor));
}

llvm::Value* DivTotal(Ir& ir, llvm::Value* a, llvm::Value* b, bool is_signed) {
  return DivTotal(ir, a, b, is_signed, [&](llvm::Value* divisor) {
    return is_signed ? ir.CreateSDiv(a, divisor) : ir.CreateUDiv(a, divisor);
  });
}

llvm::Value* RemTotal(Ir& ir, llvm::Value* a, llvm::Value* b, bool is_signed,
                      DivideBy divide) {
  llvm::Type* type = a->getType();
  llvm::Value* zero = ir.CreateICmpEQ(b, Int(type, 0));
  llvm::Value* unsafe = zero;
  if (is_signed) {
    // Any value has remainder zero by minus one.
    unsafe = ir.CreateOr(zero, ir.CreateICmpEQ(
                                   b, llvm::Constant::getAllOnesValue(type)));
  }
  llvm::Value* divisor = ir.CreateSelect(unsafe, Int(type, 1), b);
  return ir.CreateSelect(zero, llvm::Constant::getAllOnesValue(type),
                         divide(divisor));
}

llvm::Value* RemTotal(Ir& ir, llvm::Value* a, llvm::Value* b, bool is_signed) {
  return RemTotal(ir, a, b, is_signed, [&](llvm::Value* divisor) {
    return is_signed ? ir.CreateSRem(a, divisor) : ir.CreateURem(a, divisor);
  });
}

llvm::Value* AmountLike(Ir& ir, llvm::Value* amount, llvm::Type* type) {
  unsigned width = type->getScalarSizeInBits();
  unsigned from = BitWidth(amount);
  llvm::Type* target = IntLike(amount->getType(), width);
  if (from <= width) return ir.CreateZExt(amount, target);
  return ir.CreateTrunc(UMin(ir, amount, width), target);
}

}  // namespace hetgpu::llvm_ir
