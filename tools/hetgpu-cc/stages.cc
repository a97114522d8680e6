#include "tools/hetgpu-cc/stages.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "frontend/ptx/dump.h"
#include "frontend/ptx/lowering/lowering.h"
#include "frontend/ptx/parser.h"
#include "frontend/ptx/text.h"
#include "hetir/dialect/HetIR.h"
#include "hetir/passes/passes.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Parser/Parser.h"

namespace hetgpu::tools {
namespace {

using ptx::Cat;
using OwningModule = mlir::OwningOpRef<mlir::ModuleOp>;

// PTX starts with .version, after comments; hetIR never contains the word at
// the start of a line.
bool IsPtx(const CompileRequest& request) {
  if (std::string_view(request.path).ends_with(".ptx")) return true;
  std::string_view text = request.text;
  return text.starts_with(".version") ||
         text.find("\n.version") != std::string_view::npos;
}

absl::StatusOr<std::unique_ptr<ptx::Module>> ParsePtx(
    const CompileRequest& request) {
  if (!IsPtx(request)) {
    return absl::InvalidArgumentError(
        Cat(request.path, ": expected PTX for this stage"));
  }
  return ptx::Parse(request.text, request.path);
}

absl::Status EmitAst(const CompileRequest& request, std::string* output) {
  auto module = ParsePtx(request);
  if (!module.ok()) return module.status();
  *output = ptx::DumpModule(**module);
  return absl::OkStatus();
}

absl::StatusOr<OwningModule> ParseHetir(const CompileRequest& request,
                                        mlir::MLIRContext* context) {
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(
      context, [&messages](mlir::Diagnostic& diagnostic) {
        llvm::raw_string_ostream(messages)
            << diagnostic.getLocation() << ": " << diagnostic << "\n";
        return mlir::success();
      });
  OwningModule module = mlir::parseSourceString<mlir::ModuleOp>(
      llvm::StringRef(request.text), context, request.path);
  if (!module) {
    return absl::InvalidArgumentError(
        Cat(request.path, ": not valid hetIR: ", messages));
  }
  return module;
}

absl::StatusOr<OwningModule> LoadHetir(const CompileRequest& request,
                                       mlir::MLIRContext* context) {
  if (!IsPtx(request)) return ParseHetir(request, context);
  auto module = ParsePtx(request);
  if (!module.ok()) return module.status();
  if (request.kernel.empty()) return ptx::LowerModule(**module, context);
  return ptx::LowerKernel(**module, request.kernel, context);
}

absl::Status EmitHetir(const CompileRequest& request, std::string* output) {
  mlir::DialectRegistry registry;
  hetir::RegisterDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = LoadHetir(request, &context);
  if (!module.ok()) return module.status();
  mlir::OpPrintingFlags flags;
  if (request.locations) flags.enableDebugInfo(true);
  llvm::raw_string_ostream stream(*output);
  (*module)->print(stream, flags);
  return absl::OkStatus();
}

constexpr Stage kStages[] = {
    {"ast", "the syntax tree of the PTX", EmitAst},
    {"hetir", "hetIR as lowered, without optimisation", EmitHetir},
};

}  // namespace

std::span<const Stage> Stages() { return kStages; }

}  // namespace hetgpu::tools
