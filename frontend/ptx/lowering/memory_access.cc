// Addresses, symbols, parameter cells, local storage.
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

bool IsParamSymbol(const Body& body, const Operand& operand) {
  switch (operand.symbol_kind) {
    case SymbolKind::kParam:
    case SymbolKind::kReturnParam:
      return true;
    case SymbolKind::kBodyVariable:
      return body.variables[operand.index].space == StateSpace::kParam;
    default:
      return false;
  }
}

}  // namespace

hetir::Scope ScopeOf(Scope scope, hetir::Scope otherwise) {
  switch (scope) {
    case Scope::kCta: return hetir::Scope::block;
    case Scope::kCluster: return hetir::Scope::cluster;
    case Scope::kGpu: return hetir::Scope::device;
    case Scope::kSys: return hetir::Scope::system;
    case Scope::kNone: return otherwise;
  }
  return otherwise;
}

// Of a device function's parameters only memory (local) has addresses.
hetir::Space Lowering::SpaceOf(StateSpace space) {
  switch (space) {
    case StateSpace::kGlobal: return hetir::Space::global;
    case StateSpace::kConst: return hetir::Space::constant;
    case StateSpace::kShared:
    case StateSpace::kSharedCluster: return hetir::Space::shared;
    case StateSpace::kLocal: return hetir::Space::local;
    case StateSpace::kParam:
      return function_.is_entry ? hetir::Space::param : hetir::Space::local;
    case StateSpace::kGeneric: return hetir::Space::generic;
    case StateSpace::kReg:
    case StateSpace::kTex: break;
  }
  Refuse(Cat("state space '.", StateSpaceName(space), "'"));
  return hetir::Space::generic;
}

const Variable& Lowering::SymbolOf(const Operand& operand) const {
  switch (operand.symbol_kind) {
    case SymbolKind::kBodyVariable: return body_.variables[operand.index];
    case SymbolKind::kParam: return function_.params[operand.index];
    case SymbolKind::kReturnParam: return function_.returns[operand.index];
    case SymbolKind::kModuleVariable:
    case SymbolKind::kFunction: break;
  }
  return module().variables[operand.index];
}

hetir::Space Lowering::SpaceOfSymbol(const Operand& operand) {
  if (operand.symbol_kind == SymbolKind::kFunction) {
    return hetir::Space::generic;
  }
  bool kernel_param =
      function_.is_entry && operand.symbol_kind == SymbolKind::kParam;
  if (kernel_param) return hetir::Space::param;
  if (IsParamSymbol(body_, operand)) return hetir::Space::local;
  return SpaceOf(SymbolOf(operand).space);
}

Address Lowering::ReadAddress(const Operand& operand, hetir::Space space) {
  Address address{space, {}, 0};
  if (operand.kind != OperandKind::kAddress) {
    Refuse("expected an address");
    address.base = Zero(I64());
    return address;
  }
  switch (operand.address_base) {
    case AddressBase::kRegister:
      address.base = ReadRaw(operand);
      address.offset = operand.value;
      break;
    case AddressBase::kSymbol: {
      address.space = SpaceOfSymbol(operand);
      Operand symbol = operand;
      symbol.value = 0;
      address.base = SymbolAddress(symbol, 64);
      address.offset = operand.value;
      break;
    }
    case AddressBase::kAbsolute:
      address.base = ConstantInt(64, static_cast<uint64_t>(operand.value));
      break;
    case AddressBase::kCompound:
      Refuse("compound address");
      address.base = Zero(I64());
  }
  mlir::Type type = address.base.getType();
  if (type != I64() && type != I32()) {
    Fail(absl::StatusCode::kInvalidArgument,
         "expected an address register of 32 or 64 bits");
    address.base = Zero(I64());
  }
  return address;
}

VariableId Lowering::IdOf(const Operand& operand) const {
  bool in_body = operand.symbol_kind == SymbolKind::kBodyVariable;
  return {in_body ? index_ : kNone, operand.index};
}

Value Lowering::SymbolAddress(const Operand& operand, unsigned bits) {
  mlir::Type type = Int(bits);
  if (operand.symbol_kind == SymbolKind::kFunction) {
    uint32_t index = ResolveAlias(module(), operand.index);
    return Create<hetir::FunctionTokenOp>(
        I64(), llvm::StringRef(module().functions[index].name),
        FunctionToken(module(), index));
  }
  const Variable& variable = SymbolOf(operand);
  llvm::StringRef name(variable.name);
  uint64_t offset = static_cast<uint64_t>(operand.value);
  hetir::Space space = SpaceOfSymbol(operand);
  bool is_offset =
      space == hetir::Space::shared || space == hetir::Space::param;
  if (bits < 64 && !is_offset) {
    // Where such a space is no small window, the address would be cut.
    Refuse(Cat("address of '", variable.name, "' in ", bits, " bits"));
    return Zero(type);
  }
  switch (space) {
    case hetir::Space::global:
    case hetir::Space::constant: {
      uint64_t base = program_.DataOffset(IdOf(operand));
      if (base == kNoOffset) {
        Fail(absl::StatusCode::kUnimplemented,
             Cat("variable '", variable.name, "' has no place in memory"));
      }
      auto extent = builder_.getDenseI64ArrayAttr(
          {static_cast<int64_t>(base), static_cast<int64_t>(variable.size)});
      return Create<hetir::DataAddressOp>(type, name, base + offset, space,
                                          extent);
    }
    case hetir::Space::shared: {
      uint64_t base = program_.SharedOffset(IdOf(operand));
      if (base == kNoOffset) {
        Fail(absl::StatusCode::kInternal,
             Cat("no place for shared variable '", variable.name, "'"));
      }
      bool dynamic =
          variable.linkage == Linkage::kExtern || variable.unsized;
      return Create<hetir::SharedAddressOp>(type, name, base + offset, dynamic);
    }
    case hetir::Space::param: {
      uint64_t base = program_.layout().param_offsets[operand.index];
      return ConstantInt(bits, base + offset);
    }
    case hetir::Space::local: {
      Value address = Resize(MemoryOf(operand), bits, false);
      if (offset == 0) return address;
      return Create<mlir::arith::AddIOp>(address, ConstantInt(bits, offset));
    }
    case hetir::Space::generic: break;
  }
  Refuse(Cat("address of '", variable.name, "'"));
  return Zero(type);
}

Value Lowering::MemoryOf(const Operand& operand) {
  uint32_t key = SymbolKey(operand.symbol_kind, operand.index);
  auto known = memory_.find(key);
  if (known != memory_.end()) return known->second;
  const Variable& variable = SymbolOf(operand);
  bool shared_by_functions =
      operand.symbol_kind == SymbolKind::kModuleVariable &&
      !function_.is_entry;
  if (shared_by_functions) {
    Refuse(Cat("module-level local variable '", variable.name,
               "' in a device function"));
  }
  Value address = LocalAlloc(variable.name, variable.size, variable.align);
  memory_[key] = address;
  return address;
}

Value Lowering::LocalAlloc(std::string_view name, uint64_t size,
                           uint64_t align) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPoint(blocks_.front()->getTerminator());
  return Create<hetir::LocalAllocOp>(I64(), llvm::StringRef(name), size,
                                     align);
}

Values Lowering::Load(mlir::Type type, size_t count, const Address& address) {
  llvm::SmallVector<mlir::Type, 4> types(count, type);
  auto op = Create<hetir::LoadOp>(types, address.space, address.base, Value(),
                                  Value(),
                                  static_cast<uint64_t>(address.offset));
  return Values(op.getValues().begin(), op.getValues().end());
}

void Lowering::Store(mlir::ValueRange values, const Address& address) {
  Create<hetir::StoreOp>(address.space, address.base, Value(), values, Value(),
                         static_cast<uint64_t>(address.offset));
}

// --- Scalar parameters as values ---

// A parameter stays a value unless it is large or something takes its address.
void Lowering::DeclareCells() {
  llvm::DenseSet<uint32_t> in_memory;
  auto scan = [&](const Operand& operand) {
    if (operand.kind == OperandKind::kSymbol && IsParamSymbol(body_, operand)) {
      in_memory.insert(SymbolKey(operand.symbol_kind, operand.index));
    }
  };
  for (const Instruction& inst : body_.instructions) {
    if (inst.op() == Op::kCall) continue;
    for (const Operand& operand : body_.Operands(inst)) {
      scan(operand);
      for (const Operand& part : body_.Children(operand)) scan(part);
    }
  }
  auto declare = [&](const Variable& variable, SymbolKind kind, uint32_t i) {
    uint32_t key = SymbolKey(kind, i);
    if (PassedInMemory(variable) || in_memory.contains(key)) return;
    if (variable.reg != kNone) return;
    cells_[key] = static_cast<uint32_t>(variables_.size());
    variables_.push_back({Int(static_cast<unsigned>(variable.size * 8)), {}});
  };
  for (uint32_t i = 0; i < body_.variables.size(); ++i) {
    const Variable& variable = body_.variables[i];
    if (variable.space != StateSpace::kParam) continue;
    declare(variable, SymbolKind::kBodyVariable, i);
  }
  if (function_.is_entry) return;
  for (uint32_t i = 0; i < function_.params.size(); ++i) {
    declare(function_.params[i], SymbolKind::kParam, i);
  }
  for (uint32_t i = 0; i < function_.returns.size(); ++i) {
    declare(function_.returns[i], SymbolKind::kReturnParam, i);
  }
}

bool Lowering::FindCell(const Operand& operand, Cell* cell) {
  bool symbol = operand.kind == OperandKind::kSymbol ||
                (operand.kind == OperandKind::kAddress &&
                 operand.address_base == AddressBase::kSymbol);
  if (!symbol) return false;
  auto found = cells_.find(SymbolKey(operand.symbol_kind, operand.index));
  if (found == cells_.end()) return false;
  *cell = {found->second, operand.value};
  return true;
}

Value Lowering::ReadCell(const Cell& cell, mlir::Type type) {
  Value whole = ReadVariable(cell.variable);
  unsigned have = whole.getType().getIntOrFloatBitWidth();
  unsigned want = type.getIntOrFloatBitWidth();
  if (cell.offset < 0 || cell.offset * 8 + want > have) {
    Fail(absl::StatusCode::kInvalidArgument, "access outside of the parameter");
    return Zero(type);
  }
  uint64_t shift = static_cast<uint64_t>(cell.offset) * 8;
  if (shift != 0) {
    whole = Create<mlir::arith::ShRUIOp>(whole, ConstantInt(have, shift));
  }
  return Bitcast(Resize(whole, want, false), type);
}

void Lowering::WriteCell(const Cell& cell, Value value) {
  unsigned have = variables_[cell.variable].type.getIntOrFloatBitWidth();
  unsigned part = value.getType().getIntOrFloatBitWidth();
  if (cell.offset < 0 || cell.offset * 8 + part > have) {
    return Fail(absl::StatusCode::kInvalidArgument,
                "access outside of the parameter");
  }
  Value bits = Resize(value, have, false);
  if (part != have) {
    uint64_t shift = static_cast<uint64_t>(cell.offset) * 8;
    uint64_t mask = ((uint64_t{1} << part) - 1) << shift;
    Value kept = Create<mlir::arith::AndIOp>(ReadVariable(cell.variable),
                                             ConstantInt(have, ~mask));
    Value moved =
        Create<mlir::arith::ShLIOp>(bits, ConstantInt(have, shift));
    bits = Create<mlir::arith::OrIOp>(kept, moved);
  }
  WriteVariable(cell.variable, bits);
}

}  // namespace hetgpu::ptx
