#include "backends/compiler/source.h"

#include <string>

#include "frontend/ptx/lowering/lowering.h"
#include "frontend/ptx/parser.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Parser/Parser.h"

namespace hetgpu {
namespace {

constexpr std::string_view kBytecodeMagic = "ML\xefR";

bool IsBytecode(std::string_view source) {
  return source.substr(0, kBytecodeMagic.size()) == kBytecodeMagic;
}

// PTX has a .version directive on a line of its own; hetIR never.
bool IsPtx(std::string_view source) {
  return source.substr(0, 8) == ".version" ||
         source.find("\n.version") != std::string_view::npos;
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> ParseHetir(
    const CompileRequest& request, mlir::MLIRContext* context) {
  std::string text;
  mlir::ScopedDiagnosticHandler handler(
      context, [&](mlir::Diagnostic& diagnostic) {
        llvm::raw_string_ostream(text)
            << diagnostic.getLocation() << ": " << diagnostic << "; ";
        return mlir::success();
      });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      llvm::StringRef(request.source.data(), request.source.size()), context,
      std::string(request.source_name));
  if (module) return module;
  return absl::InvalidArgumentError("not valid hetIR: " + text);
}

}  // namespace

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> LoadSource(
    const CompileRequest& request, mlir::MLIRContext* context) {
  if (IsBytecode(request.source) || !IsPtx(request.source)) {
    return ParseHetir(request, context);
  }
  auto module = ptx::Parse(request.source, request.source_name);
  if (!module.ok()) return module.status();
  return ptx::LowerKernel(**module, request.kernel, context);
}

}  // namespace hetgpu
