// Atomic read-modify-write and compare-and-swap. Integer kinds are one
// instruction; float kinds are compare-and-swap loops with the arithmetic of
// the float ops. A packed pair is updated as one 32-bit word.
#include "backends/llvm_ir/float_math.h"
#include "backends/llvm_ir/memory_access.h"
#include "backends/llvm_ir/op_table.h"
#include "backends/llvm_ir/ordering.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::llvm_ir {
namespace {

using hetir::AtomicCasOp;
using hetir::AtomicKind;
using hetir::AtomicOp;

llvm::AtomicOrdering FailureOrdering(llvm::AtomicOrdering success) {
  return llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(success);
}

std::optional<llvm::AtomicRMWInst::BinOp> IntegerKind(AtomicKind kind) {
  using Rmw = llvm::AtomicRMWInst;
  switch (kind) {
    case AtomicKind::add: return Rmw::Add;
    case AtomicKind::and_: return Rmw::And;
    case AtomicKind::or_: return Rmw::Or;
    case AtomicKind::xor_: return Rmw::Xor;
    case AtomicKind::exch: return Rmw::Xchg;
    case AtomicKind::smin: return Rmw::Min;
    case AtomicKind::smax: return Rmw::Max;
    case AtomicKind::umin: return Rmw::UMin;
    case AtomicKind::umax: return Rmw::UMax;
    case AtomicKind::inc: return Rmw::UIncWrap;
    case AtomicKind::dec: return Rmw::UDecWrap;
    default: return std::nullopt;
  }
}

// The new value of a float kind, in storage form.
llvm::Value* Combine(Ir& ir, AtomicOp op, FloatKind kind, llvm::Value* old,
                     llvm::Value* value) {
  if (op.getFtz()) {
    old = Flush(ir, old, kind);
    value = Flush(ir, value, kind);
  }
  llvm::Value* a = Widen(ir, old, kind);
  llvm::Value* b = Widen(ir, value, kind);
  llvm::Value* result;
  if (op.getKind() == AtomicKind::fadd) {
    result = ir.CreateFAdd(a, b);
  } else {
    result = MinMax(ir, a, b, op.getKind() == AtomicKind::fmax, false);
  }
  result = Narrow(ir, result, kind, hetir::Rounding::rn);
  return op.getFtz() ? Flush(ir, result, kind) : result;
}

// old = *p; do { new = combine(old) } while (!cas(p, &old, new))
llvm::Value* EmitLoop(Emitter& e, AtomicOp op, FloatKind kind,
                      llvm::Value* pointer, uint64_t bytes) {
  Ir& ir = e.ir();
  llvm::Value* value = e.Get(op.getValue());
  llvm::Type* type = value->getType();
  llvm::Type* bits = ir.getIntNTy(bytes * 8);
  llvm::LoadInst* first =
      ir.CreateAlignedLoad(bits, pointer, llvm::Align(bytes));
  first->setAtomic(llvm::AtomicOrdering::Monotonic);
  llvm::BasicBlock* before = ir.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(e.context(), "", e.function());
  auto* next = llvm::BasicBlock::Create(e.context(), "", e.function());
  loop->moveAfter(before);
  next->moveAfter(loop);
  ir.CreateBr(loop);
  ir.SetInsertPoint(loop);
  llvm::PHINode* old = ir.CreatePHI(bits, 2);
  old->addIncoming(first, before);
  llvm::Value* combined =
      Combine(ir, op, kind, ir.CreateBitCast(old, type), value);
  llvm::AtomicOrdering ordering = RmwOrdering(op.getOrdering());
  llvm::AtomicCmpXchgInst* swap = ir.CreateAtomicCmpXchg(
      pointer, old, ir.CreateBitCast(combined, bits), llvm::Align(bytes),
      ordering, FailureOrdering(ordering));
  old->addIncoming(ir.CreateExtractValue(swap, 0), ir.GetInsertBlock());
  ir.CreateCondBr(ir.CreateExtractValue(swap, 1), next, loop);
  ir.SetInsertPoint(next);
  return ir.CreateBitCast(old, type);
}

absl::Status CheckWidth(Emitter& e, mlir::Operation* op, uint64_t bytes) {
  if (bytes <= 8 || e.hooks().HasWideAtomics()) return absl::OkStatus();
  return ErrorAt(op, "the processor has no atomic operations on 16 bytes");
}

absl::StatusOr<llvm::Value*> EmitAtomic(Emitter& e, AtomicOp op) {
  Ir& ir = e.ir();
  llvm::Value* value = e.Get(op.getValue());
  bool packed = value->getType()->isVectorTy();
  uint64_t bytes = value->getType()->getPrimitiveSizeInBits() / 8;
  if (packed && bytes != 4) {
    return ErrorAt(op, "expected one lane: atomics run lane by lane");
  }
  absl::Status width = CheckWidth(e, op, bytes);
  if (!width.ok()) return width;
  Access access = EmitAccess(
      e, {op, op.getSpace(), op.getAddress(), op.getIndex(), op.getMask(),
          static_cast<int64_t>(op.getOffset()), bytes});
  if (!access.pointer) {
    return ErrorAt(op, "expected one lane: atomics run lane by lane");
  }
  std::optional<llvm::AtomicRMWInst::BinOp> integer =
      IntegerKind(op.getKind());
  if (!integer) {
    bool known;
    FloatKind kind = KindOf(op.getValue().getType(), known);
    if (!known) return ErrorAt(op, "expected f16, bf16, f32 or f64");
    return EmitLoop(e, op, kind, access.pointer, bytes);
  }
  llvm::Type* bits = ir.getIntNTy(bytes * 8);
  bool bitwise = op.getKind() == AtomicKind::exch;
  if (!value->getType()->isIntegerTy() && !bitwise) {
    return ErrorAt(op, "expected an integer");
  }
  llvm::AtomicRMWInst* rmw = ir.CreateAtomicRMW(
      *integer, access.pointer, ir.CreateBitCast(value, bits),
      llvm::Align(bytes), RmwOrdering(op.getOrdering()));
  return ir.CreateBitCast(rmw, value->getType());
}

absl::StatusOr<llvm::Value*> EmitCas(Emitter& e, AtomicCasOp op) {
  Ir& ir = e.ir();
  llvm::Value* value = e.Get(op.getValue());
  uint64_t bytes = value->getType()->getPrimitiveSizeInBits() / 8;
  absl::Status width = CheckWidth(e, op, bytes);
  if (!width.ok()) return width;
  Access access = EmitAccess(
      e, {op, op.getSpace(), op.getAddress(), op.getIndex(), op.getMask(),
          static_cast<int64_t>(op.getOffset()), bytes});
  if (!access.pointer || value->getType()->isVectorTy()) {
    return ErrorAt(op, "expected one lane: atomics run lane by lane");
  }
  llvm::AtomicOrdering ordering = RmwOrdering(op.getOrdering());
  llvm::AtomicCmpXchgInst* swap = ir.CreateAtomicCmpXchg(
      access.pointer, e.Get(op.getCompare()), value, llvm::Align(bytes),
      ordering, FailureOrdering(ordering));
  return ir.CreateExtractValue(swap, 0);
}

}  // namespace

void AddAtomicOps(OpTable& table) {
  table.Fallible<AtomicOp, EmitAtomic>();
  table.Fallible<AtomicCasOp, EmitCas>();
}

}  // namespace hetgpu::llvm_ir
