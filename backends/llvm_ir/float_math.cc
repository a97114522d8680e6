#include "backends/llvm_ir/float_math.h"

#include <cmath>

#include "llvm/IR/Intrinsics.h"

namespace hetgpu::llvm_ir {
namespace {

using hetir::Rounding;

// Layout of a kind in its storage form.
struct Layout {
  unsigned bits;
  uint64_t sign;
  uint64_t exponent;  // all ones
  uint64_t nan;       // the canonical one
};

Layout LayoutOf(FloatKind kind) {
  switch (kind) {
    case FloatKind::kF16: return {16, 0x8000, 0x7c00, 0x7fff};
    case FloatKind::kBF16: return {16, 0x8000, 0x7f80, 0x7fff};
    case FloatKind::kF32: return {32, 0x80000000u, 0x7f800000u, 0x7fffffffu};
    case FloatKind::kF64: break;
  }
  return {64, uint64_t{1} << 63, uint64_t{0x7ff} << 52,
          uint64_t{0x7ff8} << 48};
}

llvm::Value* ToF32(Ir& ir, llvm::Value* value) {
  return ir.CreateFPExt(value, SameShape(ir.getFloatTy(), value->getType()));
}

llvm::Value* F32ToF16(Ir& ir, llvm::Value* value) {
  llvm::Type* half = SameShape(ir.getHalfTy(), value->getType());
  return ir.CreateBitCast(ir.CreateFPTrunc(value, half),
                          IntLike(value->getType(), 16));
}

// To nearest even on the bits: hardware conversions flush subnormals.
llvm::Value* F32ToBF16(Ir& ir, llvm::Value* value) {
  llvm::Value* bits = ToBits(ir, value);
  llvm::Type* type = bits->getType();
  llvm::Value* odd = ir.CreateAnd(ir.CreateLShr(bits, 16), Int(type, 1));
  llvm::Value* rounded =
      ir.CreateAdd(bits, ir.CreateAdd(odd, Int(type, 0x7fff)));
  llvm::Value* is_nan = ir.CreateFCmpUNO(value, value);
  rounded = ir.CreateSelect(is_nan, ir.CreateOr(bits, Int(type, 1u << 22)),
                            rounded);
  return ir.CreateTrunc(ir.CreateLShr(rounded, 16), IntLike(type, 16));
}

}  // namespace

FloatKind KindOf(mlir::Type type, bool& known) {
  mlir::Type element = mlir::getElementTypeOrSelf(type);
  known = true;
  if (element.isF16()) return FloatKind::kF16;
  if (element.isBF16()) return FloatKind::kBF16;
  if (element.isF32()) return FloatKind::kF32;
  known = element.isF64();
  return FloatKind::kF64;
}

llvm::Value* ToBits(Ir& ir, llvm::Value* value) {
  return ir.CreateBitCast(value, IntLike(value->getType(), BitWidth(value)));
}

llvm::Value* ToFloat(Ir& ir, llvm::Value* bits) {
  llvm::Type* element =
      BitWidth(bits) == 32 ? ir.getFloatTy() : ir.getDoubleTy();
  return ir.CreateBitCast(bits, SameShape(element, bits->getType()));
}

llvm::Value* ToF64(Ir& ir, llvm::Value* value) {
  llvm::Type* type = SameShape(ir.getDoubleTy(), value->getType());
  return type == value->getType() ? value : ir.CreateFPExt(value, type);
}

llvm::Value* Widen(Ir& ir, llvm::Value* stored, FloatKind kind) {
  if (kind == FloatKind::kF16) {
    return ToF32(ir, ir.CreateBitCast(
                         stored, SameShape(ir.getHalfTy(),
                                           stored->getType())));
  }
  if (kind == FloatKind::kBF16) {
    return ToFloat(ir, ir.CreateShl(
                           ir.CreateZExt(stored,
                                         IntLike(stored->getType(), 32)),
                           16));
  }
  return stored;
}

llvm::Value* Narrow(Ir& ir, llvm::Value* computed, FloatKind kind,
                    Rounding rounding) {
  if (kind == FloatKind::kF32 || kind == FloatKind::kF64) return computed;
  llvm::Value* bits = kind == FloatKind::kF16 ? F32ToF16(ir, computed)
                                              : F32ToBF16(ir, computed);
  if (rounding == Rounding::rn) return bits;
  llvm::Value* difference = ir.CreateFSub(computed, Widen(ir, bits, kind));
  return AdjustDirected(ir, bits, difference, rounding);
}

llvm::Value* Flush(Ir& ir, llvm::Value* stored, FloatKind kind) {
  Layout layout = LayoutOf(kind);
  bool is_float = stored->getType()->isFPOrFPVectorTy();
  llvm::Value* bits = is_float ? ToBits(ir, stored) : stored;
  llvm::Type* type = bits->getType();
  llvm::Value* subnormal = ir.CreateICmpEQ(
      ir.CreateAnd(bits, Int(type, layout.exponent)), Int(type, 0));
  llvm::Value* zero = ir.CreateAnd(bits, Int(type, layout.sign));
  if (is_float) zero = ToFloat(ir, zero);
  return ir.CreateSelect(subnormal, zero, stored);
}

llvm::Value* CanonicalNan(Ir& ir, llvm::Value* stored, FloatKind kind) {
  Layout layout = LayoutOf(kind);
  if (stored->getType()->isFPOrFPVectorTy()) {
    llvm::Type* bits = IntLike(stored->getType(), layout.bits);
    llvm::Value* nan = ToFloat(ir, Int(bits, layout.nan));
    return ir.CreateSelect(ir.CreateFCmpUNO(stored, stored), nan, stored);
  }
  llvm::Type* type = stored->getType();
  llvm::Value* magnitude = ir.CreateAnd(stored, Int(type, layout.sign - 1));
  return ir.CreateSelect(
      ir.CreateICmpUGT(magnitude, Int(type, layout.exponent)),
      Int(type, layout.nan), stored);
}

llvm::Value* Saturate(Ir& ir, llvm::Value* computed) {
  llvm::Type* type = computed->getType();
  llvm::Value* zero = Number(type, 0.0);
  llvm::Value* one = Number(type, 1.0);
  llvm::Value* positive =
      ir.CreateSelect(ir.CreateFCmpOGT(computed, zero), computed, zero);
  return ir.CreateSelect(ir.CreateFCmpOLT(positive, one), positive, one);
}

llvm::Value* Relu(Ir& ir, llvm::Value* computed) {
  llvm::Value* zero = Number(computed->getType(), 0.0);
  // Unordered: NaN is kept.
  return ir.CreateSelect(ir.CreateFCmpUGT(computed, zero), computed, zero);
}

ExactF64 ExactSum(Ir& ir, llvm::Value* a, llvm::Value* b) {
  llvm::Value* sum = ir.CreateFAdd(a, b);
  llvm::Value* b_part = ir.CreateFSub(sum, a);
  llvm::Value* a_part = ir.CreateFSub(sum, b_part);
  llvm::Value* error = ir.CreateFAdd(ir.CreateFSub(a, a_part),
                                     ir.CreateFSub(b, b_part));
  return {sum, error};
}

llvm::Value* AdjustDirected(Ir& ir, llvm::Value* bits, llvm::Value* difference,
                            Rounding rounding) {
  llvm::Type* type = bits->getType();
  llvm::Value* zero = Number(difference->getType(), 0.0);
  llvm::Value* below = ir.CreateFCmpOLT(difference, zero);
  llvm::Value* above = ir.CreateFCmpOGT(difference, zero);
  llvm::Value* negative = ir.CreateICmpSLT(bits, Int(type, 0));
  llvm::Constant* up = Int(type, 1);
  llvm::Constant* down = llvm::Constant::getAllOnesValue(type);
  llvm::Value* wrong_side = nullptr;
  llvm::Value* step = down;  // toward zero
  switch (rounding) {
    case Rounding::rz:
      wrong_side = ir.CreateSelect(negative, above, below);
      break;
    case Rounding::rm:
      wrong_side = below;
      step = ir.CreateSelect(negative, up, down);
      break;
    default:
      wrong_side = above;
      step = ir.CreateSelect(negative, down, up);
      break;
  }
  return ir.CreateAdd(bits, ir.CreateSelect(wrong_side, step, Int(type, 0)));
}

llvm::Value* RoundToF32(Ir& ir, ExactF64 exact, Rounding rounding) {
  llvm::Type* f32 = SameShape(ir.getFloatTy(), exact.value->getType());
  llvm::Value* nearest = ir.CreateFPTrunc(exact.value, f32);
  if (rounding == Rounding::rn) return nearest;
  llvm::Value* difference = ir.CreateFSub(exact.value, ToF64(ir, nearest));
  if (exact.error) {
    llvm::Value* none =
        ir.CreateFCmpOEQ(difference, Number(difference->getType(), 0.0));
    difference = ir.CreateSelect(none, exact.error, difference);
  }
  return ToFloat(ir, AdjustDirected(ir, ToBits(ir, nearest), difference,
                                    rounding));
}

llvm::Value* RoundToOddF32(Ir& ir, ExactF64 exact) {
  llvm::Value* truncated = RoundToF32(ir, exact, Rounding::rz);
  llvm::Value* inexact =
      ir.CreateFCmpUNE(ToF64(ir, truncated), exact.value);
  if (exact.error) {
    // Ordered: the error of an infinite sum is NaN and means nothing.
    inexact = ir.CreateOr(
        inexact, ir.CreateFCmpONE(exact.error,
                                  Number(exact.error->getType(), 0.0)));
  }
  llvm::Value* bits = ToBits(ir, truncated);
  return ToFloat(ir, ir.CreateOr(bits,
                                 ir.CreateZExt(inexact, bits->getType())));
}

// Spelled out for vectors, where code generators take the intrinsic apart into
// scalars.
llvm::Value* ToIntSaturated(Ir& ir, llvm::Value* value, llvm::Type* type,
                            bool is_signed) {
  llvm::Type* floats = value->getType();
  if (!floats->isVectorTy()) {
    return ir.CreateIntrinsic(
        is_signed ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
        {type, floats}, {value});
  }
  const unsigned width = type->getScalarSizeInBits();
  const unsigned magnitude = is_signed ? width - 1 : width;
  llvm::Value* bound = Number(floats, std::ldexp(1.0, magnitude));
  llvm::Value* least = is_signed ? Number(floats, -std::ldexp(1.0, magnitude))
                                 : Number(floats, 0.0);
  value = ir.CreateSelect(ir.CreateFCmpOLT(value, least), least, value);
  // False for NaN, which the conversion then does not see.
  llvm::Value* fits = ir.CreateFCmpOLT(value, bound);
  llvm::Value* safe = ir.CreateSelect(fits, value, Number(floats, 0.0));
  llvm::Value* converted;
  if (width < 32) {
    converted =
        ir.CreateTrunc(ir.CreateFPToSI(safe, IntLike(type, 32)), type);
  } else {
    converted = is_signed ? ir.CreateFPToSI(safe, type)
                          : ir.CreateFPToUI(safe, type);
  }
  llvm::Constant* most = llvm::ConstantInt::get(
      type, is_signed ? llvm::APInt::getSignedMaxValue(width)
                      : llvm::APInt::getMaxValue(width));
  return ir.CreateSelect(ir.CreateFCmpOGE(value, bound), most, converted);
}

llvm::Value* MinMax(Ir& ir, llvm::Value* a, llvm::Value* b, bool is_max,
                    bool nan) {
  llvm::Value* first = is_max ? ir.CreateFCmpOGT(a, b) : ir.CreateFCmpOLT(a, b);
  llvm::Value* result = ir.CreateSelect(first, a, b);
  // Equal values differ at most in the sign of zero.
  llvm::Value* a_bits = ToBits(ir, a);
  llvm::Value* b_bits = ToBits(ir, b);
  llvm::Value* zero = is_max ? ir.CreateAnd(a_bits, b_bits)
                             : ir.CreateOr(a_bits, b_bits);
  result = ir.CreateSelect(ir.CreateFCmpOEQ(a, b), ToFloat(ir, zero), result);
  // So far NaN on either side gives b.
  if (nan) {
    return ir.CreateSelect(ir.CreateFCmpUNO(a, a), a, result);
  }
  return ir.CreateSelect(ir.CreateFCmpUNO(b, b), a, result);
}

}  // namespace hetgpu::llvm_ir
