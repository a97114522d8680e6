#include "frontend/ptx/dump.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

class Dumper {
 public:
  Dumper(const Module& module, const Function& function)
      : module_(module), function_(function), body_(*function.body) {}

  std::string Line(const Instruction& instruction) const {
    std::string out;
    if (instruction.guard != kNone) {
      out += Cat('@', instruction.guard_negated ? "!" : "",
                 body_.RegisterName(instruction.guard), ' ');
    }
    out += instruction.opcode->text;
    const char* separator = " ";
    for (const Operand& operand : body_.Operands(instruction)) {
      out += Cat(separator, Text(operand));
      separator = ", ";
    }
    return out;
  }

 private:
  std::string Text(const Operand& operand) const {
    std::string out = operand.is_dest && operand.num_children == 0 ? "=" : "";
    out += Bare(operand);
    bool leaf = operand.kind == OperandKind::kRegister ||
                operand.kind == OperandKind::kImmediate ||
                operand.kind == OperandKind::kSpecial;
    if (leaf && operand.type != Type::kNone) {
      out += Cat(':', TypeName(operand.type));
    }
    return out;
  }

  std::string Bare(const Operand& operand) const {
    switch (operand.kind) {
      case OperandKind::kRegister:
        return Cat(operand.negated ? "!" : "",
                   body_.RegisterName(operand.index));
      case OperandKind::kImmediate:
        return Immediate(operand);
      case OperandKind::kSpecial:
        return Cat('%', SpecialRegisterName(
                            static_cast<SpecialRegister>(operand.index)));
      case OperandKind::kSymbol:
        return Symbol(operand);
      case OperandKind::kAddress:
        return Address(operand);
      case OperandKind::kVector:
        return Children(operand, "{", ", ", "}");
      case OperandKind::kPair:
        return Children(operand, "", "|", "");
      case OperandKind::kList:
        return Children(operand, "(", ", ", ")");
      case OperandKind::kSink:
        return "_";
      case OperandKind::kLabel:
        return Cat(body_.labels[operand.index].name, "->",
                   body_.labels[operand.index].instruction);
      case OperandKind::kPrototype:
        return std::string(body_.prototypes[operand.index].name);
      case OperandKind::kTargets:
        return std::string(body_.target_tables[operand.index].name);
    }
    return "?";
  }

  static std::string Immediate(const Operand& operand) {
    if (operand.type == Type::kF32 || operand.type == Type::kF64) {
      char buffer[24];
      std::snprintf(buffer, sizeof buffer, "0x%llx",
                    static_cast<unsigned long long>(operand.value));
      return buffer;
    }
    return std::to_string(operand.value);
  }

  std::string_view NameOfSymbol(const Operand& operand) const {
    switch (operand.symbol_kind) {
      case SymbolKind::kModuleVariable:
        return module_.variables[operand.index].name;
      case SymbolKind::kBodyVariable:
        return body_.variables[operand.index].name;
      case SymbolKind::kParam:
        return function_.params[operand.index].name;
      case SymbolKind::kReturnParam:
        return function_.returns[operand.index].name;
      case SymbolKind::kFunction:
        return module_.functions[operand.index].name;
    }
    return "?";
  }

  std::string Symbol(const Operand& operand) const {
    std::string out(NameOfSymbol(operand));
    if (operand.value != 0) out += Cat("+", operand.value);
    return out;
  }

  std::string Address(const Operand& operand) const {
    switch (operand.address_base) {
      case AddressBase::kRegister: {
        std::string out = Cat('[', body_.RegisterName(operand.index));
        if (operand.value != 0) out += Cat("+", operand.value);
        return out + "]";
      }
      case AddressBase::kSymbol:
        return Cat('[', Symbol(operand), ']');
      case AddressBase::kAbsolute:
        return Cat('[', operand.value, ']');
      case AddressBase::kCompound:
        return Children(operand, "[", ", ", "]");
    }
    return "?";
  }

  std::string Children(const Operand& operand, std::string_view open,
                       std::string_view separator,
                       std::string_view close) const {
    std::string out(open);
    bool first = true;
    for (const Operand& child : body_.Children(operand)) {
      if (!first) out += separator;
      first = false;
      out += Text(child);
    }
    return out += close;
  }

  const Module& module_;
  const Function& function_;
  const Body& body_;
};

// In the order of Flag.
constexpr std::string_view kFlagNames[] = {
    "ftz",      "sat",        "satfinite",  "relu",      "approx",    "full",
    "noftz",    "NaN",        "xorsign",    "abs",       "cc",        "to",
    "nc",       "cache_hint", "mmio",       "sync",      "aligned",   "trans",
    "shiftamt", "parity",     "noComplete", "noinc",     "expect_tx", "read",
    "async",    "L1",         "L2",         "tensormap", "pack",      "sp",
};
static_assert(std::size(kFlagNames) == static_cast<size_t>(Flag::kCount));

std::string_view LinkageName(Linkage linkage) {
  switch (linkage) {
    case Linkage::kInternal:
      return "";
    case Linkage::kVisible:
      return ".visible ";
    case Linkage::kExtern:
      return ".extern ";
    case Linkage::kWeak:
      return ".weak ";
    case Linkage::kCommon:
      return ".common ";
  }
  return "?";
}

std::string Hex(const std::vector<uint8_t>& bytes) {
  std::string out;
  for (uint8_t byte : bytes) {
    char buffer[3];
    std::snprintf(buffer, sizeof buffer, "%02x", byte);
    out += buffer;
  }
  return out;
}

void DumpRegisters(const Body& body, std::string* out) {
  for (const RegisterGroup& group : body.register_groups) {
    *out += Cat("  .reg .", TypeName(group.type), ' ', group.name,
                group.ranged ? "<>" : "", " [", group.first, ", ",
                group.first + group.count, ")\n");
  }
}

void DumpDirectives(const PerformanceDirectives& directives, std::string* out) {
  auto dims = [out](std::string_view name, const auto& values) {
    if (values[0] == 0) return;
    *out += Cat("  .", name, ' ', values[0], ", ", values[1], ", ", values[2],
                '\n');
  };
  dims("maxntid", directives.maxntid);
  dims("reqntid", directives.reqntid);
  dims("reqnctapercluster", directives.reqnctapercluster);
  auto count = [out](std::string_view name, uint32_t value) {
    if (value != 0) *out += Cat("  .", name, ' ', value, '\n');
  };
  count("minnctapersm", directives.minnctapersm);
  count("maxnctapersm", directives.maxnctapersm);
  count("maxnreg", directives.maxnreg);
  count("maxclusterrank", directives.maxclusterrank);
  if (directives.noreturn) *out += "  .noreturn\n";
}

std::string ParameterList(const std::vector<Variable>& parameters) {
  std::string out = "(";
  for (const Variable& parameter : parameters) {
    if (out.size() > 1) out += ", ";
    out += DumpVariable(parameter);
  }
  return out + ")";
}

void DumpBody(const Module& module, const Function& function,
              std::string* out) {
  const Body& body = *function.body;
  DumpRegisters(body, out);
  for (const Variable& variable : body.variables) {
    *out += Cat("  ", DumpVariable(variable), '\n');
  }
  for (const TargetTable& table : body.target_tables) {
    *out += Cat("  ", table.name, ':');
    for (uint32_t target : table.targets) {
      *out += Cat(' ', table.calls ? module.functions[target].name
                                   : body.labels[target].name);
    }
    *out += '\n';
  }
  for (const Prototype& prototype : body.prototypes) {
    *out += Cat("  ", prototype.name, ": ", ParameterList(prototype.returns),
                " _ ", ParameterList(prototype.params), '\n');
  }
  for (size_t i = 0; i < body.instructions.size(); ++i) {
    *out += Cat("  ", i, ": ",
                DumpInstruction(module, function, body.instructions[i]), '\n');
  }
}

}  // namespace

std::string DumpInstruction(const Module& module, const Function& function,
                            const Instruction& instruction) {
  return Dumper(module, function).Line(instruction);
}

std::string DumpVariable(const Variable& variable) {
  std::string out =
      Cat(LinkageName(variable.linkage), '.', StateSpaceName(variable.space));
  if (variable.vector > 1) out += Cat(" .v", int{variable.vector});
  out += Cat(" .", TypeName(variable.type), ' ', variable.name);
  for (uint64_t dim : variable.dims) out += Cat('[', dim, ']');
  out += Cat(" align ", variable.align, " size ", variable.size);
  if (variable.managed) out += " managed";
  if (variable.is_pointer) {
    out += Cat(" ptr ", StateSpaceName(variable.pointer_space), ' ',
               variable.pointer_align);
  }
  if (variable.has_initializer) out += Cat(" = ", Hex(variable.init_bytes));
  for (const InitializerSymbol& symbol : variable.init_symbols) {
    out += Cat(" @", symbol.offset, symbol.generic ? " generic " : " ",
               symbol.symbol, "+", symbol.addend);
    if (symbol.mask != 0) out += Cat(" mask ", symbol.mask);
  }
  return out;
}

std::string DumpFunction(const Module& module, const Function& function) {
  std::string out = Cat(LinkageName(function.linkage),
                        function.is_entry ? ".entry " : ".func ");
  if (!function.returns.empty()) {
    out += Cat(ParameterList(function.returns), ' ');
  }
  out += Cat(function.name, ' ', ParameterList(function.params), '\n');
  DumpDirectives(function.directives, &out);
  if (function.alias_of != kNone) {
    out += Cat("  alias of ", module.functions[function.alias_of].name, '\n');
  }
  if (!function.refusal.ok()) {
    out += Cat("  refused: ", std::string(function.refusal.message()), '\n');
  }
  if (function.body != nullptr) DumpBody(module, function, &out);
  return out;
}

std::string DumpModule(const Module& module) {
  std::string out = Cat("ptx ", module.version / 10, '.', module.version % 10,
                        ' ', module.target);
  for (std::string_view option : module.target_options) {
    out += Cat(", ", option);
  }
  out += '\n';
  for (const SourceFile& file : module.files) {
    out += Cat(".file ", file.number, ' ', file.name, '\n');
  }
  for (const Variable& variable : module.variables) {
    out += Cat(DumpVariable(variable), '\n');
  }
  for (const Function& function : module.functions) {
    out += DumpFunction(module, function);
  }
  return out;
}

std::string DumpModifiers(const Modifiers& m) {
  std::string out;
  auto field = [&out](std::string_view name, auto value) {
    if (value != decltype(value){}) out += Cat(name, '=', int(value), ' ');
  };
  if (m.num_types > 0) {
    out += "types=";
    for (int i = 0; i < m.num_types; ++i) {
      out += Cat(i > 0 ? "," : "", TypeName(m.types[i]));
    }
    out += ' ';
  }
  if (m.has_space) out += Cat("space=", StateSpaceName(m.space), ' ');
  if (m.space2 != StateSpace::kGeneric) {
    out += Cat("space2=", StateSpaceName(m.space2), ' ');
  }
  field("rounding", m.rounding);
  field("compare", m.compare);
  field("operation", m.operation);
  field("mode", m.mode);
  field("clamp", m.clamp);
  field("geometry", m.geometry);
  field("semantics", m.semantics);
  field("scope", m.scope);
  field("cache", m.cache);
  field("evict_l1", m.evict_l1);
  field("evict_l2", m.evict_l2);
  field("l2_prefetch", m.l2_prefetch_bytes);
  if (m.vector > 1) out += Cat("vector=", int{m.vector}, ' ');
  if (m.matrix_count > 1) out += Cat("count=", int{m.matrix_count}, ' ');
  if (m.shape.m != 0) {
    out += Cat("shape=", m.shape.m, 'x', m.shape.n, 'x', m.shape.k, ' ');
  }
  field("layout_a", m.layout_a);
  field("layout_b", m.layout_b);
  for (size_t i = 0; i < std::size(kFlagNames); ++i) {
    if (m.Has(static_cast<Flag>(i))) out += Cat(kFlagNames[i], ' ');
  }
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace hetgpu::ptx
