#include "frontend/ptx/lowering/testing.h"

#include "frontend/ptx/lowering/lowering.h"
#include "frontend/ptx/parser.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace hetgpu::ptx {

absl::Status LowerText(const std::string& text, const std::string& name) {
  auto module = Parse(text, name);
  if (!module.ok()) return module.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  return LowerModule(**module, &context).status();
}

}  // namespace hetgpu::ptx
