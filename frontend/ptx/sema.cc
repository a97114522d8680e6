#include "frontend/ptx/sema.h"

#include <algorithm>
#include <array>
#include <utility>

#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

// Dynamic shared memory begins where any access that CUDA programs make through
// it is aligned, whatever the array declares.
constexpr uint64_t kDynamicSharedAlign = 16;
constexpr uint64_t kMaxDataBytes = uint64_t{1} << 40;
constexpr uint64_t kMaxSharedBytes = uint64_t{1} << 31;

uint64_t AlignUp(uint64_t value, uint64_t align) {
  return (value + align - 1) / align * align;
}

template <typename T>
void SortUnique(std::vector<T>* items) {
  std::sort(items->begin(), items->end());
  items->erase(std::unique(items->begin(), items->end()), items->end());
}

bool IsData(const Variable& variable) {
  bool space = variable.space == StateSpace::kGlobal ||
               variable.space == StateSpace::kConst;
  return space && ClassOf(variable.type) != TypeClass::kOpaque &&
         variable.linkage != Linkage::kExtern;
}

bool IsDynamicShared(const Variable& variable) {
  return variable.space == StateSpace::kShared &&
         (variable.linkage == Linkage::kExtern || variable.unsized);
}

}  // namespace

const Variable& GetVariable(const Module& module, VariableId id) {
  if (id.function == kNone) return module.variables[id.index];
  return module.functions[id.function].body->variables[id.index];
}

bool IsRuntimeFunction(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNames = {
      "vprintf", "malloc", "free", "__assertfail"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

uint32_t ResolveAlias(const Module& module, uint32_t function) {
  uint32_t target = module.functions[function].alias_of;
  return target == kNone ? function : target;
}

int64_t FunctionToken(const Module& module, uint32_t function) {
  return module.functions[function].token;
}

uint64_t DataLayout::OffsetOf(VariableId id) const {
  if (id.function == kNone) return module_offsets[id.index];
  const std::vector<uint64_t>& body = body_offsets[id.function];
  return id.index < body.size() ? body[id.index] : kNoOffset;
}

uint64_t KernelLayout::SharedOffset(VariableId id) const {
  auto it = std::lower_bound(shared.begin(), shared.end(), id,
                             [](const auto& entry, VariableId wanted) {
                               return entry.first < wanted;
                             });
  return it != shared.end() && it->first == id ? it->second : kNoOffset;
}

absl::StatusOr<Sema> Sema::Create(const Module& module) {
  Sema sema(module);
  sema.summaries_.resize(module.functions.size());
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    sema.functions_by_name_.emplace(module.functions[i].name, i);
    sema.Summarise(i);
  }
  for (uint32_t i = 0; i < module.variables.size(); ++i) {
    sema.variables_by_name_.emplace(module.variables[i].name, i);
  }
  absl::Status status = sema.LayOutData();
  if (!status.ok()) return status;
  sema.CheckInitializers();
  sema.FindTaken();
  return sema;
}

void Sema::Summarise(uint32_t function) {
  const Body* body = module_->functions[function].body.get();
  if (body == nullptr) return;
  FunctionSummary& summary = summaries_[function];
  std::unordered_map<uint32_t, int64_t> taken;  // uses other than calls
  for (const Instruction& instruction : body->instructions) {
    if (instruction.op() != Op::kCall) continue;
    auto operands = body->Operands(instruction);
    const Operand& callee = operands[1];
    if (callee.kind == OperandKind::kSymbol) {
      summary.callees.push_back(ResolveAlias(*module_, callee.index));
      summary.callee_places.push_back(instruction.location);
      --taken[callee.index];
    } else if (operands[3].kind == OperandKind::kPrototype) {
      const Prototype& prototype = body->prototypes[operands[3].index];
      summary.indirect_signatures.push_back(
          SignatureOf(prototype.params, prototype.returns));
    } else {
      for (uint32_t target : body->target_tables[operands[3].index].targets) {
        summary.indirect_targets.push_back(ResolveAlias(*module_, target));
      }
    }
  }
  for (const Operand& operand : body->operands) {
    bool symbol = operand.kind == OperandKind::kSymbol ||
                  (operand.kind == OperandKind::kAddress &&
                   operand.address_base == AddressBase::kSymbol);
    if (!symbol) continue;
    if (operand.symbol_kind == SymbolKind::kModuleVariable) {
      summary.module_variables.push_back(operand.index);
    } else if (operand.symbol_kind == SymbolKind::kFunction) {
      ++taken[operand.index];
    }
  }
  for (const auto& [index, uses] : taken) {
    if (uses > 0) summary.taken.push_back(ResolveAlias(*module_, index));
  }
  SortUnique(&summary.indirect_signatures);
  SortUnique(&summary.module_variables);
  SortUnique(&summary.taken);
}

uint32_t Sema::SignatureOf(const std::vector<Variable>& params,
                           const std::vector<Variable>& returns) {
  std::string key;
  for (const Variable& variable : returns) key += Cat(variable.size, ',');
  key += '/';
  for (const Variable& variable : params) key += Cat(variable.size, ',');
  uint32_t next = static_cast<uint32_t>(signatures_.size());
  return signatures_.emplace(std::move(key), next).first->second;
}

absl::Status Sema::LayOutData() {
  auto place = [this](const Variable& variable, uint64_t* offset) {
    if (!IsData(variable)) return true;
    *offset = AlignUp(data_.size, variable.align);
    data_.size = *offset + variable.size;
    data_.align = std::max(data_.align, variable.align);
    return data_.size <= kMaxDataBytes;
  };
  auto too_big = [this](const Variable& variable) {
    return absl::ResourceExhaustedError(Cat(
        module_->Place(variable.location),
        ": the data of the module is larger than ", kMaxDataBytes, " bytes"));
  };
  data_.module_offsets.assign(module_->variables.size(), kNoOffset);
  for (size_t i = 0; i < module_->variables.size(); ++i) {
    if (!place(module_->variables[i], &data_.module_offsets[i])) {
      return too_big(module_->variables[i]);
    }
  }
  data_.body_offsets.resize(module_->functions.size());
  for (size_t f = 0; f < module_->functions.size(); ++f) {
    const Body* body = module_->functions[f].body.get();
    if (body == nullptr) continue;
    bool any =
        std::any_of(body->variables.begin(), body->variables.end(), IsData);
    if (!any) continue;
    data_.body_offsets[f].assign(body->variables.size(), kNoOffset);
    for (size_t i = 0; i < body->variables.size(); ++i) {
      if (!place(body->variables[i], &data_.body_offsets[f][i])) {
        return too_big(body->variables[i]);
      }
    }
  }
  return absl::OkStatus();
}

void Sema::CheckInitializers() {
  data_.refusals.resize(module_->variables.size());
  for (size_t i = 0; i < module_->variables.size(); ++i) {
    const Variable& variable = module_->variables[i];
    if (ClassOf(variable.type) == TypeClass::kOpaque) {
      data_.refusals[i] = absl::UnimplementedError(
          Cat(module_->Place(variable.location), ": '", variable.name,
              "' is a .", TypeName(variable.type),
              ", and texture, sampler and surface references are not "
              "supported"));
    } else if (variable.linkage == Linkage::kExtern &&
               variable.space != StateSpace::kShared) {
      data_.refusals[i] =
          absl::InvalidArgumentError(Cat(module_->Place(variable.location),
                                         ": unresolved external "
                                         "variable '",
                                         variable.name, "'"));
    } else {
      data_.refusals[i] = CheckInitializer(variable);
    }
  }
}

void Sema::FindTaken() {
  std::vector<uint32_t> taken;
  for (const FunctionSummary& summary : summaries_) {
    taken.insert(taken.end(), summary.taken.begin(), summary.taken.end());
  }
  for (const Variable& variable : module_->variables) {
    for (const InitializerSymbol& symbol : variable.init_symbols) {
      auto it = functions_by_name_.find(symbol.symbol);
      if (it == functions_by_name_.end()) continue;
      taken.push_back(ResolveAlias(*module_, it->second));
    }
  }
  SortUnique(&taken);
  taken_.assign(module_->functions.size(), false);
  for (uint32_t index : taken) {
    taken_[index] = true;
    const Function& function = module_->functions[index];
    uint32_t signature = SignatureOf(function.params, function.returns);
    taken_by_signature_.resize(signatures_.size());
    taken_by_signature_[signature].push_back(index);
  }
  taken_by_signature_.resize(signatures_.size());
}

KernelLayout Sema::LayOutKernel(uint32_t function) const {
  KernelLayout layout;
  layout.function = function;
  LayOutParams(&layout);
  Reach(&layout);
  layout.refusal = CheckReached(layout);
  if (layout.refusal.ok()) LayOutMemory(&layout);
  return layout;
}

// An indirect call may reach every function whose address the module takes and
// whose parameters have the sizes of the prototype: the pointer may come from
// memory that another kernel wrote.
void Sema::Reach(KernelLayout* layout) const {
  std::vector<bool> seen(module_->functions.size(), false);
  std::vector<bool> expanded(taken_by_signature_.size(), false);
  std::vector<uint32_t> found;
  std::vector<uint32_t> pending;
  auto add = [&](const std::vector<uint32_t>& functions) {
    for (uint32_t function : functions) {
      if (seen[function]) continue;
      seen[function] = true;
      pending.push_back(function);
    }
  };
  add({layout->function});
  while (!pending.empty()) {
    uint32_t function = pending.back();
    pending.pop_back();
    if (function != layout->function) found.push_back(function);
    const FunctionSummary& summary = summaries_[function];
    add(summary.callees);
    add(summary.taken);
    add(summary.indirect_targets);
    for (uint32_t signature : summary.indirect_signatures) {
      if (expanded[signature]) continue;
      expanded[signature] = true;
      add(taken_by_signature_[signature]);
    }
  }
  std::sort(found.begin(), found.end());
  layout->reachable = {layout->function};
  layout->reachable.insert(layout->reachable.end(), found.begin(), found.end());
}

absl::Status Sema::CheckReached(const KernelLayout& layout) const {
  for (uint32_t function : layout.reachable) {
    absl::Status status = CheckFunction(function);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Sema::CheckFunction(uint32_t index) const {
  const Function& function = module_->functions[index];
  if (!function.refusal.ok()) return function.refusal;
  if (!function.defined && !IsRuntimeFunction(function.name)) {
    return absl::InvalidArgumentError(Cat(module_->Place(function.location),
                                          ": unresolved external function '",
                                          function.name, "'"));
  }
  const FunctionSummary& summary = summaries_[index];
  for (size_t i = 0; i < summary.callees.size(); ++i) {
    const Function& callee = module_->functions[summary.callees[i]];
    if (callee.defined || IsRuntimeFunction(callee.name)) continue;
    return absl::InvalidArgumentError(
        Cat(module_->Place(summary.callee_places[i]),
            ": unresolved external function '", callee.name, "'"));
  }
  for (uint32_t variable : summary.module_variables) {
    if (!data_.refusals[variable].ok()) return data_.refusals[variable];
  }
  if (function.body != nullptr) {
    for (const Variable& variable : function.body->variables) {
      absl::Status status = CheckInitializer(variable);
      if (!status.ok()) return status;
    }
  }
  for (const Variable& param : function.params) {
    if (ClassOf(param.type) == TypeClass::kOpaque) {
      return absl::UnimplementedError(
          Cat(module_->Place(param.location), ": parameter '", param.name,
              "' of type .", TypeName(param.type), " is not supported"));
    }
  }
  return absl::OkStatus();
}

void Sema::LayOutMemory(KernelLayout* layout) const {
  std::vector<VariableId> found;
  for (uint32_t function : layout->reachable) {
    for (uint32_t index : summaries_[function].module_variables) {
      StateSpace space = module_->variables[index].space;
      if (space == StateSpace::kShared || space == StateSpace::kLocal) {
        found.push_back({kNone, index});
      }
    }
    const Body* body = module_->functions[function].body.get();
    if (body == nullptr) continue;
    for (uint32_t i = 0; i < body->variables.size(); ++i) {
      StateSpace space = body->variables[i].space;
      if (space == StateSpace::kShared || space == StateSpace::kLocal) {
        found.push_back({function, i});
      }
    }
  }
  SortUnique(&found);
  uint64_t dynamic_align = kDynamicSharedAlign;
  uint64_t end = 0;
  for (VariableId id : found) {
    const Variable& variable = GetVariable(*module_, id);
    if (variable.space == StateSpace::kLocal) {
      layout->local_bytes =
          AlignUp(layout->local_bytes, variable.align) + variable.size;
      continue;
    }
    if (IsDynamicShared(variable)) {
      layout->uses_dynamic_shared = true;
      dynamic_align = std::max<uint64_t>(dynamic_align, variable.align);
      layout->shared.push_back({id, kNoOffset});
      continue;
    }
    uint64_t offset = AlignUp(end, variable.align);
    layout->shared.push_back({id, offset});
    end = offset + variable.size;
    if (end > kMaxSharedBytes) {
      layout->refusal = absl::ResourceExhaustedError(Cat(
          module_->Place(variable.location), ": kernel '",
          module_->functions[layout->function].name,
          "' declares more shared memory than ", kMaxSharedBytes, " bytes"));
      return;
    }
  }
  layout->static_shared_bytes = end;
  layout->dynamic_shared_offset = AlignUp(end, dynamic_align);
  for (auto& [id, offset] : layout->shared) {
    if (offset == kNoOffset) offset = layout->dynamic_shared_offset;
  }
}

void Sema::LayOutParams(KernelLayout* layout) const {
  uint64_t end = 0;
  for (const Variable& param : module_->functions[layout->function].params) {
    uint64_t offset = AlignUp(end, param.align);
    layout->param_offsets.push_back(offset);
    end = offset + param.size;
  }
  layout->param_bytes = end;
}

}  // namespace hetgpu::ptx
