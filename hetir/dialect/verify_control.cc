// Verifier: kernels.
#include "hetir/dialect/HetIR.h"

namespace hetgpu::hetir {

mlir::LogicalResult KernelOp::verifyRegions() {
  if (getBody().empty()) return emitOpError("expected a body");
  if (getBody().getNumArguments() != 0) {
    return emitOpError("expected no arguments: parameters are memory");
  }
  mlir::WalkResult result = getBody().walk([&](mlir::func::ReturnOp op) {
    op.emitOpError("in a kernel; expected hetir.exit");
    return mlir::WalkResult::interrupt();
  });
  return mlir::failure(result.wasInterrupted());
}

}  // namespace hetgpu::hetir
