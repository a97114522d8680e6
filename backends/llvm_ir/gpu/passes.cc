#include "backends/llvm_ir/gpu/passes.h"

#include <string>

#include "hetir/passes/passes.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Pass/PassManager.h"

namespace hetgpu::llvm_ir {

absl::Status RunGpuPasses(mlir::ModuleOp module, const AddressWindow& window) {
  std::string text;
  mlir::ScopedDiagnosticHandler handler(
      module.getContext(), [&](mlir::Diagnostic& diagnostic) {
        llvm::raw_string_ostream(text) << diagnostic << "; ";
      });
  mlir::PassManager passes(module.getContext());
#ifdef NDEBUG
  // The front end's result and the LLVM IR made of this are verified.
  passes.enableVerifier(false);
#endif
  passes.addPass(hetir::CreateRecoverPointersPass());
  if (mlir::failed(passes.run(module))) {
    return absl::InternalError("gpu: hetIR passes: " + text);
  }
  ShiftAddresses(module, window);
  return absl::OkStatus();
}

}  // namespace hetgpu::llvm_ir
