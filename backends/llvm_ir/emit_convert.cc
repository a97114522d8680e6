// hetir.cvt: conversions between numeric types.
#include "backends/llvm_ir/float_math.h"
#include "backends/llvm_ir/op_table.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::llvm_ir {
namespace {

using hetir::CvtOp;
using hetir::Rounding;
namespace Id = llvm::Intrinsic;

mlir::Type ElementOf(mlir::Value value) {
  return mlir::getElementTypeOrSelf(value.getType());
}

// rni, rzi, rmi, rpi on a computed value.
llvm::Value* RoundToIntegral(Ir& ir, llvm::Value* value, Rounding rounding) {
  switch (rounding) {
    case Rounding::rni: return ir.CreateUnaryIntrinsic(Id::roundeven, value);
    case Rounding::rzi: return ir.CreateUnaryIntrinsic(Id::trunc, value);
    case Rounding::rmi: return ir.CreateUnaryIntrinsic(Id::floor, value);
    case Rounding::rpi: return ir.CreateUnaryIntrinsic(Id::ceil, value);
    default: return value;
  }
}

// To 10 mantissa bits, kept in an f32.
llvm::Value* RoundToTf32(Ir& ir, llvm::Value* value, Rounding rounding) {
  llvm::Value* bits = ToBits(ir, value);
  llvm::Type* type = bits->getType();
  llvm::Value* increment = Int(type, 0);
  if (rounding == Rounding::rna) increment = Int(type, 0x1000);
  if (rounding == Rounding::rn) {
    increment = ir.CreateAdd(
        Int(type, 0xfff),
        ir.CreateAnd(ir.CreateLShr(bits, 13), Int(type, 1)));
  }
  llvm::Value* rounded = ir.CreateAnd(ir.CreateAdd(bits, increment),
                                      Int(type, 0xffffe000u));
  llvm::Value* special = ir.CreateICmpEQ(
      ir.CreateAnd(bits, Int(type, 0x7f800000u)), Int(type, 0x7f800000u));
  llvm::Value* is_nan = ir.CreateFCmpUNO(value, value);
  llvm::Value* kept =
      ir.CreateSelect(is_nan, Int(type, 0x7fffffffu), bits);
  return ToFloat(ir, ir.CreateSelect(special, kept, rounded));
}

// A computed value (f32 or f64) to the storage form of `to`.
absl::StatusOr<llvm::Value*> NarrowTo(CvtOp op, Ir& ir, ExactF64 exact,
                                      llvm::Value* f32, mlir::Type to) {
  Rounding rounding = op.getRounding();
  if (rounding > Rounding::rp) rounding = Rounding::rn;
  if (to.isTF32()) {
    if (!f32) f32 = RoundToOddF32(ir, exact);
    return RoundToTf32(ir, f32, op.getRounding());
  }
  bool known;
  FloatKind kind = KindOf(to, known);
  if (!known) {
    return ErrorAt(op, "no conversion to this float type exists");
  }
  if (kind == FloatKind::kF64) {
    return f32 ? ToF64(ir, f32) : exact.value;
  }
  if (kind == FloatKind::kF32) {
    return f32 ? f32 : RoundToF32(ir, exact, rounding);
  }
  if (!f32) f32 = RoundToOddF32(ir, exact);
  return Narrow(ir, f32, kind, rounding);
}

absl::StatusOr<llvm::Value*> FloatToFloat(Emitter& e, CvtOp op) {
  Ir& ir = e.ir();
  bool known;
  FloatKind from = KindOf(op.getA().getType(), known);
  if (!known) return ErrorAt(op, "no conversion from this float type exists");
  llvm::Value* stored = e.Get(op.getA());
  if (op.getFtz() && from != FloatKind::kF64) {
    stored = Flush(ir, stored, from);
  }
  llvm::Value* value =
      RoundToIntegral(ir, Widen(ir, stored, from), op.getRounding());
  if (op.getRelu()) value = Relu(ir, value);
  if (op.getSat()) value = Saturate(ir, value);
  mlir::Type to = ElementOf(op.getResult());
  bool wide = from == FloatKind::kF64;
  absl::StatusOr<llvm::Value*> result = NarrowTo(
      op, ir, {wide ? value : nullptr}, wide ? nullptr : value, to);
  if (!result.ok() || to.isTF32()) return result;
  FloatKind kind = KindOf(to, known);
  if (op.getFtz() && kind != FloatKind::kF64) {
    result = Flush(ir, *result, kind);
  }
  if (e.options().strict) result = CanonicalNan(ir, *result, kind);
  return result;
}

absl::StatusOr<llvm::Value*> FloatToInt(Emitter& e, CvtOp op) {
  Ir& ir = e.ir();
  bool known;
  FloatKind from = KindOf(op.getA().getType(), known);
  if (!known) return ErrorAt(op, "no conversion from this float type exists");
  llvm::Value* stored = e.Get(op.getA());
  if (op.getFtz() && from != FloatKind::kF64) {
    stored = Flush(ir, stored, from);
  }
  llvm::Value* value =
      RoundToIntegral(ir, Widen(ir, stored, from), op.getRounding());
  llvm::Type* type = e.TypeOf(op.getResult());
  unsigned width = type->getScalarSizeInBits();
  llvm::Value* result = ToIntSaturated(ir, value, type, op.getDstSigned());
  if (from != FloatKind::kF64 && width != 64) return result;  // NaN: zero
  llvm::Value* least =
      llvm::ConstantInt::get(type, llvm::APInt::getSignMask(width));
  return ir.CreateSelect(ir.CreateFCmpUNO(value, value), least, result);
}

// A 64-bit integer as an exact sum of two f64.
ExactF64 ExactFromInt64(Ir& ir, llvm::Value* value, bool is_signed) {
  llvm::Type* f64 = SameShape(ir.getDoubleTy(), value->getType());
  llvm::Value* low = ir.CreateAnd(value, Int(value->getType(), 0xffffffffu));
  llvm::Value* high = ir.CreateSub(value, low);
  llvm::Value* high_f64 = is_signed ? ir.CreateSIToFP(high, f64)
                                    : ir.CreateUIToFP(high, f64);
  return ExactSum(ir, high_f64, ir.CreateUIToFP(low, f64));
}

absl::StatusOr<llvm::Value*> IntToFloat(Emitter& e, CvtOp op) {
  Ir& ir = e.ir();
  llvm::Value* value = e.Get(op.getA());
  mlir::Type to = ElementOf(op.getResult());
  bool is_signed = op.getSrcSigned();
  Rounding rounding = op.getRounding();
  if (rounding > Rounding::rp) {
    return ErrorAt(op, "expected rounding rn, rz, rm or rp");
  }
  llvm::Type* shape = value->getType();
  llvm::Value* result = nullptr;
  if (rounding == Rounding::rn && (to.isF32() || to.isF64())) {
    llvm::Type* type = e.TypeOf(op.getResult());
    result = is_signed ? ir.CreateSIToFP(value, type)
                       : ir.CreateUIToFP(value, type);
  } else {
    llvm::Type* f64 = SameShape(ir.getDoubleTy(), shape);
    ExactF64 exact;
    if (BitWidth(value) > 32) {
      exact = ExactFromInt64(ir, value, is_signed);
    } else {
      exact.value = is_signed ? ir.CreateSIToFP(value, f64)
                              : ir.CreateUIToFP(value, f64);
    }
    if (to.isF64()) {
      result = exact.value;
      if (exact.error) {
        result = ToFloat(ir, AdjustDirected(ir, ToBits(ir, result),
                                            exact.error, rounding));
      }
    } else {
      absl::StatusOr<llvm::Value*> narrow =
          NarrowTo(op, ir, exact, nullptr, to);
      if (!narrow.ok()) return narrow;
      result = *narrow;
    }
  }
  if (!op.getSat()) return result;
  bool known;
  FloatKind kind = KindOf(to, known);
  return Narrow(ir, Saturate(ir, Widen(ir, result, kind)), kind,
                Rounding::rn);
}

// Clamps to the range of the target, in a width that holds both ranges.
absl::StatusOr<llvm::Value*> IntToInt(Emitter& e, CvtOp op) {
  Ir& ir = e.ir();
  llvm::Value* value = e.Get(op.getA());
  llvm::Type* type = e.TypeOf(op.getResult());
  unsigned from = BitWidth(value);
  unsigned to = type->getScalarSizeInBits();
  if (!op.getSat()) {
    return ir.CreateIntCast(value, type, op.getSrcSigned());
  }
  unsigned width = std::max(from, to) + 1;
  llvm::Type* wide = IntLike(type, width);
  llvm::APInt least = op.getDstSigned()
                          ? llvm::APInt::getSignedMinValue(to).sext(width)
                          : llvm::APInt::getZero(width);
  llvm::APInt most = op.getDstSigned()
                         ? llvm::APInt::getSignedMaxValue(to).sext(width)
                         : llvm::APInt::getMaxValue(to).zext(width);
  llvm::Value* clamped = ir.CreateIntCast(value, wide, op.getSrcSigned());
  clamped = Binary(ir, Id::smax, clamped, llvm::ConstantInt::get(wide, least));
  clamped = Binary(ir, Id::smin, clamped, llvm::ConstantInt::get(wide, most));
  return ir.CreateTrunc(clamped, type);
}

absl::StatusOr<llvm::Value*> EmitCvt(Emitter& e, CvtOp op) {
  bool from_float = mlir::isa<mlir::FloatType>(ElementOf(op.getA()));
  bool to_float = mlir::isa<mlir::FloatType>(ElementOf(op.getResult()));
  if (from_float) return to_float ? FloatToFloat(e, op) : FloatToInt(e, op);
  return to_float ? IntToFloat(e, op) : IntToInt(e, op);
}

}  // namespace

void AddConvertOps(OpTable& table) { table.Fallible<CvtOp, EmitCvt>(); }

}  // namespace hetgpu::llvm_ir
