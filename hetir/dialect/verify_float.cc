// Verifier: conversions.
#include "hetir/dialect/HetIR.h"

namespace hetgpu::hetir {

mlir::LogicalResult CvtOp::verify() {
  mlir::Type source = mlir::getElementTypeOrSelf(getA().getType());
  mlir::Type target = mlir::getElementTypeOrSelf(getResult().getType());
  if (!source.isIntOrFloat() || !target.isIntOrFloat()) {
    return emitOpError("expected integers or floats, found ")
           << source << " and " << target;
  }
  bool integral = getRounding() >= Rounding::rni;
  bool from_float = mlir::isa<mlir::FloatType>(source);
  bool to_float = mlir::isa<mlir::FloatType>(target);
  if (from_float && !to_float && !integral) {
    return emitOpError("float to integer expects rni, rzi, rmi or rpi, found ")
           << stringifyEnum(getRounding());
  }
  if (!from_float && integral) {
    return emitOpError("integer sources expect rn, rz, rm or rp, found ")
           << stringifyEnum(getRounding());
  }
  return mlir::success();
}

}  // namespace hetgpu::hetir
