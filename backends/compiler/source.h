// What a compile request's source may be, and how it becomes hetIR.
#ifndef HETGPU_BACKENDS_COMPILER_SOURCE_H_
#define HETGPU_BACKENDS_COMPILER_SOURCE_H_

#include "absl/status/statusor.h"
#include "backends/common/compiler_api.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace hetgpu {

// PTX text, a `.hetir` container, or hetIR as text or bytecode, told by the
// content. The result holds request.kernel and what it reaches. Errors carry
// the place.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> LoadSource(
    const CompileRequest& request, mlir::MLIRContext* context);

}  // namespace hetgpu

#endif  // HETGPU_BACKENDS_COMPILER_SOURCE_H_
