#include "hetir/container/load.h"

#include "hetir/container/container.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

namespace hetgpu::hetir {

std::string WriteBytecode(mlir::ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  mlir::BytecodeWriterConfig config("hetgpu");
  // Without a requested version the writer cannot fail.
  (void)mlir::writeBytecodeToFile(module, stream, config);
  return bytes;
}

absl::StatusOr<OwningModule> ParseModule(std::string_view bytes,
                                         std::string_view name,
                                         mlir::MLIRContext* context) {
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(
      context, [&messages](mlir::Diagnostic& diagnostic) {
        llvm::raw_string_ostream(messages)
            << diagnostic.getLocation() << ": " << diagnostic << "; ";
        return mlir::success();
      });
  OwningModule module = mlir::parseSourceString<mlir::ModuleOp>(
      llvm::StringRef(bytes.data(), bytes.size()), context,
      llvm::StringRef(name.data(), name.size()));
  if (module) return module;
  return absl::InvalidArgumentError(std::string(name) +
                                    ": not valid hetIR: " + messages);
}

absl::StatusOr<OwningModule> LoadFromContainer(std::string_view bytes,
                                               std::string_view name,
                                               std::string_view kernel,
                                               mlir::MLIRContext* context) {
  auto container = ReadContainer(bytes, name);
  if (!container.ok()) return container.status();
  if (!kernel.empty()) {
    const KernelInfo* info = container->info.FindKernel(kernel);
    if (!info) {
      return absl::NotFoundError(std::string(name) + ": no kernel '" +
                                 std::string(kernel) + "'");
    }
    if (!info->refusal.ok()) return info->refusal;
  }
  auto all = ParseModule(container->bytecode, name, context);
  if (!all.ok() || kernel.empty()) return all;
  for (auto nested : (*all)->getOps<mlir::ModuleOp>()) {
    if (nested.getSymName() != llvm::StringRef(kernel)) continue;
    nested->remove();
    // Alone it is like what the front end makes of one kernel.
    nested.setSymNameAttr({});
    return OwningModule(nested);
  }
  return absl::DataLossError(std::string(name) + ": no code for kernel '" +
                             std::string(kernel) + "'");
}

}  // namespace hetgpu::hetir
