// Float ops with exact modes. The approximate functions are in emit_approx.cc.
#include "backends/llvm_ir/float_math.h"
#include "backends/llvm_ir/op_table.h"
#include "backends/llvm_ir/target_hooks.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::llvm_ir {
namespace {

using namespace hetir;  // op classes

// Whether the producer of a value has flushed it already.
bool IsFlushed(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  return op && op->hasAttr("ftz") &&
         mlir::isa<FAddOp, FSubOp, FMulOp, FDivOp, FFmaOp, FSqrtOp, FRcpOp,
                   FNegOp, FAbsOp, FMinOp, FMaxOp, ApproxOp>(op);
}

// What an arithmetic op does to its operands, once widened and flushed.
struct Arithmetic {
  // Rounded to nearest in the type of the operands.
  llvm::Value* (*nearest)(Ir&, llvm::ArrayRef<llvm::Value*>);
  // In f64, for operands that hold f32 values.
  ExactF64 (*exact)(Ir&, llvm::ArrayRef<llvm::Value*>);
  // The two summands whose exact zero sum is negative under rm; null for ops
  // that are not sums.
  void (*summands)(Ir&, llvm::ArrayRef<llvm::Value*>, llvm::Value*& a,
                   llvm::Value*& b);
};

constexpr Arithmetic kAdd = {
    [](Ir& ir, llvm::ArrayRef<llvm::Value*> x) {
      return ir.CreateFAdd(x[0], x[1]);
    },
    [](Ir& ir, llvm::ArrayRef<llvm::Value*> x) {
      return ExactSum(ir, x[0], x[1]);
    },
    [](Ir&, llvm::ArrayRef<llvm::Value*> x, llvm::Value*& a, llvm::Value*& b) {
      a = x[0];
      b = x[1];
    }};
constexpr Arithmetic kMul = {
    [](Ir& ir, llvm::ArrayRef<llvm::Value*> x) {
      return ir.CreateFMul(x[0], x[1]);
    },
    [](Ir& ir, llvm::ArrayRef<llvm::Value*> x) {
      return ExactF64{ir.CreateFMul(x[0], x[1])};
    },
    nullptr};
constexpr Arithmetic kFma = {
    [](Ir& ir, llvm::ArrayRef<llvm::Value*> x) {
      return Fma(ir, x[0], x[1], x[2]);
    },
    [](Ir& ir, llvm::ArrayRef<llvm::Value*> x) {
      return ExactSum(ir, ir.CreateFMul(x[0], x[1]), x[2]);
    },
    [](Ir& ir, llvm::ArrayRef<llvm::Value*> x, llvm::Value*& a,
       llvm::Value*& b) {
      a = ir.CreateFMul(x[0], x[1]);
      b = x[2];
    }};
constexpr Arithmetic kDiv = {
    [](Ir& ir, llvm::ArrayRef<llvm::Value*> x) {
      return ir.CreateFDiv(x[0], x[1]);
    },
    [](Ir& ir, llvm::ArrayRef<llvm::Value*> x) {
      llvm::Value* quotient = ir.CreateFDiv(x[0], x[1]);
      llvm::Value* rest = Fma(ir, ir.CreateFNeg(quotient), x[1], x[0]);
      llvm::Value* sign = ir.CreateBinaryIntrinsic(
          llvm::Intrinsic::copysign, Number(rest->getType(), 1.0), x[1]);
      return ExactF64{quotient, ir.CreateFMul(rest, sign)};
    },
    nullptr};
// div.approx multiplies by a reciprocal that underflows above 2^126.
constexpr Arithmetic kDivApprox = {
    [](Ir& ir, llvm::ArrayRef<llvm::Value*> x) {
      llvm::Type* type = x[1]->getType();
      llvm::Value* size =
          ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x[1]);
      llvm::Value* infinity = ir.CreateBinaryIntrinsic(
          llvm::Intrinsic::copysign, llvm::ConstantFP::getInfinity(type),
          x[1]);
      llvm::Value* huge = ir.CreateFCmpOGT(size, Number(type, 0x1p126));
      return ir.CreateFDiv(x[0], ir.CreateSelect(huge, infinity, x[1]));
    },
    kDiv.exact, nullptr};
constexpr Arithmetic kSqrt = {
    [](Ir& ir, llvm::ArrayRef<llvm::Value*> x) -> llvm::Value* {
      return ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x[0]);
    },
    [](Ir& ir, llvm::ArrayRef<llvm::Value*> x) {
      llvm::Value* root =
          ir.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x[0]);
      return ExactF64{root, Fma(ir, ir.CreateFNeg(root), root, x[0])};
    },
    nullptr};

// An f32 result in a directed mode.
llvm::Value* DirectedF32(Ir& ir, const Arithmetic& arithmetic,
                         llvm::ArrayRef<llvm::Value*> operands,
                         Rounding rounding) {
  llvm::SmallVector<llvm::Value*, 3> wide;
  for (llvm::Value* operand : operands) wide.push_back(ToF64(ir, operand));
  ExactF64 exact = arithmetic.exact(ir, wide);
  llvm::Value* result = RoundToF32(ir, exact, rounding);
  if (rounding != Rounding::rm || !arithmetic.summands) return result;
  llvm::Value* a = nullptr;
  llvm::Value* b = nullptr;
  arithmetic.summands(ir, wide, a, b);
  llvm::Value* bits = ir.CreateOr(ToBits(ir, a), ToBits(ir, b));
  llvm::Value* negative = ir.CreateICmpSLT(bits, Int(bits->getType(), 0));
  llvm::Type* type = result->getType();
  llvm::Value* zero = ir.CreateSelect(negative, Number(type, -0.0),
                                      Number(type, 0.0));
  llvm::Value* is_zero =
      ir.CreateFCmpOEQ(exact.value, Number(exact.value->getType(), 0.0));
  return ir.CreateSelect(is_zero, zero, result);
}

// Fused multiply-add of f16 or bf16: two roundings would show, so the first
// one is to odd.
llvm::Value* SmallFma(Ir& ir, llvm::ArrayRef<llvm::Value*> operands) {
  llvm::SmallVector<llvm::Value*, 3> wide;
  for (llvm::Value* operand : operands) wide.push_back(ToF64(ir, operand));
  return RoundToOddF32(ir, kFma.exact(ir, wide));
}

struct Modes {
  Rounding rounding = Rounding::rn;
  bool ftz = false;
  bool sat = false;
  bool relu = false;
};

// Brings a computed value to storage form with all modifiers applied.
llvm::Value* Finish(Emitter& e, llvm::Value* value, FloatKind kind,
                    const Modes& modes) {
  Ir& ir = e.ir();
  if (modes.relu) value = Relu(ir, value);
  if (modes.sat) value = Saturate(ir, value);
  value = Narrow(ir, value, kind, Rounding::rn);
  if (modes.ftz) value = Flush(ir, value, kind);
  if (e.options().strict) value = CanonicalNan(ir, value, kind);
  return value;
}

absl::StatusOr<llvm::Value*> EmitArithmetic(
    Emitter& e, mlir::Operation* op, const Arithmetic& arithmetic,
    llvm::ArrayRef<llvm::Value*> operands, const Modes& modes) {
  bool known;
  FloatKind kind = KindOf(op->getResult(0).getType(), known);
  Rounding rounding = modes.rounding;
  if (rounding == Rounding::approx || rounding == Rounding::full) {
    rounding = Rounding::rn;  // exact is within every bound
  }
  bool small = kind == FloatKind::kF16 || kind == FloatKind::kBF16;
  if (rounding > Rounding::rp || (small && rounding != Rounding::rn)) {
    return ErrorAt(op, "rounding mode " + stringifyEnum(modes.rounding) +
                           " does not exist for this type");
  }
  Ir& ir = e.ir();
  llvm::Value* result;
  if (small && arithmetic.nearest == kFma.nearest) {
    result = SmallFma(ir, operands);
  } else if (rounding == Rounding::rn) {
    result = arithmetic.nearest(ir, operands);
  } else if (kind == FloatKind::kF32) {
    result = e.hooks().DirectedF32(e, op, rounding, operands);
    if (!result) result = DirectedF32(ir, arithmetic, operands, rounding);
  } else {
    absl::StatusOr<llvm::Value*> directed =
        e.hooks().DirectedF64(e, op, rounding, operands);
    if (!directed.ok()) return directed.status();
    result = *directed;
  }
  return Finish(e, result, kind, modes);
}

// Operand in the type arithmetic is done in.
absl::StatusOr<llvm::Value*> Operand(Emitter& e, mlir::Operation* op,
                                     mlir::Value value, bool ftz) {
  bool known;
  FloatKind kind = KindOf(value.getType(), known);
  if (!known) return ErrorAt(op, "no arithmetic exists on this float type");
  llvm::Value* stored = e.Get(value);
  if (ftz && !IsFlushed(value)) stored = Flush(e.ir(), stored, kind);
  return Widen(e.ir(), stored, kind);
}

absl::StatusOr<llvm::SmallVector<llvm::Value*, 3>> Operands(
    Emitter& e, mlir::Operation* op, bool ftz) {
  llvm::SmallVector<llvm::Value*, 3> operands;
  for (mlir::Value value : op->getOperands()) {
    absl::StatusOr<llvm::Value*> operand = Operand(e, op, value, ftz);
    if (!operand.ok()) return operand.status();
    operands.push_back(*operand);
  }
  return operands;
}

template <typename Op, const Arithmetic& kArithmetic>
absl::StatusOr<llvm::Value*> EmitBinary(Emitter& e, Op op) {
  auto operands = Operands(e, op, op.getFtz());
  if (!operands.ok()) return operands.status();
  return EmitArithmetic(e, op, kArithmetic, *operands,
                        {op.getRounding(), op.getFtz(), op.getSat(), false});
}

absl::StatusOr<llvm::Value*> EmitSub(Emitter& e, FSubOp op) {
  auto operands = Operands(e, op, op.getFtz());
  if (!operands.ok()) return operands.status();
  (*operands)[1] = e.ir().CreateFNeg((*operands)[1]);
  return EmitArithmetic(e, op, kAdd, *operands,
                        {op.getRounding(), op.getFtz(), op.getSat(), false});
}

absl::StatusOr<llvm::Value*> EmitFma(Emitter& e, FFmaOp op) {
  auto operands = Operands(e, op, op.getFtz());
  if (!operands.ok()) return operands.status();
  return EmitArithmetic(
      e, op, kFma, *operands,
      {op.getRounding(), op.getFtz(), op.getSat(), op.getRelu()});
}

absl::StatusOr<llvm::Value*> EmitDiv(Emitter& e, FDivOp op) {
  return op.getRounding() == Rounding::approx
             ? EmitBinary<FDivOp, kDivApprox>(e, op)
             : EmitBinary<FDivOp, kDiv>(e, op);
}

absl::StatusOr<llvm::Value*> EmitSqrt(Emitter& e, FSqrtOp op) {
  auto operands = Operands(e, op, op.getFtz());
  if (!operands.ok()) return operands.status();
  return EmitArithmetic(e, op, kSqrt, *operands,
                        {op.getRounding(), op.getFtz(), false, false});
}

absl::StatusOr<llvm::Value*> EmitRcp(Emitter& e, FRcpOp op) {
  auto operands = Operands(e, op, op.getFtz());
  if (!operands.ok()) return operands.status();
  operands->insert(operands->begin(),
                   Number(operands->front()->getType(), 1.0));
  return EmitArithmetic(e, op, kDiv, *operands,
                        {op.getRounding(), op.getFtz(), false, false});
}

// On the bits of the storage form.
llvm::Value* SignMask(Ir& ir, llvm::Type* bits) {
  return llvm::ConstantInt::get(
      bits, llvm::APInt::getSignMask(bits->getScalarSizeInBits()));
}
llvm::Value* LikeStored(Ir& ir, llvm::Value* bits, llvm::Value* stored) {
  return ir.CreateBitCast(bits, stored->getType());
}

template <typename Op, bool kClear>
absl::StatusOr<llvm::Value*> EmitSign(Emitter& e, Op op) {
  Ir& ir = e.ir();
  bool known;
  FloatKind kind = KindOf(op.getA().getType(), known);
  if (!known) return ErrorAt(op, "no arithmetic exists on this float type");
  llvm::Value* stored = e.Get(op.getA());
  if (op.getFtz() && !IsFlushed(op.getA())) stored = Flush(ir, stored, kind);
  llvm::Value* bits = ToBits(ir, stored);
  llvm::Value* sign = SignMask(ir, bits->getType());
  bits = kClear ? ir.CreateAnd(bits, ir.CreateNot(sign))
                : ir.CreateXor(bits, sign);
  return LikeStored(ir, bits, stored);
}

llvm::Value* EmitCopySign(Emitter& e, CopySignOp op) {
  Ir& ir = e.ir();
  llvm::Value* sign_source = ToBits(ir, e.Get(op.getA()));
  llvm::Value* magnitude = ToBits(ir, e.Get(op.getB()));
  llvm::Value* sign = SignMask(ir, magnitude->getType());
  llvm::Value* bits =
      ir.CreateOr(ir.CreateAnd(sign_source, sign),
                  ir.CreateAnd(magnitude, ir.CreateNot(sign)));
  return LikeStored(ir, bits, e.Get(op.getB()));
}

template <typename Op, bool kIsMax>
absl::StatusOr<llvm::Value*> EmitMinMax(Emitter& e, Op op) {
  auto operands = Operands(e, op, op.getFtz());
  if (!operands.ok()) return operands.status();
  Ir& ir = e.ir();
  llvm::Value* a = (*operands)[0];
  llvm::Value* b = (*operands)[1];
  if (!op.getXorsignAbs()) {
    llvm::Value* result = MinMax(ir, a, b, kIsMax, op.getNan());
    bool known;
    return Finish(e, result, KindOf(op.getType(), known),
                  {.ftz = op.getFtz()});
  }
  llvm::Value* sign = ir.CreateXor(ToBits(ir, a), ToBits(ir, b));
  llvm::Value* magnitude =
      MinMax(ir, ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a),
             ir.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, b), kIsMax,
             op.getNan());
  llvm::Value* result = ir.CreateBinaryIntrinsic(
      llvm::Intrinsic::copysign, magnitude, ToFloat(ir, sign));
  bool known;
  return Finish(e, result, KindOf(op.getType(), known), {.ftz = op.getFtz()});
}

absl::StatusOr<llvm::Value*> EmitCompare(Emitter& e, FCmpOp op) {
  using P = llvm::CmpInst;
  static constexpr P::Predicate kPredicates[] = {
      P::FCMP_OEQ, P::FCMP_ONE, P::FCMP_OLT, P::FCMP_OLE, P::FCMP_OGT,
      P::FCMP_OGE, P::FCMP_UEQ, P::FCMP_UNE, P::FCMP_ULT, P::FCMP_ULE,
      P::FCMP_UGT, P::FCMP_UGE, P::FCMP_ORD, P::FCMP_UNO};
  auto operands = Operands(e, op, op.getFtz());
  if (!operands.ok()) return operands.status();
  return e.ir().CreateFCmp(
      kPredicates[static_cast<size_t>(op.getPredicate())], (*operands)[0],
      (*operands)[1]);
}

// On the bits, so that no operation can quiet or flush the value. Zeros count
// as normal.
absl::StatusOr<llvm::Value*> EmitTestp(Emitter& e, TestpOp op) {
  Ir& ir = e.ir();
  bool known;
  FloatKind kind = KindOf(op.getA().getType(), known);
  if (!known) return ErrorAt(op, "no arithmetic exists on this float type");
  llvm::Value* bits = ToBits(ir, e.Get(op.getA()));
  llvm::Type* type = bits->getType();
  static constexpr uint64_t kExponents[] = {0x7c00, 0x7f80, 0x7f800000u,
                                            uint64_t{0x7ff} << 52};
  llvm::Value* ones = Int(type, kExponents[static_cast<int>(kind)]);
  llvm::Value* zero = Int(type, 0);
  llvm::Value* exponent = ir.CreateAnd(bits, ones);
  llvm::Value* magnitude =
      ir.CreateAnd(bits, ir.CreateNot(SignMask(ir, type)));
  llvm::Value* tiny = ir.CreateICmpEQ(exponent, zero);
  llvm::Value* is_zero = ir.CreateICmpEQ(magnitude, zero);
  switch (op.getProperty()) {
    case Testp::finite: return ir.CreateICmpNE(exponent, ones);
    case Testp::infinite: return ir.CreateICmpEQ(magnitude, ones);
    case Testp::number: return ir.CreateICmpULE(magnitude, ones);
    case Testp::notanumber: return ir.CreateICmpUGT(magnitude, ones);
    case Testp::normal:
      return ir.CreateOr(is_zero,
                         ir.CreateAnd(ir.CreateNot(tiny),
                                      ir.CreateICmpNE(exponent, ones)));
    case Testp::subnormal:
      return ir.CreateAnd(tiny, ir.CreateNot(is_zero));
  }
  return ErrorAt(op, "unknown property");
}

}  // namespace

void AddFloatOps(OpTable& table) {
  table.Fallible<FAddOp, EmitBinary<FAddOp, kAdd>>();
  table.Fallible<FSubOp, EmitSub>();
  table.Fallible<FMulOp, EmitBinary<FMulOp, kMul>>();
  table.Fallible<FDivOp, EmitDiv>();
  table.Fallible<FFmaOp, EmitFma>();
  table.Fallible<FSqrtOp, EmitSqrt>();
  table.Fallible<FRcpOp, EmitRcp>();
  table.Fallible<FNegOp, EmitSign<FNegOp, false>>();
  table.Fallible<FAbsOp, EmitSign<FAbsOp, true>>();
  table.Fallible<FMinOp, EmitMinMax<FMinOp, false>>();
  table.Fallible<FMaxOp, EmitMinMax<FMaxOp, true>>();
  table.Value<CopySignOp, EmitCopySign>();
  table.Fallible<FCmpOp, EmitCompare>();
  table.Fallible<TestpOp, EmitTestp>();
}

}  // namespace hetgpu::llvm_ir
