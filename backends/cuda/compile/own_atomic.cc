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
using llvm_ir::Ir;

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

bool IsWide(mlir::Value value) { return value.getType().isInteger(128); }

// An atomic on 128 bits, whose operands travel as halves: `name` is
// "exch" or "cas".
template <typename Op>
void EmitWide(Emitter& e, Op op, const char* name,
              llvm::ArrayRef<mlir::Value> operands) {
  Ir& ir = e.ir();
  llvm::Type* half = ir.getInt64Ty();
  llvm::SmallVector<llvm::Value*> inputs = {AddressOf(e, op)};
  std::string text = "{ .reg .b128 old";
  std::string moves, list;
  for (mlir::Value operand : operands) {
    const std::string reg = "v" + std::to_string(inputs.size());
    const std::string low = std::to_string(inputs.size() + 2);
    const std::string high = std::to_string(inputs.size() + 3);
    llvm::Value* value = e.Get(operand);
    inputs.push_back(ir.CreateTrunc(value, half));
    inputs.push_back(ir.CreateTrunc(ir.CreateLShr(value, 64), half));
    text += ", " + reg;
    moves += "mov.b128 " + reg + ", {$" + low + ", $" + high + "}; ";
    list += ", " + reg;
  }
  text += "; " + moves + FenceFor(op.getOrdering(), op.getScope()) + "atom" +
          OrderName(op.getOrdering()) + ScopeName(op.getScope()) +
          SpaceName(op.getSpace()) + "." + name + ".b128 old, " +
          Bracket(2, op.getOffset()) + list +
          "; mov.b128 {$0, $1}, old; }";
  llvm::SmallVector<llvm::Value*> halves =
      EmitAsm(e, text, {half, half}, inputs, AsmEffect::kMemory);
  llvm::Type* whole = ir.getInt128Ty();
  e.Set(op.getOld(),
        ir.CreateOr(ir.CreateZExt(halves[0], whole),
                    ir.CreateShl(ir.CreateZExt(halves[1], whole), 64)));
}

bool EmitUpdate(Emitter& e, hetir::AtomicOp op, const Device& device) {
  if (IsWide(op.getValue()) && op.getKind() == AtomicKind::exch &&
      HasOrder(op.getSpace())) {
    EmitWide(e, op, "exch", {op.getValue()});
    return true;
  }
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
  if (IsWide(op.getValue())) {
    EmitWide(e, op, "cas", {op.getCompare(), op.getValue()});
    return true;
  }
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
