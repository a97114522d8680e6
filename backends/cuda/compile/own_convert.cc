// hetir.cvt as cvt.
#include "backends/cuda/compile/own_ops.h"
#include "backends/cuda/compile/ptx_asm.h"
#include "backends/llvm_ir/float_math.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::cuda {
namespace {

using hetir::CvtOp;
using hetir::Rounding;
using llvm_ir::Emitter;

bool IsFloat(mlir::Type type) { return mlir::isa<mlir::FloatType>(type); }

// ".f32", ".s8", …; "" for a type that no cvt has.
std::string TypeName(mlir::Type type, bool is_signed) {
  if (type.isF16()) return ".f16";
  if (type.isBF16()) return ".bf16";
  if (type.isF32()) return ".f32";
  if (type.isF64()) return ".f64";
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  if (!integer || integer.getWidth() < 8 || integer.getWidth() > 64) return "";
  return (is_signed ? ".s" : ".u") + std::to_string(integer.getWidth());
}

bool IsIntegral(Rounding rounding) { return rounding >= Rounding::rni; }

// How float becomes float; nothing where no instruction does.
std::optional<std::string> FloatRounding(CvtOp op, const Device& device) {
  mlir::Type from = op.getA().getType();
  mlir::Type to = op.getType();
  Rounding rounding = op.getRounding();
  unsigned from_bits = from.getIntOrFloatBitWidth();
  unsigned to_bits = to.getIntOrFloatBitWidth();
  if (from.isBF16() || to.isBF16()) {
    // Widening is a shift; narrowing from f32 to nearest came first.
    bool known = from.isF32() && device.sm >= 80 && !op.getSat() &&
                 rounding <= Rounding::rz;
    if (!known) return std::nullopt;
  }
  if (from == to) {
    if (!IsIntegral(rounding)) return rounding == Rounding::rn
                                          ? std::optional<std::string>("")
                                          : std::nullopt;
    return "." + hetir::stringifyEnum(rounding).str();
  }
  if (IsIntegral(rounding)) return std::nullopt;
  if (to_bits > from_bits) return "";
  if (rounding > Rounding::rp) return std::nullopt;
  return "." + hetir::stringifyEnum(rounding).str();
}

llvm::Value* FloatToFloat(Emitter& e, CvtOp op, const Device& device) {
  std::optional<std::string> rounding = FloatRounding(op, device);
  mlir::Type from = op.getA().getType();
  mlir::Type to = op.getType();
  if (!rounding) return nullptr;
  // Some flags exist between some types only.
  bool has_f32 = from.isF32() || to.isF32();
  bool to_small = to.isF16() || to.isBF16();
  bool relu_known = from.isF32() && to_small && device.sm >= 80 &&
                    op.getRounding() <= Rounding::rz;
  if ((op.getFtz() && !has_f32) || (op.getRelu() && !relu_known) ||
      (op.getFtz() && to_small)) {
    return nullptr;
  }
  std::string text = "cvt" + *rounding + (op.getRelu() ? ".relu" : "") +
                     (op.getFtz() ? ".ftz" : "") +
                     (op.getSat() ? ".sat" : "") + TypeName(to, false) +
                     TypeName(from, false);
  llvm::Value* result = EmitAsm(e, Operation(text, 1),
                                e.TypeOf(op.getResult()),
                                {e.Get(op.getA())});
  if (!e.options().strict) return result;
  bool known;
  return llvm_ir::CanonicalNan(e.ir(), result, llvm_ir::KindOf(to, known));
}

llvm::Value* FloatToInt(Emitter& e, CvtOp op) {
  mlir::Type from = op.getA().getType();
  if (from.isBF16() || !IsIntegral(op.getRounding())) return nullptr;
  std::string to = TypeName(op.getType(), op.getDstSigned());
  if (to.empty() || (op.getFtz() && !from.isF32())) return nullptr;
  std::string text = "cvt." + hetir::stringifyEnum(op.getRounding()).str() +
                     (op.getFtz() ? ".ftz" : "") + to + TypeName(from, false);
  return EmitAsm(e, Operation(text, 1), e.TypeOf(op.getResult()),
                 {e.Get(op.getA())});
}

llvm::Value* IntToFloat(Emitter& e, CvtOp op) {
  std::string from = TypeName(op.getA().getType(), op.getSrcSigned());
  if (from.empty() || op.getType().isBF16() ||
      op.getRounding() > Rounding::rp) {
    return nullptr;
  }
  std::string text = "cvt." + hetir::stringifyEnum(op.getRounding()).str() +
                     (op.getSat() ? ".sat" : "") +
                     TypeName(op.getType(), false) + from;
  return EmitAsm(e, Operation(text, 1), e.TypeOf(op.getResult()),
                 {e.Get(op.getA())});
}

llvm::Value* IntToInt(Emitter& e, CvtOp op) {
  std::string from = TypeName(op.getA().getType(), op.getSrcSigned());
  std::string to = TypeName(op.getType(), op.getDstSigned());
  if (!op.getSat() || from.empty() || to.empty()) return nullptr;
  return EmitAsm(e, Operation("cvt.sat" + to + from, 1),
                 e.TypeOf(op.getResult()), {e.Get(op.getA())});
}

llvm::Value* EmitCvt(Emitter& e, CvtOp op, const Device& device) {
  mlir::Type from = op.getA().getType();
  mlir::Type to = op.getType();
  if (mlir::isa<mlir::VectorType>(from) || from.isTF32() || to.isTF32()) {
    return nullptr;
  }
  if (IsFloat(from)) {
    return IsFloat(to) ? FloatToFloat(e, op, device) : FloatToInt(e, op);
  }
  return IsFloat(to) ? IntToFloat(e, op) : IntToInt(e, op);
}

}  // namespace

void AddConvertOps(OwnOps& table) { table.Value<CvtOp, EmitCvt>(); }

}  // namespace hetgpu::cuda
