// Loads, stores and fences with an ordering or a cache hint, and accesses of
// shared memory, whose addresses have 32 bits. All others are LLVM's: the code
// generator knows their addressing modes.
#include "backends/cuda/compile/own_ops.h"
#include "backends/cuda/compile/ptx_asm.h"
#include "backends/cuda/compile/ptx_memory.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::cuda {
namespace {

using hetir::CacheHint;
using hetir::Ordering;
using hetir::Space;
using llvm_ir::Emitter;

// Type of one value in memory; "" when it has none.
std::string TypeName(llvm::Type* type) {
  if (type->isFloatTy()) return ".f32";
  if (type->isDoubleTy()) return ".f64";
  unsigned bits = type->getPrimitiveSizeInBits();
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return "";
  return ".b" + std::to_string(bits);
}

// What follows ld or st; "" for what the shared emission does as well.
template <typename Op>
std::string QualifierOf(Op op) {
  Ordering ordering = op.getOrdering();
  Space space = op.getSpace();
  if (ordering == Ordering::volatile_) {
    if (space == Space::constant) return "";
    return (llvm::Twine(".volatile") + SpaceName(space)).str();
  }
  if (ordering != Ordering::weak && ordering != Ordering::sc &&
      HasOrder(space)) {
    return ("." + hetir::stringifyEnum(ordering) + ScopeName(op.getScope()) +
            SpaceName(space))
        .str();
  }
  if (ordering != Ordering::weak) return "";
  if (space == Space::shared) return SpaceName(space);
  bool hinted = space == Space::global || space == Space::generic;
  if (!hinted) return "";
  switch (op.getCache()) {
    case CacheHint::streaming: return SpaceName(space) + ".cs";
    case CacheHint::cache_global: return SpaceName(space) + ".cg";
    case CacheHint::write_through: return SpaceName(space) + ".wt";
    case CacheHint::last_use: return SpaceName(space) + ".lu";
    default: return "";
  }
}

// "{$0, $1}" of `count` operands from `first` on.
std::string Group(size_t first, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += (i == 0 ? "$" : ", $") + std::to_string(first + i);
  }
  return count == 1 ? text : "{" + text + "}";
}

std::string Vector(size_t count) {
  return count == 1 ? "" : ".v" + std::to_string(count);
}

bool EmitLoad(Emitter& e, hetir::LoadOp op, const Device&) {
  std::string qualifier = QualifierOf(op);
  size_t count = op.getValues().size();
  llvm::Type* type = e.TypeOf(op.getValues().front());
  std::string name = TypeName(type);
  bool fits = count * type->getPrimitiveSizeInBits() <= 128 && count <= 4;
  if (qualifier.empty() || name.empty() || !fits) return false;
  bool strong = op.getOrdering() != Ordering::weak;
  llvm::SmallVector<llvm::Type*> types(count, type);
  llvm::SmallVector<llvm::Value*> values = EmitAsm(
      e,
      llvm::Twine("ld") + qualifier + Vector(count) + name + " " +
          Group(0, count) + ", " + Bracket(count, op.getOffset()) + ";",
      types, {AddressOf(e, op)},
      strong ? AsmEffect::kMemory : AsmEffect::kRead);
  for (auto [result, value] : llvm::zip_equal(op.getValues(), values)) {
    e.Set(result, value);
  }
  return true;
}

bool EmitStore(Emitter& e, hetir::StoreOp op, const Device&) {
  std::string qualifier = QualifierOf(op);
  size_t count = op.getValues().size();
  llvm::Type* type = e.TypeOf(op.getValues().front());
  std::string name = TypeName(type);
  bool fits = count * type->getPrimitiveSizeInBits() <= 128 && count <= 4;
  if (qualifier.empty() || name.empty() || !fits) return false;
  llvm::SmallVector<llvm::Value*> arguments = {AddressOf(e, op)};
  for (mlir::Value value : op.getValues()) arguments.push_back(e.Get(value));
  EmitAsm(e,
          llvm::Twine("st") + qualifier + Vector(count) + name + " " +
              Bracket(0, op.getOffset()) + ", " + Group(1, count) + ";",
          llvm::ArrayRef<llvm::Type*>(), arguments, AsmEffect::kMemory);
  return true;
}

bool EmitFence(Emitter& e, hetir::FenceOp op, const Device&) {
  const char* name = op.getOrdering() == Ordering::sc ? "sc" : "acq_rel";
  EmitAsm(e,
          llvm::Twine("fence.") + name + ScopeName(op.getScope()) + ";",
          llvm::ArrayRef<llvm::Type*>(), {}, AsmEffect::kMemory);
  return true;
}

bool EmitPrefetch(Emitter& e, hetir::PrefetchOp op, const Device&) {
  if (op.getSpace() != Space::global && op.getSpace() != Space::generic) {
    return true;  // a hint that no instruction takes
  }
  EmitAsm(e,
          "prefetch" + SpaceName(op.getSpace()) + ".L1 " +
              Bracket(0, op.getOffset()) + ";",
          llvm::ArrayRef<llvm::Type*>(), {e.Get(op.getAddress())},
          AsmEffect::kMemory);
  return true;
}

// A pointer's window is the machine's to tell.
llvm::Value* EmitIsSpace(Emitter& e, hetir::IsSpaceOp op, const Device&) {
  return EmitAsm(e,
                 "isspacep." + hetir::stringifyEnum(op.getSpace()) +
                     " $0, $1;",
                 e.ir().getInt1Ty(), {e.Get(op.getAddress())});
}

}  // namespace

void AddMemoryOps(OwnOps& table) {
  table.Statement<hetir::LoadOp, EmitLoad>();
  table.Statement<hetir::StoreOp, EmitStore>();
  table.Statement<hetir::FenceOp, EmitFence>();
  table.Statement<hetir::PrefetchOp, EmitPrefetch>();
  table.Value<hetir::IsSpaceOp, EmitIsSpace>();
}

}  // namespace hetgpu::cuda
