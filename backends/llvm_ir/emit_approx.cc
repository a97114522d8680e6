// Approximate functions: one portable definition each, straight-line f32
// arithmetic that gives the same bits on every target. Polynomials are
// near-minimax fits (Chebyshev interpolation), evaluated with fused
// multiply-adds. Measured errors stand in docs/approximations.md.
//
//   ex2    x = i + f, |f| <= 1/2; 2^f = 1 + f P(f); scaled by 2^i in two steps
//          so that subnormal results are rounded once
//   lg2    x = 2^k m, m in [sqrt 1/2, sqrt 2); t = m - 1; k + t P(t)
//   sin    x = k pi/2 + r with pi/2 in three parts; sine or cosine of r by
//   cos    the quadrant k mod 4
//   tanh   |x| < 0.6: x + x^3 P(x^2); else 1 - 2 / (2^(2 x log2 e) + 1)
//   rsqrt  1 / sqrt x, both exact
#include "backends/llvm_ir/float_math.h"
#include "backends/llvm_ir/op_table.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::llvm_ir {
namespace {

using hetir::Approx;
using hetir::ApproxOp;
namespace Id = llvm::Intrinsic;

constexpr float kEx2[] = {0x1.62e430p-1f, 0x1.ebfbe0p-3f,  0x1.c6af6cp-5f,
                          0x1.3b2a54p-7f, 0x1.5f0890p-10f, 0x1.44138ap-13f};
constexpr float kLg2[] = {0x1.715476p+0f,  -0x1.715470p-1f, 0x1.ec70aap-2f,
                          -0x1.715a70p-2f, 0x1.277a52p-2f,  -0x1.eab7aap-3f,
                          0x1.a38c68p-3f,  -0x1.87f6a2p-3f, 0x1.7a63a0p-3f,
                          -0x1.b84fb6p-4f};
constexpr float kSin[] = {-0x1.555552p-3f, 0x1.110c28p-7f, -0x1.9ac96cp-13f};
constexpr float kCos[] = {0x1.555554p-5f, -0x1.6c12d2p-10f, 0x1.9bd864p-16f};
constexpr float kTanh[] = {-0x1.555554p-2f, 0x1.110ee0p-3f, -0x1.b955dcp-5f,
                           0x1.59e1c8p-6f, -0x1.9ada60p-8f};
// Three parts of pi / 2.
constexpr float kHalfPi[] = {0x1.921fb6p+0f, -0x1.777a5cp-25f,
                             -0x1.ee59dap-50f};
constexpr float kTwoOverPi = 0x1.45f306p-1f;
constexpr float kTwoLog2E = 0x1.715476p+1f;
constexpr float kSmallestNormal = 0x1p-126f;

// c0 + x (c1 + x (c2 + …))
llvm::Value* Polynomial(Ir& ir, llvm::Value* x,
                        llvm::ArrayRef<float> coefficients) {
  llvm::Type* type = x->getType();
  llvm::Value* sum = Number(type, coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) {
    sum = Fma(ir, sum, x, Number(type, coefficients[i]));
  }
  return sum;
}

llvm::Value* FAbs(Ir& ir, llvm::Value* x) {
  return ir.CreateUnaryIntrinsic(Id::fabs, x);
}

// 2^n for an integer n in [-126, 127].
llvm::Value* PowerOfTwo(Ir& ir, llvm::Value* n) {
  llvm::Value* biased = ir.CreateAdd(n, Int(n->getType(), 127));
  return ToFloat(ir, ir.CreateShl(biased, 23));
}

llvm::Value* Ex2(Ir& ir, llvm::Value* x) {
  llvm::Type* type = x->getType();
  // Beyond these the result is infinite or zero. NaN passes both selects.
  llvm::Value* most = Number(type, 129.0);
  llvm::Value* least = Number(type, -152.0);
  x = ir.CreateSelect(ir.CreateFCmpOGT(x, most), most, x);
  x = ir.CreateSelect(ir.CreateFCmpOLT(x, least), least, x);
  llvm::Value* whole = ir.CreateUnaryIntrinsic(Id::roundeven, x);
  llvm::Value* fraction = ir.CreateFSub(x, whole);
  llvm::Value* power = Fma(ir, fraction, Polynomial(ir, fraction, kEx2),
                           Number(type, 1.0));
  llvm::Value* number = ir.CreateSelect(ir.CreateFCmpORD(whole, whole), whole,
                                        Number(type, 0.0));
  llvm::Value* exponent = ir.CreateFPToSI(number, IntLike(type, 32));
  llvm::Value* half = ir.CreateAShr(exponent, 1);
  llvm::Value* rest = ir.CreateSub(exponent, half);
  return ir.CreateFMul(ir.CreateFMul(power, PowerOfTwo(ir, half)),
                       PowerOfTwo(ir, rest));
}

llvm::Value* Lg2(Ir& ir, llvm::Value* x) {
  llvm::Type* type = x->getType();
  constexpr uint32_t kSqrtHalf = 0x3f3504f3;
  llvm::Value* tiny =
      ir.CreateFCmpOLT(x, Number(type, kSmallestNormal));
  llvm::Value* scaled = ir.CreateSelect(
      tiny, ir.CreateFMul(x, Number(type, 0x1p+24)), x);
  llvm::Value* bits = ToBits(ir, scaled);
  llvm::Type* ints = bits->getType();
  llvm::Value* exponent =
      ir.CreateAShr(ir.CreateSub(bits, Int(ints, kSqrtHalf)), 23);
  llvm::Value* mantissa =
      ToFloat(ir, ir.CreateSub(bits, ir.CreateShl(exponent, 23)));
  llvm::Value* k = ir.CreateSIToFP(
      ir.CreateSub(exponent, ir.CreateSelect(tiny, Int(ints, 24),
                                             Int(ints, 0))),
      type);
  llvm::Value* t = ir.CreateFSub(mantissa, Number(type, 1.0));
  llvm::Value* result = Fma(ir, t, Polynomial(ir, t, kLg2), k);
  llvm::Constant* infinity = llvm::ConstantFP::getInfinity(type);
  llvm::Value* zero = Number(type, 0.0);
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, infinity), infinity, result);
  result = ir.CreateSelect(ir.CreateFCmpOEQ(x, zero),
                           llvm::ConstantFP::getInfinity(type, true), result);
  // Negative or NaN.
  return ir.CreateSelect(ir.CreateFCmpULT(x, zero),
                         llvm::ConstantFP::getNaN(type), result);
}

// Sine of x + quarter pi/2.
llvm::Value* SinCos(Ir& ir, llvm::Value* x, unsigned quarter) {
  llvm::Type* type = x->getType();
  llvm::Value* k = ir.CreateUnaryIntrinsic(
      Id::roundeven, ir.CreateFMul(x, Number(type, kTwoOverPi)));
  llvm::Value* minus_k = ir.CreateFNeg(k);
  llvm::Value* r = x;
  for (float part : kHalfPi) r = Fma(ir, minus_k, Number(type, part), r);
  // For huge arguments k is not exact: stay in the range of the polynomials.
  // NaN passes.
  for (double bound : {0.8, -0.8}) {
    llvm::Value* limit = Number(type, bound);
    llvm::Value* beyond = bound > 0 ? ir.CreateFCmpOGT(r, limit)
                                    : ir.CreateFCmpOLT(r, limit);
    r = ir.CreateSelect(beyond, limit, r);
  }
  llvm::Value* square = ir.CreateFMul(r, r);
  llvm::Value* sine =
      Fma(ir, ir.CreateFMul(r, square), Polynomial(ir, square, kSin), r);
  llvm::Value* cosine = Fma(
      ir, ir.CreateFMul(square, square), Polynomial(ir, square, kCos),
      Fma(ir, square, Number(type, -0.5), Number(type, 1.0)));
  llvm::Value* quadrant =
      ToIntSaturated(ir, k, IntLike(type, 32), /*is_signed=*/true);
  llvm::Type* ints = quadrant->getType();
  quadrant = ir.CreateAdd(quadrant, Int(ints, quarter));
  llvm::Value* odd = ir.CreateICmpNE(ir.CreateAnd(quadrant, Int(ints, 1)),
                                     Int(ints, 0));
  llvm::Value* sign =
      ir.CreateShl(ir.CreateAnd(quadrant, Int(ints, 2)), 30);
  llvm::Value* picked = ir.CreateSelect(odd, cosine, sine);
  return ToFloat(ir, ir.CreateXor(ToBits(ir, picked), sign));
}

llvm::Value* Sin(Ir& ir, llvm::Value* x) {
  // The sign of a zero survives.
  return ir.CreateSelect(ir.CreateFCmpOEQ(x, Number(x->getType(), 0.0)), x,
                         SinCos(ir, x, 0));
}

llvm::Value* Tanh(Ir& ir, llvm::Value* x) {
  llvm::Type* type = x->getType();
  llvm::Value* magnitude = FAbs(ir, x);
  llvm::Value* square = ir.CreateFMul(x, x);
  llvm::Value* near =
      Fma(ir, ir.CreateFMul(magnitude, square),
          Polynomial(ir, square, kTanh), magnitude);
  llvm::Value* power =
      Ex2(ir, ir.CreateFMul(magnitude, Number(type, kTwoLog2E)));
  llvm::Value* one = Number(type, 1.0);
  llvm::Value* far = ir.CreateFSub(
      one, ir.CreateFDiv(Number(type, 2.0), ir.CreateFAdd(power, one)));
  llvm::Value* result = ir.CreateSelect(
      ir.CreateFCmpOLT(magnitude, Number(type, 0.6)), near, far);
  return ir.CreateBinaryIntrinsic(Id::copysign, result, x);
}

llvm::Value* Rsqrt(Ir& ir, llvm::Value* x) {
  return ir.CreateFDiv(Number(x->getType(), 1.0),
                       ir.CreateUnaryIntrinsic(Id::sqrt, x));
}

// Upper 32 bits of the reciprocal (square root) of the upper 32 bits.
llvm::Value* UpperHalf(Ir& ir, llvm::Value* x, bool root) {
  llvm::Type* ints = IntLike(x->getType(), 64);
  llvm::Constant* upper = Int(ints, 0xffffffff00000000u);
  x = ToFloat(ir, ir.CreateAnd(ToBits(ir, x), upper));
  x = Flush(ir, x, FloatKind::kF64);
  llvm::Value* result =
      root ? Rsqrt(ir, x) : ir.CreateFDiv(Number(x->getType(), 1.0), x);
  result = Flush(ir, result, FloatKind::kF64);
  return ToFloat(ir, ir.CreateAnd(ToBits(ir, result), upper));
}

absl::StatusOr<llvm::Value*> EmitF64(Emitter& e, ApproxOp op) {
  llvm::Value* x = e.Get(op.getA());
  if (op.getFtz()) x = Flush(e.ir(), x, FloatKind::kF64);
  switch (op.getFunction()) {
    case Approx::rsqrt: return Rsqrt(e.ir(), x);
    case Approx::rcp_hi: return UpperHalf(e.ir(), x, false);
    case Approx::rsqrt_hi: return UpperHalf(e.ir(), x, true);
    default: return ErrorAt(op, "no approximation of this function in f64");
  }
}

absl::StatusOr<llvm::Value*> EmitF32(Emitter& e, ApproxOp op,
                                     llvm::Value* x) {
  Ir& ir = e.ir();
  switch (op.getFunction()) {
    case Approx::rsqrt: return Rsqrt(ir, x);
    case Approx::ex2: return Ex2(ir, x);
    case Approx::lg2: return Lg2(ir, x);
    case Approx::sin: return Sin(ir, x);
    case Approx::cos: return SinCos(ir, x, 1);
    case Approx::tanh: return Tanh(ir, x);
    default: return ErrorAt(op, "expected f64");
  }
}

absl::StatusOr<llvm::Value*> EmitApprox(Emitter& e, ApproxOp op) {
  Ir& ir = e.ir();
  bool known;
  FloatKind kind = KindOf(op.getType(), known);
  if (!known) return ErrorAt(op, "no arithmetic exists on this float type");
  absl::StatusOr<llvm::Value*> result;
  if (kind == FloatKind::kF64) {
    result = EmitF64(e, op);
  } else {
    llvm::Value* stored = e.Get(op.getA());
    if (op.getFtz()) stored = Flush(ir, stored, kind);
    result = EmitF32(e, op, Widen(ir, stored, kind));
    if (result.ok()) {
      result = Narrow(ir, *result, kind, hetir::Rounding::rn);
      if (op.getFtz()) result = Flush(ir, *result, kind);
    }
  }
  if (result.ok() && e.options().strict) {
    result = CanonicalNan(ir, *result, kind);
  }
  return result;
}

}  // namespace

void AddApproxOps(OpTable& table) { table.Fallible<ApproxOp, EmitApprox>(); }

}  // namespace hetgpu::llvm_ir
