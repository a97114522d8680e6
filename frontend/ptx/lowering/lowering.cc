#include "frontend/ptx/lowering/lowering.h"

#include "frontend/ptx/text.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace hetgpu::ptx {

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> LowerKernel(
    const Module& module, std::string_view kernel, mlir::MLIRContext* context) {
  std::optional<uint32_t> index = module.FindFunction(kernel);
  if (!index) {
    return absl::NotFoundError(
        Cat(module.file_name, ": no kernel '", kernel, "'"));
  }
  SourceLocation location = module.functions[*index].location;
  return absl::UnimplementedError(
      Cat(module.Place(location), ": lowering is not available"));
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> LowerModule(
    const Module& module, mlir::MLIRContext* context) {
  return absl::UnimplementedError(
      Cat(module.file_name, ": lowering is not available"));
}

}  // namespace hetgpu::ptx
