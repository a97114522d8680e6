// The lanes of a warp are divided as floats with p bits of precision, more than
// the n of the integers. A quotient a / b that is no integer is at least 1 / b
// below the next one; rounding adds at most a / b * 2^-p, which is less. So
// cutting off the fraction gives the integer quotient.
#include "backends/llvm_ir/lane_division.h"

#include "backends/llvm_ir/ir_util.h"
#include "backends/llvm_ir/lane_strides.h"
#include "backends/llvm_ir/lanes_one_by_one.h"

namespace hetgpu::llvm_ir {
namespace {

bool IsWarp(llvm::Value* value) {
  auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return type && type->getNumElements() == kLanes;
}

// Divisors that are constants become products.
bool IsLaneDivision(llvm::Value* a, llvm::Value* b) {
  return IsWarp(a) && !llvm::isa<llvm::Constant>(b);
}

// The float type with more precision than the integers have bits, or null.
llvm::Type* FloatFor(Ir& ir, llvm::Type* type) {
  unsigned width = type->getScalarSizeInBits();
  if (width > 32) return nullptr;
  return SameShape(width <= 16 ? ir.getFloatTy() : ir.getDoubleTy(), type);
}

// A quotient that an integer of the width holds, of a divisor that is not zero.
llvm::Value* QuotientByFloat(Ir& ir, llvm::Value* a, llvm::Value* b,
                             llvm::Type* type, bool is_signed) {
  auto wide = [&](llvm::Value* value) {
    return is_signed ? ir.CreateSIToFP(value, type)
                     : ir.CreateUIToFP(value, type);
  };
  llvm::Value* quotient = ir.CreateFDiv(wide(a), wide(b));
  return is_signed ? ir.CreateFPToSI(quotient, a->getType())
                   : ir.CreateFPToUI(quotient, a->getType());
}

}  // namespace

llvm::Value* Divide(Emitter& e, llvm::Value* a, llvm::Value* b,
                    bool is_signed) {
  Ir& ir = e.ir();
  if (!IsLaneDivision(a, b)) return DivTotal(ir, a, b, is_signed);
  llvm::Type* type = FloatFor(ir, a->getType());
  if (!type) {
    return MapShared(e, is_signed ? "divs" : "divu", a, b,
                     [&](llvm::Value* x, llvm::Value* y) {
                       return DivTotal(ir, x, y, is_signed);
                     });
  }
  return DivTotal(ir, a, b, is_signed, [&](llvm::Value* divisor) {
    return QuotientByFloat(ir, a, divisor, type, is_signed);
  });
}

llvm::Value* Remainder(Emitter& e, llvm::Value* a, llvm::Value* b,
                       bool is_signed) {
  Ir& ir = e.ir();
  if (!IsLaneDivision(a, b)) return RemTotal(ir, a, b, is_signed);
  llvm::Type* type = FloatFor(ir, a->getType());
  if (!type) {
    return MapShared(e, is_signed ? "rems" : "remu", a, b,
                     [&](llvm::Value* x, llvm::Value* y) {
                       return RemTotal(ir, x, y, is_signed);
                     });
  }
  return RemTotal(ir, a, b, is_signed, [&](llvm::Value* divisor) {
    llvm::Value* quotient = QuotientByFloat(ir, a, divisor, type, is_signed);
    return ir.CreateSub(a, ir.CreateMul(quotient, divisor));
  });
}

}  // namespace hetgpu::llvm_ir
