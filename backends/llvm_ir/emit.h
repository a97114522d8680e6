// hetIR to LLVM IR. Every op is total: no poison and no undefined behaviour
// reaches LLVM, so results agree between targets. Ops on vectors emit LLVM
// vectors, so that warps of lanes use the same emitter as single threads.
//
// What differs between targets goes through TargetHooks (target_hooks.h).
#ifndef HETGPU_BACKENDS_LLVM_IR_EMIT_H_
#define HETGPU_BACKENDS_LLVM_IR_EMIT_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"

namespace llvm {
class DataLayout;
class Function;
class LLVMContext;
class Module;
}  // namespace llvm
namespace mlir {
class ModuleOp;
class Operation;
}  // namespace mlir

namespace hetgpu::llvm_ir {

class TargetHooks;

// Names of functions that a kernel calls and that call none
// (Emitter::CallShared) begin with this; the line of all that they hold is that
// of the call.
inline constexpr char kSharedPrefix[] = "hetgpu.";
inline constexpr uint32_t kLineOfCaller = 0x7fffffff;

struct EmitOptions {
  // Every NaN result is the canonical one, every approximate function the
  // portable one.
  bool strict = false;
  // Give every instruction its PTX line.
  bool line_table = true;
};

struct EmittedModule {
  std::unique_ptr<llvm::Module> module;
  llvm::Function* kernel = nullptr;  // internal; see TargetHooks for arguments
};

// Emits `kernel` and the device functions it reaches, as internal functions.
// Functions that nothing reaches are not emitted.
absl::StatusOr<EmittedModule> Emit(mlir::ModuleOp module,
                                   std::string_view kernel,
                                   llvm::LLVMContext& context,
                                   const llvm::DataLayout& layout,
                                   const EmitOptions& options,
                                   TargetHooks& hooks);

}  // namespace hetgpu::llvm_ir

#endif  // HETGPU_BACKENDS_LLVM_IR_EMIT_H_
