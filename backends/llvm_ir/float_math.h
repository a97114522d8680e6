// Float arithmetic as straight-line LLVM IR, lane by lane on vectors.
//
// Values are computed in f32 or f64. f16 and bf16 are widened to f32, computed
// and narrowed: 24 bits are at least 2 * 11 + 2, so that add, subtract,
// multiply, divide and square root rounded twice equal rounding once.
//
// Directed rounding of f32 results goes through f64: the exact result is
// s + e, with s the f64 result and e its error (two-sum for sums; the sign of
// the remainder for quotients and roots). s is rounded to nearest and moved by
// one unit where the exact result lies on the wrong side.
#ifndef HETGPU_BACKENDS_LLVM_IR_FLOAT_MATH_H_
#define HETGPU_BACKENDS_LLVM_IR_FLOAT_MATH_H_

#include "backends/llvm_ir/ir_util.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::llvm_ir {

enum class FloatKind { kF16, kBF16, kF32, kF64 };

// Kind of a float type or of the elements of a vector; `known` is false for
// types without arithmetic.
FloatKind KindOf(mlir::Type type, bool& known);

// Storage form to the type arithmetic is done in, and back.
llvm::Value* Widen(Ir& ir, llvm::Value* stored, FloatKind kind);
// Rounds a computed f32 (f64 for kF64) to storage form; `rounding` is rn, rz,
// rm or rp.
llvm::Value* Narrow(Ir& ir, llvm::Value* computed, FloatKind kind,
                    hetir::Rounding rounding);

// Subnormals become zeros of the same sign. On storage form.
llvm::Value* Flush(Ir& ir, llvm::Value* stored, FloatKind kind);
// NaN becomes the canonical NaN of the kind. On storage form.
llvm::Value* CanonicalNan(Ir& ir, llvm::Value* stored, FloatKind kind);
// Clamped to [0, 1], NaN to +0. On computed values.
llvm::Value* Saturate(Ir& ir, llvm::Value* computed);
// Negative values become +0; NaN stays. On computed values.
llvm::Value* Relu(Ir& ir, llvm::Value* computed);

// Bits of a float as integers of the same width, and back.
llvm::Value* ToBits(Ir& ir, llvm::Value* value);
llvm::Value* ToFloat(Ir& ir, llvm::Value* bits);
llvm::Value* ToF64(Ir& ir, llvm::Value* value);

// An exact f64 result: value + error. `error` null means none; only its sign
// and whether it is zero count.
struct ExactF64 {
  llvm::Value* value = nullptr;
  llvm::Value* error = nullptr;
};
ExactF64 ExactSum(Ir& ir, llvm::Value* a, llvm::Value* b);
// Rounds to f32 in any of rn (without error only), rz, rm, rp.
llvm::Value* RoundToF32(Ir& ir, ExactF64 exact, hetir::Rounding rounding);
// Rounds to f32 so that a further rounding to half the bits or fewer, in any
// mode, gives what one rounding of the exact result gives.
llvm::Value* RoundToOddF32(Ir& ir, ExactF64 exact);
// Moves `bits` (of the nearest float) by one unit where the exact result,
// which differs from it by the sign of `difference`, lies on the wrong side.
llvm::Value* AdjustDirected(Ir& ir, llvm::Value* bits, llvm::Value* difference,
                            hetir::Rounding rounding);

// The integer part of a computed value, saturated to the range of `type` (as
// many lanes as `value`); NaN gives zero.
llvm::Value* ToIntSaturated(Ir& ir, llvm::Value* value, llvm::Type* type,
                            bool is_signed);

// PTX's minimum and maximum; `nan` propagates NaN. On computed values.
llvm::Value* MinMax(Ir& ir, llvm::Value* a, llvm::Value* b, bool is_max,
                    bool nan);

inline llvm::Value* Fma(Ir& ir, llvm::Value* a, llvm::Value* b,
                        llvm::Value* c) {
  return ir.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
}
inline llvm::Constant* Number(llvm::Type* type, double value) {
  return llvm::ConstantFP::get(type, value);
}

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_FLOAT_MATH_H_
