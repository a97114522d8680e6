// Verifier and side effects: memory ops.
#include "hetir/dialect/HetIR.h"

namespace hetgpu::hetir {
namespace {

mlir::LogicalResult VerifyGroup(mlir::Operation* op, mlir::TypeRange types) {
  size_t count = types.size();
  if (count != 1 && count != 2 && count != 4 && count != 8) {
    return op->emitOpError("expected 1, 2, 4 or 8 values, found ") << count;
  }
  for (mlir::Type type : types) {
    if (type != types.front()) {
      return op->emitOpError("expected values of one type, found ")
             << types.front() << " and " << type;
    }
  }
  return mlir::success();
}

mlir::LogicalResult VerifyOrdering(mlir::Operation* op, Ordering ordering,
                                   Ordering refused_a, Ordering refused_b) {
  if (ordering != refused_a && ordering != refused_b) return mlir::success();
  return op->emitOpError("ordering ")
         << stringifyEnum(ordering) << " is not possible here";
}

}  // namespace

void LoadOp::getEffects(
    llvm::SmallVectorImpl<
        mlir::SideEffects::EffectInstance<mlir::MemoryEffects::Effect>>&
        effects) {
  effects.emplace_back(mlir::MemoryEffects::Read::get());
  if (getOrdering() != Ordering::weak) {
    effects.emplace_back(mlir::MemoryEffects::Write::get());
  }
}

mlir::LogicalResult LoadOp::verify() {
  if (mlir::failed(VerifyGroup(*this, getValues().getTypes()))) {
    return mlir::failure();
  }
  return VerifyOrdering(*this, getOrdering(), Ordering::release,
                        Ordering::acq_rel);
}

mlir::LogicalResult StoreOp::verify() {
  if (mlir::failed(VerifyGroup(*this, getValues().getTypes()))) {
    return mlir::failure();
  }
  if (getSpace() == Space::constant) {
    return emitOpError("stores to the const space");
  }
  return VerifyOrdering(*this, getOrdering(), Ordering::acquire,
                        Ordering::acq_rel);
}

}  // namespace hetgpu::hetir
