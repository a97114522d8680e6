// Calls: device functions, function pointers, services of the runtime.
#include <algorithm>
#include <iterator>

#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/table.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

using Variables = std::vector<Variable>;

struct CallSite {
  std::vector<Operand> returns;
  std::vector<Operand> arguments;
};

std::vector<Operand> ListOf(Lowering& l, const Operand* list) {
  if (!list) return {};
  auto children = l.body().Children(*list);
  return {children.begin(), children.end()};
}

// The address of the caller's copy of a parameter in memory.
Value AddressOf(Lowering& l, const Operand& operand) {
  if (operand.kind != OperandKind::kSymbol) {
    l.Fail(absl::StatusCode::kInvalidArgument,
           "expected a .param variable for an array parameter");
    return l.Zero(l.I64());
  }
  return l.SymbolAddress(operand, 64);
}

Value ReadArgument(Lowering& l, const Operand& operand, const Variable& param) {
  mlir::Type type = l.Int(static_cast<unsigned>(param.size * 8));
  Cell cell;
  if (l.FindCell(operand, &cell)) return l.ReadCell(cell, type);
  if (operand.kind == OperandKind::kSymbol) {
    Address address{hetir::Space::local, l.SymbolAddress(operand, 64), 0};
    return l.Load(type, 1, address).front();
  }
  return l.Bitcast(l.Read(operand, param.type), type);
}

void WriteResult(Lowering& l, const Operand& operand, const Variable& param,
                 Value value) {
  Cell cell;
  if (l.FindCell(operand, &cell)) return l.WriteCell(cell, value);
  if (operand.kind == OperandKind::kSymbol) {
    return l.Store(value, {hetir::Space::local, l.SymbolAddress(operand, 64)});
  }
  l.Write(operand, value, param.type);
}

bool CheckCount(Lowering& l, size_t found, size_t expected, const char* what) {
  if (found == expected) return true;
  l.Fail(absl::StatusCode::kInvalidArgument,
         Cat("expected ", expected, " ", what, " of the call, found ", found));
  return false;
}

// Inputs in the order of SignatureOf: results in memory first.
Values ReadInputs(Lowering& l, const CallSite& site, const Variables& returns,
                  const Variables& params) {
  Values inputs;
  if (!CheckCount(l, site.returns.size(), returns.size(), "results") ||
      !CheckCount(l, site.arguments.size(), params.size(), "arguments")) {
    return inputs;
  }
  for (size_t i = 0; i < returns.size(); ++i) {
    if (PassedInMemory(returns[i])) {
      inputs.push_back(AddressOf(l, site.returns[i]));
    }
  }
  for (size_t i = 0; i < params.size(); ++i) {
    inputs.push_back(PassedInMemory(params[i])
                         ? AddressOf(l, site.arguments[i])
                         : ReadArgument(l, site.arguments[i], params[i]));
  }
  return inputs;
}

void WriteResults(Lowering& l, const CallSite& site, const Variables& returns,
                  mlir::ResultRange results) {
  size_t next = 0;
  for (size_t i = 0; i < returns.size(); ++i) {
    if (PassedInMemory(returns[i])) continue;
    WriteResult(l, site.returns[i], returns[i], results[next++]);
  }
}

void CallFunction(Lowering& l, const CallSite& site, const Function& callee) {
  Values inputs = ReadInputs(l, site, callee.returns, callee.params);
  if (l.failed()) return;
  mlir::FunctionType type =
      SignatureOf(callee.returns, callee.params, l.program().context());
  auto call = l.Create<mlir::func::CallOp>(llvm::StringRef(callee.name),
                                           type.getResults(), inputs);
  WriteResults(l, site, callee.returns, call.getResults());
}

void CallIndirect(Lowering& l, const CallSite& site, const Operand& callee,
                  const Operand* prototype) {
  mlir::FunctionType type =
      l.program().SignatureOfIndirect(l.body(), prototype);
  if (!type) return l.Refuse("indirect call without a prototype");
  const Variables* returns;
  const Variables* params;
  if (prototype->kind == OperandKind::kPrototype) {
    const Prototype& p = l.body().prototypes[prototype->index];
    returns = &p.returns;
    params = &p.params;
  } else {
    const TargetTable& table = l.body().target_tables[prototype->index];
    const Function& first = l.module().functions[table.targets.front()];
    returns = &first.returns;
    params = &first.params;
  }
  Values inputs = ReadInputs(l, site, *returns, *params);
  if (l.failed()) return;
  llvm::SmallVector<mlir::Attribute> names;
  llvm::SmallVector<int64_t> tokens;
  for (uint32_t candidate : l.program().Candidates(type)) {
    const Function& function = l.module().functions[candidate];
    names.push_back(mlir::FlatSymbolRefAttr::get(
        l.program().context(), llvm::StringRef(function.name)));
    tokens.push_back(FunctionToken(l.module(), candidate));
  }
  auto call = l.Create<hetir::CallIndirectOp>(
      type.getResults(), l.Read(callee, Type::kB64), inputs,
      l.builder().getArrayAttr(names), llvm::ArrayRef<int64_t>(tokens));
  WriteResults(l, site, *returns, call.getOutputs());
}

// --- Functions that the runtime provides ---

void CallVprintf(Lowering& l, const Function& callee, const CallSite& site) {
  Values in = ReadInputs(l, site, callee.returns, callee.params);
  if (l.failed()) return;
  Value written = l.Create<hetir::VprintfOp>(l.I32(), in[0], in[1]);
  WriteResult(l, site.returns[0], callee.returns[0], written);
}

void CallMalloc(Lowering& l, const Function& callee, const CallSite& site) {
  Values in = ReadInputs(l, site, callee.returns, callee.params);
  if (l.failed()) return;
  Value address = l.Create<hetir::MallocOp>(l.I64(), in[0]);
  WriteResult(l, site.returns[0], callee.returns[0], address);
}

void CallFree(Lowering& l, const Function& callee, const CallSite& site) {
  Values in = ReadInputs(l, site, callee.returns, callee.params);
  if (l.failed()) return;
  l.Create<hetir::FreeOp>(in[0]);
}

void CallAssertFail(Lowering& l, const Function& callee,
                    const CallSite& site) {
  Values in = ReadInputs(l, site, callee.returns, callee.params);
  if (l.failed()) return;
  l.Create<hetir::AssertFailOp>(in[0], in[1], in[2], in[3], in[4]);
  l.Create<hetir::UnreachableOp>();
}

struct Service {
  std::string_view name;
  std::vector<uint64_t> results;  // sizes in bytes
  std::vector<uint64_t> params;
  void (*call)(Lowering&, const Function&, const CallSite&);
};

const std::vector<Service>& Services() {
  static const auto* const services = new std::vector<Service>{
      {"vprintf", {4}, {8, 8}, CallVprintf},
      {"malloc", {8}, {8}, CallMalloc},
      {"free", {}, {8}, CallFree},
      {"__assertfail", {}, {8, 8, 4, 8, 8}, CallAssertFail},
  };
  return *services;
}

bool HasSizes(const Variables& variables, const std::vector<uint64_t>& sizes) {
  return std::equal(variables.begin(), variables.end(), sizes.begin(),
                    sizes.end(), [](const Variable& variable, uint64_t size) {
                      return variable.size == size && !PassedInMemory(variable);
                    });
}

void CallService(Lowering& l, const Function& callee, const CallSite& site) {
  for (const Service& service : Services()) {
    if (service.name != callee.name) continue;
    if (HasSizes(callee.returns, service.results) &&
        HasSizes(callee.params, service.params)) {
      return service.call(l, callee, site);
    }
    return l.Refuse(Cat("external function '", callee.name,
                        "' declared with other parameters"));
  }
  l.Refuse(Cat("external function '", callee.name, "'"));
}

void LowerCall(Lowering& l) {
  CallParts parts = SplitCall(l.body(), l.inst());
  CallSite site{ListOf(l, parts.returns), ListOf(l, parts.arguments)};
  const Function* callee = DirectCallee(l.module(), l.body(), l.inst());
  if (!callee) return CallIndirect(l, site, *parts.callee, parts.prototype);
  if (!callee->defined) return CallService(l, *callee, site);
  CallFunction(l, site, *callee);
}

constexpr LoweringRow kRows[] = {
    {Op::kCall, Effect::kEffect, LowerCall},
};

}  // namespace

std::span<const LoweringRow> CallRows() { return kRows; }

}  // namespace hetgpu::ptx
