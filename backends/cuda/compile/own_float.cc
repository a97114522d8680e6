// Float arithmetic, comparison and approximate functions. In strict mode NaN
// results are made canonical where the device keeps payloads (f64; the others
// give the canonical NaN), and approximate functions have their portable
// definition.
#include "backends/cuda/compile/own_ops.h"
#include "backends/cuda/compile/ptx_asm.h"
#include "backends/llvm_ir/float_math.h"
#include "hetir/dialect/HetIR.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace hetgpu::cuda {
namespace {

using namespace hetir;  // op classes
using llvm_ir::Emitter;
using llvm_ir::FloatKind;
using Twine = llvm::Twine;

constexpr unsigned kBf16Arithmetic = 90;
constexpr unsigned kBf16Fma = 80;

std::optional<FloatKind> KindOf(mlir::Value value) {
  bool known;
  FloatKind kind = llvm_ir::KindOf(value.getType(), known);
  bool scalar = mlir::isa<mlir::FloatType>(value.getType());
  if (!known || !scalar) return std::nullopt;
  return kind;
}

const char* NameOf(FloatKind kind) {
  static constexpr const char* kNames[] = {".f16", ".bf16", ".f32", ".f64"};
  return kNames[static_cast<int>(kind)];
}

bool IsSmall(FloatKind kind) {
  return kind == FloatKind::kF16 || kind == FloatKind::kBF16;
}

// "" for a mode that no instruction has.
std::string RoundingName(Rounding rounding) {
  if (rounding > Rounding::rp) return "";
  return "." + stringifyEnum(rounding).str();
}

std::string Flag(bool set, const char* name) { return set ? name : ""; }

// LLVM's own names of instructions, by rounding. They give what the text would,
// and take its code generator half the time.
namespace Id = llvm::Intrinsic;
struct Named {
  Id::ID f32[4], f32_ftz[4], f64[4];
};
#define HETGPU_NAMED(name)                                                  \
  {{Id::nvvm_##name##_rn_f, Id::nvvm_##name##_rz_f, Id::nvvm_##name##_rm_f, \
    Id::nvvm_##name##_rp_f},                                                \
   {Id::nvvm_##name##_rn_ftz_f, Id::nvvm_##name##_rz_ftz_f,                 \
    Id::nvvm_##name##_rm_ftz_f, Id::nvvm_##name##_rp_ftz_f},                \
   {Id::nvvm_##name##_rn_d, Id::nvvm_##name##_rz_d, Id::nvvm_##name##_rm_d, \
    Id::nvvm_##name##_rp_d}}
constexpr Named kAdd = HETGPU_NAMED(add);
constexpr Named kMul = HETGPU_NAMED(mul);
constexpr Named kFma = HETGPU_NAMED(fma);
#undef HETGPU_NAMED

Id::ID Find(const Named* named, Rounding rounding, bool ftz, FloatKind kind) {
  if (!named || IsSmall(kind)) return Id::not_intrinsic;
  const Id::ID(&ids)[4] = kind == FloatKind::kF64 ? named->f64
                      : ftz                   ? named->f32_ftz
                                              : named->f32;
  return ids[static_cast<int>(rounding)];
}

llvm::SmallVector<llvm::Value*> Operands(Emitter& e, mlir::Operation* op) {
  llvm::SmallVector<llvm::Value*> operands;
  for (mlir::Value operand : op->getOperands()) {
    operands.push_back(e.Get(operand));
  }
  return operands;
}

llvm::Value* Emit(Emitter& e, const Twine& opcode, mlir::Operation* op) {
  llvm::SmallVector<llvm::Value*> operands = Operands(e, op);
  return EmitAsm(e, Operation(opcode, operands.size()),
                 e.TypeOf(op->getResult(0)), operands);
}

// An arithmetic result, canonical where it must be.
llvm::Value* Arithmetic(Emitter& e, const Twine& opcode, mlir::Operation* op,
                        FloatKind kind, Id::ID named = Id::not_intrinsic) {
  llvm::Value* result =
      named == Id::not_intrinsic
          ? Emit(e, opcode, op)
          : e.ir().CreateIntrinsic(e.TypeOf(op->getResult(0)), named,
                                   Operands(e, op));
  if (!e.options().strict || kind != FloatKind::kF64) return result;
  return llvm_ir::CanonicalNan(e.ir(), result, kind);
}

bool IsBf16Missing(FloatKind kind, const Device& device, unsigned since) {
  return kind == FloatKind::kBF16 && device.sm < since;
}

template <typename Op>
llvm::Value* EmitBinary(Emitter& e, Op op, const Device& device,
                        const char* name, const Named* named) {
  std::optional<FloatKind> kind = KindOf(op.getA());
  if (!kind || IsBf16Missing(*kind, device, kBf16Arithmetic)) return nullptr;
  std::string rounding = RoundingName(op.getRounding());
  if (rounding.empty() || (*kind == FloatKind::kBF16 && op.getSat())) {
    return nullptr;
  }
  return Arithmetic(e,
                    name + rounding + Flag(op.getFtz(), ".ftz") +
                        Flag(op.getSat(), ".sat") + NameOf(*kind),
                    op, *kind,
                    Find(op.getSat() ? nullptr : named, op.getRounding(),
                         op.getFtz(), *kind));
}
llvm::Value* EmitAdd(Emitter& e, FAddOp op, const Device& device) {
  return EmitBinary(e, op, device, "add", &kAdd);
}
llvm::Value* EmitSub(Emitter& e, FSubOp op, const Device& device) {
  return EmitBinary(e, op, device, "sub", nullptr);
}
llvm::Value* EmitMul(Emitter& e, FMulOp op, const Device& device) {
  return EmitBinary(e, op, device, "mul", &kMul);
}

llvm::Value* EmitFma(Emitter& e, FFmaOp op, const Device& device) {
  std::optional<FloatKind> kind = KindOf(op.getA());
  if (!kind || IsBf16Missing(*kind, device, kBf16Fma)) return nullptr;
  std::string rounding = RoundingName(op.getRounding());
  if (rounding.empty() || (*kind == FloatKind::kBF16 && op.getSat()) ||
      (!IsSmall(*kind) && op.getRelu())) {
    return nullptr;
  }
  return Arithmetic(e,
                    "fma" + rounding + Flag(op.getFtz(), ".ftz") +
                        Flag(op.getSat(), ".sat") +
                        Flag(op.getRelu(), ".relu") + NameOf(*kind),
                    op, *kind,
                    Find(op.getSat() ? nullptr : &kFma, op.getRounding(),
                         op.getFtz(), *kind));
}

bool IsApproximate(Rounding rounding) {
  return rounding == Rounding::approx || rounding == Rounding::full;
}

// div, sqrt, rcp: f32 and f64; approximate ones f32 alone.
template <typename Op>
llvm::Value* EmitQuotient(Emitter& e, Op op, const char* name) {
  std::optional<FloatKind> kind = KindOf(op.getA());
  if (!kind || IsSmall(*kind)) return nullptr;
  bool approximate = IsApproximate(op.getRounding());
  if (approximate && (e.options().strict || *kind != FloatKind::kF32)) {
    return nullptr;
  }
  std::string rounding = approximate
                             ? "." + stringifyEnum(op.getRounding()).str()
                             : RoundingName(op.getRounding());
  if (rounding.empty()) return nullptr;
  return Arithmetic(
      e, name + rounding + Flag(op.getFtz(), ".ftz") + NameOf(*kind), op,
      *kind);
}
llvm::Value* EmitDiv(Emitter& e, FDivOp op, const Device&) {
  return op.getSat() ? nullptr : EmitQuotient(e, op, "div");
}
llvm::Value* EmitSqrt(Emitter& e, FSqrtOp op, const Device&) {
  return EmitQuotient(e, op, "sqrt");
}
llvm::Value* EmitRcp(Emitter& e, FRcpOp op, const Device&) {
  return EmitQuotient(e, op, "rcp");
}

// Signs are bits: only flushing needs the instruction. It also tells the
// assembler that a sign is a modifier of an operand.
template <typename Op>
llvm::Value* EmitSign(Emitter& e, Op op, const char* name) {
  std::optional<FloatKind> kind = KindOf(op.getA());
  if (!kind || *kind == FloatKind::kBF16 || e.options().strict) return nullptr;
  return Emit(e, name + Flag(op.getFtz(), ".ftz") + NameOf(*kind), op);
}
llvm::Value* EmitNeg(Emitter& e, FNegOp op, const Device&) {
  return EmitSign(e, op, "neg");
}
llvm::Value* EmitAbs(Emitter& e, FAbsOp op, const Device&) {
  return EmitSign(e, op, "abs");
}

llvm::Value* EmitApprox(Emitter& e, ApproxOp op, const Device& device) {
  std::optional<FloatKind> kind = KindOf(op.getA());
  if (!kind || e.options().strict) return nullptr;
  std::string ftz = Flag(op.getFtz(), ".ftz");
  const char* type = NameOf(*kind);
  switch (op.getFunction()) {
    case Approx::rcp_hi: return Emit(e, "rcp.approx.ftz.f64", op);
    case Approx::rsqrt_hi: return Emit(e, "rsqrt.approx.ftz.f64", op);
    case Approx::rsqrt:
      if (IsSmall(*kind)) return nullptr;
      return Emit(e, "rsqrt.approx" + ftz + type, op);
    case Approx::ex2:
      if (*kind == FloatKind::kF64) return nullptr;
      if (IsBf16Missing(*kind, device, 90)) return nullptr;
      if (*kind == FloatKind::kBF16) ftz = ".ftz";  // has no other form
      return Emit(e, "ex2.approx" + ftz + type, op);
    case Approx::tanh:
      if (*kind == FloatKind::kF64 || device.sm < 75) return nullptr;
      if (IsBf16Missing(*kind, device, 90)) return nullptr;
      return Emit(e, Twine("tanh.approx") + type, op);
    case Approx::lg2:
    case Approx::sin:
    case Approx::cos:
      if (*kind != FloatKind::kF32) return nullptr;
      return Emit(e, stringifyEnum(op.getFunction()) + ".approx" + ftz + type,
                  op);
  }
  return nullptr;
}

template <typename Op>
llvm::Value* EmitMinMax(Emitter& e, Op op, const Device& device,
                        const char* name) {
  std::optional<FloatKind> kind = KindOf(op.getA());
  if (!kind) return nullptr;
  unsigned since = op.getXorsignAbs() ? 86 : op.getNan() ? 80 : 0;
  if (IsSmall(*kind)) since = std::max(since, 80u);
  bool plain = !op.getNan() && !op.getXorsignAbs();
  if (device.sm < since || (*kind == FloatKind::kF64 && !plain)) {
    return nullptr;
  }
  return Arithmetic(e,
                    name + Flag(op.getFtz(), ".ftz") +
                        Flag(op.getNan(), ".NaN") +
                        Flag(op.getXorsignAbs(), ".xorsign.abs") +
                        NameOf(*kind),
                    op, *kind);
}
llvm::Value* EmitMin(Emitter& e, FMinOp op, const Device& device) {
  return EmitMinMax(e, op, device, "min");
}
llvm::Value* EmitMax(Emitter& e, FMaxOp op, const Device& device) {
  return EmitMinMax(e, op, device, "max");
}

llvm::Value* EmitCopySign(Emitter& e, CopySignOp op, const Device&) {
  std::optional<FloatKind> kind = KindOf(op.getA());
  if (!kind || IsSmall(*kind)) return nullptr;
  return Emit(e, Twine("copysign") + NameOf(*kind), op);
}

// Plain comparisons are the code generator's, which can negate them.
llvm::Value* EmitCompare(Emitter& e, FCmpOp op, const Device& device) {
  std::optional<FloatKind> kind = KindOf(op.getA());
  if (!kind || IsBf16Missing(*kind, device, 90)) return nullptr;
  if (!op.getFtz() && !IsSmall(*kind)) return nullptr;
  return Emit(e, "setp." + stringifyEnum(op.getPredicate()).str() +
                     Flag(op.getFtz(), ".ftz") + NameOf(*kind),
              op);
}

llvm::Value* EmitTestp(Emitter& e, TestpOp op, const Device&) {
  std::optional<FloatKind> kind = KindOf(op.getA());
  if (!kind || IsSmall(*kind)) return nullptr;
  return Emit(e, "testp." + stringifyEnum(op.getProperty()).str() +
                     NameOf(*kind),
              op);
}

}  // namespace

void AddFloatOps(OwnOps& table) {
  table.Value<FAddOp, EmitAdd>();
  table.Value<FSubOp, EmitSub>();
  table.Value<FMulOp, EmitMul>();
  table.Value<FFmaOp, EmitFma>();
  table.Value<FDivOp, EmitDiv>();
  table.Value<FSqrtOp, EmitSqrt>();
  table.Value<FRcpOp, EmitRcp>();
  table.Value<FNegOp, EmitNeg>();
  table.Value<FAbsOp, EmitAbs>();
  table.Value<ApproxOp, EmitApprox>();
  table.Value<FMinOp, EmitMin>();
  table.Value<FMaxOp, EmitMax>();
  table.Value<CopySignOp, EmitCopySign>();
  table.Value<FCmpOp, EmitCompare>();
  table.Value<TestpOp, EmitTestp>();
}

}  // namespace hetgpu::cuda
