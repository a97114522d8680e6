// recover-pointers: PTX computes addresses with integer arithmetic. This pass
// walks each address back to a base and rewrites the access so that
//
//   address  the base: module data, shared variable, local array, a pointer
//            read from a parameter, or whatever value the chain starts at
//   index    the variable part, a byte offset (absent when constant)
//   offset   the constant part
//
// A base is known when it is one of the address ops or a 64-bit load from the
// param space; only then is the variable part split off, since otherwise
// either summand could be the pointer.
#include "hetir/dialect/HetIR.h"
#include "hetir/passes/passes.h"
#include "mlir/IR/Matchers.h"

namespace hetgpu::hetir {
namespace {

struct Address {
  mlir::Value base;
  mlir::Value index;
  int64_t offset = 0;
};

bool IsBase(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (!op) return false;
  if (mlir::isa<DataAddressOp, SharedAddressOp, LocalAllocOp>(op)) return true;
  if (auto cast = mlir::dyn_cast<ToGenericOp>(op)) {
    return IsBase(cast.getAddress());
  }
  if (auto cast = mlir::dyn_cast<FromGenericOp>(op)) {
    return IsBase(cast.getAddress());
  }
  auto load = mlir::dyn_cast<LoadOp>(op);
  return load && load.getSpace() == Space::param &&
         value.getType().isInteger(64);
}

bool AsConstant(mlir::Value value, int64_t& constant) {
  llvm::APInt bits;
  if (!mlir::matchPattern(value, mlir::m_ConstantInt(&bits))) return false;
  constant = bits.getSExtValue();
  return true;
}

// Strips constant summands: addi(x, c) and subi(x, c) become x.
mlir::Value StripConstants(mlir::Value value, int64_t& offset) {
  while (mlir::Operation* op = value.getDefiningOp()) {
    int64_t constant;
    if (auto add = mlir::dyn_cast<mlir::arith::AddIOp>(op)) {
      if (AsConstant(add.getRhs(), constant)) {
        offset += constant;
        value = add.getLhs();
        continue;
      }
      if (AsConstant(add.getLhs(), constant)) {
        offset += constant;
        value = add.getRhs();
        continue;
      }
    }
    if (auto sub = mlir::dyn_cast<mlir::arith::SubIOp>(op)) {
      if (AsConstant(sub.getRhs(), constant)) {
        offset -= constant;
        value = sub.getLhs();
        continue;
      }
    }
    return value;
  }
  return value;
}

// Splits `value` into a known base and the sum of the rest. Depth is bounded:
// long chains are rare and each level adds one op.
bool SplitBase(mlir::Value value, mlir::OpBuilder& builder, Address& address,
               int depth) {
  value = StripConstants(value, address.offset);
  if (IsBase(value)) {
    address.base = value;
    return true;
  }
  auto add = value.getDefiningOp<mlir::arith::AddIOp>();
  if (!add || depth == 0) return false;
  for (bool left : {true, false}) {
    mlir::Value inner = left ? add.getLhs() : add.getRhs();
    mlir::Value other = left ? add.getRhs() : add.getLhs();
    Address attempt = address;
    if (!SplitBase(inner, builder, attempt, depth - 1)) continue;
    attempt.index = attempt.index
                        ? builder.create<mlir::arith::AddIOp>(
                              add.getLoc(), attempt.index, other)
                        : other;
    address = attempt;
    return true;
  }
  return false;
}

// 32-bit address arithmetic wraps, so constants may only be split off when no
// wrap is possible: from a known base.
template <typename Op>
void Rewrite(Op op) {
  if (op.getIndex()) return;
  mlir::OpBuilder builder(op);
  Address address;
  address.offset = op.getOffset();
  mlir::Value value = op.getAddress();
  if (mlir::isa<mlir::VectorType>(value.getType())) return;
  if (!SplitBase(value, builder, address, 4)) {
    if (!value.getType().isInteger(64)) return;
    address = {};
    address.offset = op.getOffset();
    address.base = StripConstants(value, address.offset);
  }
  if (address.base == value) return;
  op.getAddressMutable().assign(address.base);
  if (address.index) op.getIndexMutable().assign(address.index);
  op.setOffset(address.offset);
}

struct RecoverPointers
    : mlir::PassWrapper<RecoverPointers, mlir::OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RecoverPointers)
  llvm::StringRef getArgument() const final { return "recover-pointers"; }
  llvm::StringRef getDescription() const final {
    return "split integer address chains into base + index + offset";
  }
  void runOnOperation() override {
    getOperation()->walk([](mlir::Operation* op) {
      if (auto load = mlir::dyn_cast<LoadOp>(op)) Rewrite(load);
      if (auto store = mlir::dyn_cast<StoreOp>(op)) Rewrite(store);
      if (auto atomic = mlir::dyn_cast<AtomicOp>(op)) Rewrite(atomic);
      if (auto cas = mlir::dyn_cast<AtomicCasOp>(op)) Rewrite(cas);
    });
  }
};

}  // namespace

std::unique_ptr<mlir::Pass> CreateRecoverPointersPass() {
  return std::make_unique<RecoverPointers>();
}

}  // namespace hetgpu::hetir
