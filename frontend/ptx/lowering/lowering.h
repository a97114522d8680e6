// PTX syntax tree to hetIR.
//
// A function body becomes SSA on the way (ssa_builder.h): virtual registers
// disappear, predicated instructions become selects or small branches. Every op
// carries the FileLineColLoc of its PTX instruction. What each instruction
// becomes is written in the category files (arith_int.cc, memory.cc, …), one
// row per PTX operation in table.cc; an operation without a row is refused.
#ifndef HETGPU_FRONTEND_PTX_LOWERING_LOWERING_H_
#define HETGPU_FRONTEND_PTX_LOWERING_LOWERING_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "frontend/ptx/ast.h"

namespace mlir {
class MLIRContext;
class ModuleOp;
template <typename OpTy>
class OwningOpRef;
}  // namespace mlir

namespace hetgpu::ptx {

// Lowers one kernel: the result holds one hetir.kernel and a func.func for each
// device function that the kernel can reach, directly or by address.
//
// `module` must have been checked by sema. Codes: kNotFound (no such kernel),
// kUnimplemented (an instruction or feature that hetIR does not have, by name
// and place), kInvalidArgument (sema's refusal of a function that is reached,
// or a use that PTX does not allow). Messages start with "file:line:column: ".
// Thread-safe for different contexts; `context` gets the dialects loaded.
//
// With `vendor` "nv" the result is for NVIDIA's devices: matrix instructions
// and others that those have and hetIR has not are handed on as hetir.vendor
// (verbatim.cc) instead of being taken apart or refused.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> LowerKernel(
    const Module& module, std::string_view kernel, mlir::MLIRContext* context,
    std::string_view vendor = "");

// Lowers every kernel, each to a nested module named like it. Fails on the
// first kernel that LowerKernel refuses.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> LowerModule(
    const Module& module, mlir::MLIRContext* context);

// The `.hetir` container of the module. Kernels that cannot be run are listed
// with their refusal. kResourceExhausted: the module's data exceeds the limits.
absl::StatusOr<std::string> BuildContainer(const Module& module,
                                           mlir::MLIRContext* context);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_LOWERING_LOWERING_H_
