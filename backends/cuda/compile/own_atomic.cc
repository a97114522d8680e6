// Atomics that one instruction does; others are compare-and-swap loops of the
// shared emission.
#include "backends/cuda/compile/own_ops.h"
#include "backends/cuda/compile/ptx_asm.h"
#include "backends/cuda/compile/ptx_memory.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::cuda {
namespace {

using hetir::AtomicKind;
using hetir::Ordering;
using llvm_ir::Emitter;

// "fence.sc.gpu; " where an atomic is to be sequentially consistent: the fence
// before an acquire-release operation makes it so.
std::string FenceFor(Ordering ordering, hetir::Scope scope) {
  return ordering == Ordering::sc ? "fence.sc" + ScopeName(scope) + "; " : "";
}

std::string OrderName(Ordering ordering) {
  switch (ordering) {
    case Ordering::acquire:
    case Ordering::release:
    case Ordering::acq_rel:
      return "." + hetir::stringifyEnum(ordering).str();
    case Ordering::sc: return ".acq_rel";
    default: return ".relaxed";
  }
}

// "add.u32", …; "" where the device has no such operation.
std::string UpdateName(AtomicKind kind, mlir::Type type,
                       const Device& device) {
  if (kind == AtomicKind::fadd) {
    if (type.isF32()) return ".add.f32";
    if (type.isF64()) return ".add.f64";
    if (type.isF16()) return ".add.noftz.f16";
    return type.isBF16() && device.sm >= 90 ? ".add.noftz.bf16" : "";
  }
  auto integer = mlir::dyn_cast<mlir::IntegerType>(type);
  if (!integer || (integer.getWidth() != 32 && integer.getWidth() != 64)) {
    return "";
  }
  std::string bits = std::to_string(integer.getWidth());
  switch (kind) {
    case AtomicKind::add: return ".add.u" + bits;
    case AtomicKind::and_: return ".and.b" + bits;
    case AtomicKind::or_: return ".or.b" + bits;
    case AtomicKind::xor_: return ".xor.b" + bits;
    case AtomicKind::exch: return ".exch.b" + bits;
    case AtomicKind::smin: return ".min.s" + bits;
    case AtomicKind::smax: return ".max.s" + bits;
    case AtomicKind::umin: return ".min.u" + bits;
    case AtomicKind::umax: return ".max.u" + bits;
    case AtomicKind::inc: return bits == "32" ? ".inc.u32" : "";
    case AtomicKind::dec: return bits == "32" ? ".dec.u32" : "";
    default: return "";
  }
}

// An update whose old value nobody wants is a reduction.
bool IsReduction(hetir::AtomicOp op) {
  bool plain = op.getOrdering() == Ordering::relaxed ||
               op.getOrdering() == Ordering::release;
  return plain && op.getOld().use_empty() &&
         op.getKind() != AtomicKind::exch;
}

bool EmitUpdate(Emitter& e, hetir::AtomicOp op, const Device& device) {
  std::string name = UpdateName(op.getKind(), op.getValue().getType(), device);
  if (name.empty() || !HasOrder(op.getSpace())) return false;
  std::string qualifiers = OrderName(op.getOrdering()) +
                           ScopeName(op.getScope()) +
                           SpaceName(op.getSpace()) + name;
  llvm::Value* address = AddressOf(e, op);
  llvm::Value* value = e.Get(op.getValue());
  if (IsReduction(op)) {
    EmitAsm(e, "red" + qualifiers + " " + Bracket(0, op.getOffset()) + ", $1;",
            llvm::ArrayRef<llvm::Type*>(), {address, value},
            AsmEffect::kMemory);
    e.Set(op.getOld(), llvm::Constant::getNullValue(value->getType()));
    return true;
  }
  e.Set(op.getOld(),
        EmitAsm(e,
                FenceFor(op.getOrdering(), op.getScope()) + "atom" +
                    qualifiers + " $0, " + Bracket(1, op.getOffset()) +
                    ", $2;",
                value->getType(), {address, value}, AsmEffect::kMemory));
  return true;
}

bool EmitCas(Emitter& e, hetir::AtomicCasOp op, const Device&) {
  auto type = mlir::dyn_cast<mlir::IntegerType>(op.getValue().getType());
  if (!type || type.getWidth() < 16 || !HasOrder(op.getSpace())) return false;
  llvm::Value* value = e.Get(op.getValue());
  e.Set(op.getOld(),
        EmitAsm(e,
                FenceFor(op.getOrdering(), op.getScope()) + "atom" +
                    OrderName(op.getOrdering()) + ScopeName(op.getScope()) +
                    SpaceName(op.getSpace()) + ".cas.b" +
                    std::to_string(type.getWidth()) + " $0, " +
                    Bracket(1, op.getOffset()) + ", $2, $3;",
                value->getType(),
                {AddressOf(e, op), e.Get(op.getCompare()), value},
                AsmEffect::kMemory));
  return true;
}

}  // namespace

void AddAtomicOps(OwnOps& table) {
  table.Statement<hetir::AtomicOp, EmitUpdate>();
  table.Statement<hetir::AtomicCasOp, EmitCas>();
}

}  // namespace hetgpu::cuda
