// hetIR modules from bytes and back: the half of the container that needs MLIR.
#ifndef HETGPU_HETIR_CONTAINER_LOAD_H_
#define HETGPU_HETIR_CONTAINER_LOAD_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace hetgpu::hetir {

using OwningModule = mlir::OwningOpRef<mlir::ModuleOp>;

std::string WriteBytecode(mlir::ModuleOp module);

// hetIR as text or as MLIR bytecode. kInvalidArgument with what MLIR says.
absl::StatusOr<OwningModule> ParseModule(std::string_view bytes,
                                         std::string_view name,
                                         mlir::MLIRContext* context);

// From a container: the module of one kernel, or of all (one nested module
// each) when `kernel` is empty. kNotFound when it has no such kernel; the
// refusal recorded for the kernel when it has one.
absl::StatusOr<OwningModule> LoadFromContainer(std::string_view bytes,
                                               std::string_view name,
                                               std::string_view kernel,
                                               mlir::MLIRContext* context);

}  // namespace hetgpu::hetir

#endif  // HETGPU_HETIR_CONTAINER_LOAD_H_
