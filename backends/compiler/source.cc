#include "backends/compiler/source.h"

#include <string_view>

#include "frontend/ptx/lowering/lowering.h"
#include "frontend/ptx/parser.h"
#include "hetir/container/container.h"
#include "hetir/container/load.h"

namespace hetgpu {
namespace {

// PTX has a .version directive on a line of its own; hetIR never.
bool IsPtx(std::string_view source) {
  return source.substr(0, 8) == ".version" ||
         source.find("\n.version") != std::string_view::npos;
}

}  // namespace

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> LoadSource(
    const CompileRequest& request, mlir::MLIRContext* context) {
  if (IsContainer(request.source)) {
    return hetir::LoadFromContainer(request.source, request.source_name,
                                    request.kernel, context);
  }
  if (!IsPtx(request.source)) {
    return hetir::ParseModule(request.source, request.source_name, context);
  }
  auto module = ptx::Parse(request.source, request.source_name);
  if (!module.ok()) return module.status();
  return ptx::LowerKernel(**module, request.kernel, context,
                          request.backend == "cuda" ? "nv" : "");
}

}  // namespace hetgpu
