// Fills hetir/module_info.h, and checks what initialisers refer to.
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "frontend/ptx/sema.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

// Bytes that ModuleInfo::data_init may take.
constexpr uint64_t kMaxInitBytes = uint64_t{1} << 30;
// Steps over functions, calls and variables that all kernels together may take;
// a module of N kernels that all reach N functions would otherwise take N * N.
constexpr uint64_t kMaxReachSteps = 100'000'000;

std::optional<ScalarType> ScalarOf(Type type) {
  switch (type) {
    case Type::kB8:
      return ScalarType::kB8;
    case Type::kB16:
      return ScalarType::kB16;
    case Type::kB32:
      return ScalarType::kB32;
    case Type::kB64:
      return ScalarType::kB64;
    case Type::kB128:
      return ScalarType::kB128;
    case Type::kU8:
      return ScalarType::kU8;
    case Type::kU16:
      return ScalarType::kU16;
    case Type::kU32:
      return ScalarType::kU32;
    case Type::kU64:
      return ScalarType::kU64;
    case Type::kS8:
      return ScalarType::kS8;
    case Type::kS16:
      return ScalarType::kS16;
    case Type::kS32:
      return ScalarType::kS32;
    case Type::kS64:
      return ScalarType::kS64;
    case Type::kF16:
      return ScalarType::kF16;
    case Type::kBf16:
      return ScalarType::kBF16;
    case Type::kF32:
      return ScalarType::kF32;
    case Type::kF64:
      return ScalarType::kF64;
    default:
      return std::nullopt;
  }
}

// Packed types are described by untyped bits of their size.
ScalarType ScalarOrBits(Type type) {
  if (auto scalar = ScalarOf(type)) return *scalar;
  switch (TypeBits(type)) {
    case 16:
      return ScalarType::kB16;
    case 32:
      return ScalarType::kB32;
    case 64:
      return ScalarType::kB64;
    case 128:
      return ScalarType::kB128;
    default:
      return ScalarType::kB8;
  }
}

// How many entries from `first` on make up one 8-byte address: 1 for a whole
// address, 8 for `0xff(s), 0xff00(s), …`, 0 when neither.
size_t EntriesOfAddress(const std::vector<InitializerSymbol>& symbols,
                        size_t first) {
  const InitializerSymbol& head = symbols[first];
  if (head.mask == 0) return head.size == 8 ? 1 : 0;
  if (head.size != 1 || symbols.size() - first < 8) return 0;
  for (size_t i = 0; i < 8; ++i) {
    const InitializerSymbol& byte = symbols[first + i];
    if (byte.mask != uint64_t{0xff} << (8 * i) || byte.size != 1 ||
        byte.offset != head.offset + i || byte.symbol != head.symbol ||
        byte.addend != head.addend || byte.generic != head.generic) {
      return 0;
    }
  }
  return 8;
}

ParamInfo MakeParam(const Variable& param, uint64_t offset) {
  ParamInfo info;
  info.name = param.name;
  info.offset = static_cast<uint32_t>(offset);
  info.size = static_cast<uint32_t>(param.size);
  info.align = param.align;
  info.type = ScalarOrBits(param.type);
  info.is_array = param.is_array || param.vector > 1;
  TypeClass cls = ClassOf(param.type);
  bool integer64 = param.size == 8 && !info.is_array &&
                   (cls == TypeClass::kBits || cls == TypeClass::kUnsigned ||
                    cls == TypeClass::kSigned);
  info.is_pointer = param.is_pointer || integer64;
  return info;
}

}  // namespace

// In place of the address of an initialiser, what is wrong with it.
absl::Status Sema::CheckInitializer(const Variable& variable) const {
  const std::vector<InitializerSymbol>& symbols = variable.init_symbols;
  for (size_t i = 0; i < symbols.size();) {
    const InitializerSymbol& symbol = symbols[i];
    std::string place = module_->Place(symbol.location);
    size_t entries = EntriesOfAddress(symbols, i);
    if (entries == 0) {
      return absl::UnimplementedError(
          Cat(place, ": part of the address of '", symbol.symbol,
              "' as an initial value is not supported, expected all 8 bytes"));
    }
    i += entries;
    auto function = functions_by_name_.find(symbol.symbol);
    if (function != functions_by_name_.end()) {
      if (!module_->functions[function->second].is_entry) continue;
      return absl::UnimplementedError(
          Cat(place, ": the address of the kernel '", symbol.symbol,
              "' as an initial value is not supported"));
    }
    auto target = variables_by_name_.find(symbol.symbol);
    if (target == variables_by_name_.end()) {
      return absl::InvalidArgumentError(
          Cat(place, ": undeclared name '", symbol.symbol, "'"));
    }
    if (data_.module_offsets[target->second] == kNoOffset) {
      return absl::UnimplementedError(
          Cat(place, ": the address of '", symbol.symbol,
              "' as an initial value is not supported, it is no .global or "
              ".const variable of this module"));
    }
  }
  return absl::OkStatus();
}

class ModuleInfoBuilder {
 public:
  explicit ModuleInfoBuilder(const Sema& sema)
      : sema_(sema), module_(*sema.module_) {}

  absl::StatusOr<ModuleInfo> Build() {
    info_.name = module_.file_name;
    info_.ptx_version = module_.version;
    info_.target = module_.target;
    info_.data_size = sema_.data().size;
    info_.data_align = sema_.data().align;
    for (uint32_t i = 0; i < module_.variables.size(); ++i) {
      absl::Status status = AddData({kNone, i}, /*named=*/true);
      if (!status.ok()) return status;
    }
    for (uint32_t f = 0; f < module_.functions.size(); ++f) {
      for (uint32_t i = 0; i < sema_.data().body_offsets[f].size(); ++i) {
        absl::Status status = AddData({f, i}, /*named=*/false);
        if (!status.ok()) return status;
      }
    }
    for (uint32_t f = 0; f < module_.functions.size(); ++f) {
      const Function& function = module_.functions[f];
      if (function.is_entry && function.defined) AddKernel(f);
    }
    return std::move(info_);
  }

 private:
  absl::Status AddData(VariableId id, bool named) {
    uint64_t offset = sema_.data().OffsetOf(id);
    if (offset == kNoOffset) return absl::OkStatus();
    const Variable& variable = GetVariable(module_, id);
    if (named) {
      info_.symbols.push_back(
          {std::string(variable.name),
           variable.space == StateSpace::kConst ? AddressSpace::kConst
                                                : AddressSpace::kGlobal,
           offset, variable.size, variable.align, ScalarOrBits(variable.type)});
    }
    if (variable.init_bytes.empty()) return absl::OkStatus();
    uint64_t end = offset + variable.init_bytes.size();
    if (end > kMaxInitBytes) {
      return absl::ResourceExhaustedError(Cat(module_.Place(variable.location),
                                              ": the initial data of the "
                                              "module is larger than ",
                                              kMaxInitBytes, " bytes"));
    }
    if (info_.data_init.size() < end) info_.data_init.resize(end, '\0');
    std::memcpy(info_.data_init.data() + offset, variable.init_bytes.data(),
                variable.init_bytes.size());
    // A refused initialiser refuses the kernels that use the variable.
    bool usable = named ? sema_.data().refusals[id.index].ok()
                        : sema_.CheckInitializer(variable).ok();
    if (usable) AddRelocations(variable, offset);
    return absl::OkStatus();
  }

  void AddRelocations(const Variable& variable, uint64_t base) {
    const std::vector<InitializerSymbol>& symbols = variable.init_symbols;
    for (size_t i = 0; i < symbols.size(); i += EntriesOfAddress(symbols, i)) {
      const InitializerSymbol& symbol = symbols[i];
      Relocation relocation;
      relocation.offset = base + symbol.offset;
      auto function = sema_.functions_by_name_.find(symbol.symbol);
      if (function != sema_.functions_by_name_.end()) {
        relocation.kind = Relocation::Kind::kFunction;
        relocation.function = symbol.symbol;
        relocation.addend =
            FunctionToken(module_, ResolveAlias(module_, function->second));
      } else {
        uint32_t target = sema_.variables_by_name_.at(symbol.symbol);
        relocation.addend =
            static_cast<int64_t>(sema_.data().module_offsets[target] +
                                 static_cast<uint64_t>(symbol.addend));
      }
      info_.relocations.push_back(std::move(relocation));
    }
  }

  void AddKernel(uint32_t index) {
    const Function& function = module_.functions[index];
    KernelInfo kernel;
    kernel.name = function.name;
    kernel.line = function.location.line;
    for (int i = 0; i < 3; ++i) {
      kernel.max_threads[i] = function.directives.maxntid[i];
      kernel.required_threads[i] = function.directives.reqntid[i];
    }
    KernelLayout layout = LayOut(index);
    kernel.refusal = layout.refusal;
    constexpr uint64_t kMax = std::numeric_limits<uint32_t>::max();
    if (kernel.refusal.ok() &&
        (layout.param_bytes > kMax || layout.local_bytes > kMax)) {
      kernel.refusal = absl::ResourceExhaustedError(
          Cat(module_.Place(function.location), ": kernel '", function.name,
              "' has more than 4 GiB of parameters or local memory"));
    }
    if (layout.param_bytes <= kMax) {
      for (size_t i = 0; i < layout.param_offsets.size(); ++i) {
        kernel.params.push_back(
            MakeParam(function.params[i], layout.param_offsets[i]));
      }
      kernel.param_bytes = static_cast<uint32_t>(layout.param_bytes);
    }
    kernel.static_shared_bytes =
        static_cast<uint32_t>(layout.static_shared_bytes);
    kernel.dynamic_shared_offset =
        static_cast<uint32_t>(layout.dynamic_shared_offset);
    kernel.uses_dynamic_shared = layout.uses_dynamic_shared;
    kernel.local_bytes =
        static_cast<uint32_t>(std::min(layout.local_bytes, kMax));
    info_.kernels.push_back(std::move(kernel));
  }

  KernelLayout LayOut(uint32_t index) {
    if (steps_ > kMaxReachSteps) {
      KernelLayout layout;
      layout.refusal = absl::ResourceExhaustedError(
          Cat(module_.Place(module_.functions[index].location),
              ": the module's call graph is too large"));
      return layout;
    }
    KernelLayout layout = sema_.LayOutKernel(index);
    steps_ += module_.functions.size() / 64;
    for (uint32_t function : layout.reachable) {
      const FunctionSummary& summary = sema_.summary(function);
      const Body* body = module_.functions[function].body.get();
      steps_ += 1 + summary.callees.size() + summary.taken.size() +
                summary.module_variables.size() +
                (body == nullptr ? 0 : body->variables.size());
    }
    return layout;
  }

  const Sema& sema_;
  const Module& module_;
  ModuleInfo info_;
  uint64_t steps_ = 0;
};

absl::StatusOr<ModuleInfo> BuildModuleInfo(const Module& module) {
  absl::StatusOr<Sema> sema = Sema::Create(module);
  if (!sema.ok()) return sema.status();
  return ModuleInfoBuilder(*sema).Build();
}

}  // namespace hetgpu::ptx
