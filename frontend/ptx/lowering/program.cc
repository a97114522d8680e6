#include "frontend/ptx/lowering/program.h"

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Builders.h"

namespace hetgpu::ptx {

bool PassedInMemory(const Variable& param) {
  return param.is_array || param.vector != 1 || param.size > 8;
}

mlir::FunctionType SignatureOf(const std::vector<Variable>& returns,
                               const std::vector<Variable>& params,
                               mlir::MLIRContext* context) {
  mlir::Builder builder(context);
  llvm::SmallVector<mlir::Type> inputs, outputs;
  auto integer = [&](const Variable& variable) {
    return builder.getIntegerType(static_cast<unsigned>(variable.size * 8));
  };
  for (const Variable& variable : returns) {
    if (PassedInMemory(variable)) {
      inputs.push_back(builder.getI64Type());
    } else {
      outputs.push_back(integer(variable));
    }
  }
  for (const Variable& variable : params) {
    inputs.push_back(PassedInMemory(variable) ? builder.getI64Type()
                                              : integer(variable));
  }
  return builder.getFunctionType(inputs, outputs);
}

Program::Program(const Module& module, const Sema& sema, uint32_t kernel,
                 mlir::MLIRContext* context, std::string_view vendor)
    : module_(module),
      sema_(sema),
      context_(context),
      keeps_ptx_(vendor == "nv"),
      layout_(sema.LayOutKernel(kernel)) {}

std::vector<uint32_t> Program::Functions() const {
  std::vector<uint32_t> functions;
  for (uint32_t function : layout_.reachable) {
    bool wanted = function != layout_.function &&
                  module_.functions[function].defined;
    if (wanted) functions.push_back(function);
  }
  return functions;
}

std::vector<uint32_t> Program::Candidates(mlir::FunctionType signature) const {
  std::vector<uint32_t> candidates;
  for (uint32_t function : Functions()) {
    if (sema_.IsTaken(function) && SignatureOf(function) == signature) {
      candidates.push_back(function);
    }
  }
  return candidates;
}

mlir::FunctionType Program::SignatureOf(uint32_t function) const {
  const Function& f = module_.functions[function];
  return ptx::SignatureOf(f.returns, f.params, context_);
}

mlir::FunctionType Program::SignatureOfIndirect(
    const Body& body, const Operand* prototype) const {
  if (!prototype) return {};
  if (prototype->kind == OperandKind::kPrototype) {
    const Prototype& types = body.prototypes[prototype->index];
    return ptx::SignatureOf(types.returns, types.params, context_);
  }
  const TargetTable& table = body.target_tables[prototype->index];
  if (!table.calls || table.targets.empty()) return {};
  return SignatureOf(ResolveAlias(module_, table.targets.front()));
}

}  // namespace hetgpu::ptx
