#include "backends/llvm_ir/diagnostics.h"

#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Support/raw_ostream.h"

namespace hetgpu::llvm_ir {

void Listen(llvm::LLVMContext& context, Complaints& complaints) {
  context.setDiagnosticHandlerCallBack(
      [](const llvm::DiagnosticInfo* info, void* kept) {
        auto& [least, text] = *static_cast<Complaints*>(kept);
        // Errors are the lowest number.
        if (info->getSeverity() > least || !text.empty()) return;
        llvm::raw_string_ostream out(text);
        llvm::DiagnosticPrinterRawOStream printer(out);
        info->print(printer);
      },
      &complaints);
}

}  // namespace hetgpu::llvm_ir
