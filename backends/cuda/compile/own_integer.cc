// Integer ops that one instruction does. Bit counts, reversal, absolute value
// and products of double width are recognised by the code generator.
#include "backends/cuda/compile/own_ops.h"
#include "backends/cuda/compile/ptx_asm.h"
#include "hetir/dialect/HetIR.h"
#include "mlir/IR/Matchers.h"

namespace hetgpu::cuda {
namespace {

using namespace hetir;  // op classes
using llvm_ir::Emitter;
using Twine = llvm::Twine;
namespace arith = mlir::arith;

unsigned WidthOf(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::IntegerType>(value.getType());
  return type ? type.getWidth() : 0;
}

bool Is32(mlir::Value value) { return WidthOf(value) == 32; }
bool Is32Or64(mlir::Value value) {
  return WidthOf(value) == 32 || WidthOf(value) == 64;
}
bool Is16To64(mlir::Value value) {
  return WidthOf(value) == 16 || Is32Or64(value);
}

// ".s32", ".u64", …
std::string Suffix(bool is_signed, mlir::Value value) {
  return (is_signed ? ".s" : ".u") + std::to_string(WidthOf(value));
}
std::string Bits(mlir::Value value) {
  return ".b" + std::to_string(WidthOf(value));
}

bool IsConstant(mlir::Value value) {
  return mlir::matchPattern(value, mlir::m_Constant());
}

llvm::Value* Emit(Emitter& e, const Twine& opcode, mlir::Operation* op) {
  llvm::SmallVector<llvm::Value*> operands;
  for (mlir::Value operand : op->getOperands()) {
    operands.push_back(e.Get(operand));
  }
  return EmitAsm(e, Operation(opcode, operands.size()),
                 e.TypeOf(op->getResult(0)), operands);
}

template <typename Op>
llvm::Value* EmitSigned(Emitter& e, Op op, const char* name) {
  if (!Is16To64(op.getA())) return nullptr;
  return Emit(e, name + Suffix(op.getIsSigned(), op.getA()), op);
}
llvm::Value* EmitMulHi(Emitter& e, MulHiOp op, const Device&) {
  return EmitSigned(e, op, "mul.hi");
}
// The device divides by zero as hetIR says.
llvm::Value* EmitDiv(Emitter& e, DivOp op, const Device&) {
  return EmitSigned(e, op, "div");
}
llvm::Value* EmitRem(Emitter& e, RemOp op, const Device&) {
  return EmitSigned(e, op, "rem");
}
llvm::Value* EmitSad(Emitter& e, SadOp op, const Device&) {
  return EmitSigned(e, op, "sad");
}

template <typename Op>
llvm::Value* EmitSaturating(Emitter& e, Op op, const char* name) {
  if (!Is32(op.getA()) || !op.getIsSigned()) return nullptr;
  return Emit(e, name, op);
}
llvm::Value* EmitAddSat(Emitter& e, AddSatOp op, const Device&) {
  return EmitSaturating(e, op, "add.sat.s32");
}
llvm::Value* EmitSubSat(Emitter& e, SubSatOp op, const Device&) {
  return EmitSaturating(e, op, "sub.sat.s32");
}

// The device's shifts clamp as hetIR's do. By a constant a plain shift is
// known to be in range.
llvm::Value* EmitShl(Emitter& e, ShlOp op, const Device&) {
  if (!Is16To64(op.getA()) || IsConstant(op.getAmount())) return nullptr;
  return Emit(e, "shl" + Bits(op.getA()), op);
}
llvm::Value* EmitShr(Emitter& e, ShrOp op, const Device&) {
  if (!Is16To64(op.getA()) || IsConstant(op.getAmount())) return nullptr;
  return Emit(e, "shr" + Suffix(op.getIsSigned(), op.getA()), op);
}

template <typename Op>
llvm::Value* EmitArithShift(Emitter& e, Op op, const char* name) {
  if (!Is32(op.getLhs()) || IsConstant(op.getRhs())) return nullptr;
  return Emit(e, name, op);
}
llvm::Value* EmitShlI(Emitter& e, arith::ShLIOp op, const Device&) {
  return EmitArithShift(e, op, "shl.b32");
}
llvm::Value* EmitShrUI(Emitter& e, arith::ShRUIOp op, const Device&) {
  return EmitArithShift(e, op, "shr.u32");
}
llvm::Value* EmitShrSI(Emitter& e, arith::ShRSIOp op, const Device&) {
  return EmitArithShift(e, op, "shr.s32");
}

llvm::Value* EmitFunnelShift(Emitter& e, FunnelShiftOp op, const Device&) {
  if (!Is32(op.getLo())) return nullptr;
  if (op.getWrap() && op.getLo() == op.getHi()) {  // LLVM knows rotations
    llvm::Value* value = e.Get(op.getLo());
    return e.ir().CreateIntrinsic(
        value->getType(),
        op.getRight() ? llvm::Intrinsic::fshr : llvm::Intrinsic::fshl,
        {value, value, e.Get(op.getAmount())});
  }
  return Emit(e,
              Twine("shf.") + (op.getRight() ? "r" : "l") +
                  (op.getWrap() ? ".wrap" : ".clamp") + ".b32",
              op);
}

llvm::Value* EmitBfind(Emitter& e, BfindOp op, const Device&) {
  if (!Is32Or64(op.getA())) return nullptr;
  return Emit(e,
              Twine("bfind") + (op.getShiftAmount() ? ".shiftamt" : "") +
                  Suffix(op.getIsSigned(), op.getA()),
              op);
}
llvm::Value* EmitFns(Emitter& e, FnsOp op, const Device&) {
  return Is32(op.getMask()) ? Emit(e, "fns.b32", op) : nullptr;
}
llvm::Value* EmitBfe(Emitter& e, BfeOp op, const Device&) {
  if (!Is32Or64(op.getA())) return nullptr;
  return Emit(e, "bfe" + Suffix(op.getIsSigned(), op.getA()), op);
}
llvm::Value* EmitBfi(Emitter& e, BfiOp op, const Device&) {
  return Is32Or64(op.getA()) ? Emit(e, "bfi" + Bits(op.getA()), op) : nullptr;
}
llvm::Value* EmitBmsk(Emitter& e, BmskOp op, const Device&) {
  if (!Is32(op.getPos())) return nullptr;
  return Emit(e, Twine("bmsk") + (op.getWrap() ? ".wrap" : ".clamp") + ".b32",
              op);
}
llvm::Value* EmitSzext(Emitter& e, SzextOp op, const Device&) {
  if (!Is32(op.getA())) return nullptr;
  return Emit(e,
              Twine("szext") + (op.getWrap() ? ".wrap" : ".clamp") +
                  (op.getIsSigned() ? ".s32" : ".u32"),
              op);
}

llvm::Value* EmitPrmt(Emitter& e, PrmtOp op, const Device&) {
  if (!Is32(op.getA())) return nullptr;
  std::string mode = op.getMode() == PrmtMode::index
                         ? ""
                         : "." + stringifyEnum(op.getMode()).str();
  return Emit(e, "prmt.b32" + mode, op);
}
llvm::Value* EmitLop3(Emitter& e, Lop3Op op, const Device&) {
  if (!Is32(op.getA())) return nullptr;
  return EmitAsm(e,
                 "lop3.b32 $0, $1, $2, $3, " + Twine(op.getLut()) + ";",
                 e.TypeOf(op.getResult()),
                 {e.Get(op.getA()), e.Get(op.getB()), e.Get(op.getC())});
}
llvm::Value* EmitMul24(Emitter& e, Mul24Op op, const Device&) {
  if (!Is32(op.getA())) return nullptr;
  return Emit(e,
              Twine("mul24") + (op.getHi() ? ".hi" : ".lo") +
                  (op.getIsSigned() ? ".s32" : ".u32"),
              op);
}

template <typename Op>
llvm::Value* EmitDot(Emitter& e, Op op, const char* name) {
  if (!Is32(op.getA())) return nullptr;
  return Emit(e,
              Twine(name) + (op.getASigned() ? ".s32" : ".u32") +
                  (op.getBSigned() ? ".s32" : ".u32"),
              op);
}
llvm::Value* EmitDp4a(Emitter& e, Dp4aOp op, const Device&) {
  return EmitDot(e, op, "dp4a");
}
llvm::Value* EmitDp2a(Emitter& e, Dp2aOp op, const Device&) {
  return EmitDot(e, op, op.getHi() ? "dp2a.hi" : "dp2a.lo");
}

}  // namespace

void AddIntegerOps(OwnOps& table) {
  table.Value<MulHiOp, EmitMulHi>();
  table.Value<DivOp, EmitDiv>();
  table.Value<RemOp, EmitRem>();
  table.Value<SadOp, EmitSad>();
  table.Value<AddSatOp, EmitAddSat>();
  table.Value<SubSatOp, EmitSubSat>();
  table.Value<ShlOp, EmitShl>();
  table.Value<ShrOp, EmitShr>();
  table.Value<arith::ShLIOp, EmitShlI>();
  table.Value<arith::ShRUIOp, EmitShrUI>();
  table.Value<arith::ShRSIOp, EmitShrSI>();
  table.Value<FunnelShiftOp, EmitFunnelShift>();
  table.Value<BfindOp, EmitBfind>();
  table.Value<FnsOp, EmitFns>();
  table.Value<BfeOp, EmitBfe>();
  table.Value<BfiOp, EmitBfi>();
  table.Value<BmskOp, EmitBmsk>();
  table.Value<SzextOp, EmitSzext>();
  table.Value<PrmtOp, EmitPrmt>();
  table.Value<Lop3Op, EmitLop3>();
  table.Value<Mul24Op, EmitMul24>();
  table.Value<Dp4aOp, EmitDp4a>();
  table.Value<Dp2aOp, EmitDp2a>();
}

}  // namespace hetgpu::cuda
