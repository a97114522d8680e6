// Small shapes that every category file needs. All work on scalars and, lane
// by lane, on vectors.
#ifndef HETGPU_BACKENDS_LLVM_IR_IR_UTIL_H_
#define HETGPU_BACKENDS_LLVM_IR_IR_UTIL_H_

#include <cstdint>

#include "llvm/IR/IRBuilder.h"

namespace hetgpu::llvm_ir {

using Ir = llvm::IRBuilder<>;

// The integer `value`, splat over the lanes of a vector type.
inline llvm::Constant* Int(llvm::Type* type, uint64_t value) {
  return llvm::ConstantInt::get(type, value);
}
inline unsigned BitWidth(llvm::Value* value) {
  return value->getType()->getScalarSizeInBits();
}
// `element`, or a vector of it with as many lanes as `shape`.
inline llvm::Type* SameShape(llvm::Type* element, llvm::Type* shape) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(shape);
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements())
                : element;
}
inline llvm::Type* IntLike(llvm::Type* shape, unsigned bits) {
  return SameShape(llvm::Type::getIntNTy(shape->getContext(), bits), shape);
}

inline llvm::Value* Binary(Ir& ir, llvm::Intrinsic::ID id, llvm::Value* a,
                           llvm::Value* b) {
  return ir.CreateBinaryIntrinsic(id, a, b);
}
inline llvm::Value* UMin(Ir& ir, llvm::Value* a, uint64_t bound) {
  return Binary(ir, llvm::Intrinsic::umin, a, Int(a->getType(), bound));
}
inline llvm::Value* Negate(Ir& ir, llvm::Value* a) { return ir.CreateNeg(a); }

// Shifts that are total: amounts of the width or more give zero (or the sign).
// `amount` has the type of `a`.
llvm::Value* ShlTotal(Ir& ir, llvm::Value* a, llvm::Value* amount);
llvm::Value* LShrTotal(Ir& ir, llvm::Value* a, llvm::Value* amount);
llvm::Value* AShrTotal(Ir& ir, llvm::Value* a, llvm::Value* amount);
// Ones in the low `count` bits; all ones from the width on.
llvm::Value* LowMask(Ir& ir, llvm::Value* count);

// Total division: see hetir.div and hetir.rem.
llvm::Value* DivTotal(Ir& ir, llvm::Value* a, llvm::Value* b, bool is_signed);
llvm::Value* RemTotal(Ir& ir, llvm::Value* a, llvm::Value* b, bool is_signed);
// The same with an own way to divide `a` by what makes every division safe.
using DivideBy = llvm::function_ref<llvm::Value*(llvm::Value* divisor)>;
llvm::Value* DivTotal(Ir& ir, llvm::Value* a, llvm::Value* b, bool is_signed,
                      DivideBy divide);
llvm::Value* RemTotal(Ir& ir, llvm::Value* a, llvm::Value* b, bool is_signed,
                      DivideBy divide);

// An amount brought to the width of `type`; a wider one saturates, so that
// comparisons with the width keep their meaning.
llvm::Value* AmountLike(Ir& ir, llvm::Value* amount, llvm::Type* type);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_IR_UTIL_H_
