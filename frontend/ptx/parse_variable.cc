// Variable and parameter declarations.
#include <algorithm>
#include <bit>

#include "frontend/ptx/parse_context.h"

namespace hetgpu::ptx {
namespace {

constexpr uint64_t kMaxAlign = uint64_t{1} << 20;
constexpr size_t kMaxDims = 16;

bool ParseAlign(ParseContext* context, uint32_t* align) {
  SourceLocation at = context->cursor.Here();
  uint64_t value = 0;
  if (!context->Unsigned(kMaxAlign, "an alignment", &value)) return false;
  if (!std::has_single_bit(value)) {
    return context->Fail(at,
                         Cat("alignment ", value, " is not a power of two"));
  }
  *align = static_cast<uint32_t>(value);
  return true;
}

// `.attribute(.managed)`, `.attribute(.unified(id, id), .managed)`.
bool ParseAttributes(ParseContext* context, Variable* variable) {
  Cursor& cursor = context->cursor;
  if (!context->Expect('(')) return false;
  do {
    cursor.SkipSpace();
    SourceLocation at = cursor.Here();
    std::string_view name = cursor.Directive();
    if (name == "managed") {
      variable->managed = true;
    } else if (name == "unified") {
      variable->unified = true;
      uint64_t id = 0;
      if (!context->Expect('(') || !context->Unsigned(~0ull, "a uuid", &id) ||
          !context->Expect(',') || !context->Unsigned(~0ull, "a uuid", &id) ||
          !context->Expect(')')) {
        return false;
      }
    } else {
      return context->Unsupported(at,
                                  Cat("unsupported attribute '.", name, "'"));
    }
  } while (cursor.Accept(','));
  return context->Expect(')');
}

// `.ptr{.space}{.align N}` of a kernel parameter.
bool ParsePointer(ParseContext* context, Variable* variable) {
  Cursor& cursor = context->cursor;
  variable->is_pointer = true;
  while (true) {
    std::string_view word = cursor.PeekDirective();
    StateSpace space = SpaceOf(word);
    if (space != StateSpace::kGeneric) {
      cursor.Directive();
      variable->pointer_space = space;
    } else if (word == "align") {
      cursor.Directive();
      if (!ParseAlign(context, &variable->pointer_align)) return false;
    } else {
      return true;
    }
  }
}

// The directives between the space and the name, in any order.
bool ParseQualifiers(ParseContext* context, Variable* variable,
                     bool is_parameter) {
  Cursor& cursor = context->cursor;
  variable->align = 0;
  while (true) {
    cursor.SkipSpace();
    SourceLocation at = cursor.Here();
    if (cursor.Peek() != '.') break;
    std::string_view word = cursor.Directive();
    if (word == "align") {
      if (!ParseAlign(context, &variable->align)) return false;
    } else if (word == "attribute") {
      if (!ParseAttributes(context, variable)) return false;
    } else if (word == "ptr" && is_parameter) {
      if (!ParsePointer(context, variable)) return false;
    } else if (uint8_t lanes = VectorOf(word)) {
      variable->vector = lanes;
    } else if (auto type = TypeFromName(word);
               type && variable->type == Type::kNone) {
      variable->type = *type;
    } else {
      return context->Unsupported(
          at, Cat("unsupported qualifier '.", word, "' of a variable"));
    }
  }
  if (variable->type == Type::kNone) return context->FailExpected("a type");
  bool is_reg = variable->space == StateSpace::kReg;
  if (!is_reg && TypeBits(variable->type) < 8) {
    return context->FailHere(Cat("a variable in memory cannot have type .",
                                 TypeName(variable->type)));
  }
  return true;
}

bool ParseDims(ParseContext* context, Variable* variable) {
  Cursor& cursor = context->cursor;
  while (cursor.Accept('[')) {
    variable->is_array = true;
    if (variable->dims.size() == kMaxDims) {
      return context->FailHere("an array has too many dimensions");
    }
    if (cursor.Accept(']')) {
      if (!variable->dims.empty()) {
        return context->FailHere("only the first dimension may be empty");
      }
      variable->unsized = true;
      variable->dims.push_back(0);
      continue;
    }
    uint64_t dim = 0;
    if (!context->Unsigned(context->options.max_variable_bytes, "an array size",
                           &dim) ||
        !context->Expect(']')) {
      return false;
    }
    variable->dims.push_back(dim);
  }
  return true;
}

bool SetSize(ParseContext* context, Variable* variable) {
  uint64_t element = uint64_t{TypeBytes(variable->type)} * variable->vector;
  if (variable->align == 0) {
    variable->align = static_cast<uint32_t>(element);
  }
  uint64_t size = element;
  for (uint64_t dim : variable->dims) {
    if (__builtin_mul_overflow(size, dim, &size) ||
        size > context->options.max_variable_bytes) {
      return context->Exhausted(
          variable->location,
          Cat("variable '", variable->name, "' is larger than ",
              context->options.max_variable_bytes, " bytes"));
    }
  }
  variable->size = size;
  return true;
}

bool ParseDeclarator(ParseContext* context, Variable* variable) {
  Cursor& cursor = context->cursor;
  cursor.SkipSpace();
  variable->location = cursor.Here();
  variable->name = cursor.Name();
  if (variable->name.empty()) return context->FailExpected("a name");
  return ParseDims(context, variable) && SetSize(context, variable);
}

bool MayHaveInitializer(const Variable& variable) {
  return (variable.space == StateSpace::kGlobal ||
          variable.space == StateSpace::kConst) &&
         variable.linkage != Linkage::kExtern;
}

}  // namespace

bool ParseContext::Expression(Number* number) {
  cursor.SkipSpace();
  SourceLocation at = cursor.Here();
  std::string why;
  if (cursor.ReadExpression(number, &why)) return true;
  return Fail(at, why);
}

bool ParseContext::Unsigned(uint64_t max, std::string_view what,
                            uint64_t* value) {
  cursor.SkipSpace();
  SourceLocation at = cursor.Here();
  Number number;
  if (!Expression(&number)) return false;
  bool negative = !number.is_unsigned && (number.bits >> 63) != 0;
  if (number.kind != NumberKind::kInteger || negative || number.bits > max) {
    return Fail(at, Cat("expected ", what, " between 0 and ", max));
  }
  *value = number.bits;
  return true;
}

uint8_t VectorOf(std::string_view directive) {
  if (directive == "v2") return 2;
  if (directive == "v4") return 4;
  return 0;
}

StateSpace SpaceOf(std::string_view directive) {
  if (directive == "global") return StateSpace::kGlobal;
  if (directive == "const") return StateSpace::kConst;
  if (directive == "shared" || directive == "shared::cta") {
    return StateSpace::kShared;
  }
  if (directive == "local") return StateSpace::kLocal;
  if (directive == "param") return StateSpace::kParam;
  if (directive == "tex") return StateSpace::kTex;
  return StateSpace::kGeneric;
}

bool ParseVariables(ParseContext* context, Linkage linkage, StateSpace space,
                    std::vector<Variable>* variables) {
  Variable common;
  common.linkage = linkage;
  common.space = space;
  if (!ParseQualifiers(context, &common, /*is_parameter=*/false)) return false;
  do {
    Variable variable = common;
    if (!ParseDeclarator(context, &variable)) return false;
    if (context->cursor.Accept('=')) {
      if (!MayHaveInitializer(variable)) {
        return context->FailHere(
            Cat("'", variable.name, "' cannot have an initial value"));
      }
      if (!ParseInitializer(context, &variable)) return false;
    }
    if (variable.unsized && !variable.has_initializer &&
        linkage != Linkage::kExtern && space != StateSpace::kShared) {
      return context->Fail(
          variable.location,
          Cat("array '", variable.name, "' has no size and no initial value"));
    }
    variables->push_back(std::move(variable));
  } while (context->cursor.Accept(','));
  return context->Expect(';');
}

bool ParseParameter(ParseContext* context, Variable* parameter) {
  Cursor& cursor = context->cursor;
  cursor.SkipSpace();
  SourceLocation at = cursor.Here();
  std::string_view space = cursor.Directive();
  if (space == "reg") {
    parameter->space = StateSpace::kReg;
  } else if (space == "param") {
    parameter->space = StateSpace::kParam;
  } else {
    return context->Fail(at, "expected .param or .reg in a parameter list");
  }
  return ParseQualifiers(context, parameter, /*is_parameter=*/true) &&
         ParseDeclarator(context, parameter);
}

bool ParseParameterList(ParseContext* context,
                        std::vector<Variable>* parameters) {
  constexpr size_t kMaxParameters = 65536;
  if (!context->Expect('(')) return false;
  if (context->cursor.Accept(')')) return true;
  do {
    if (parameters->size() == kMaxParameters) {
      return context->FailHere("too many parameters");
    }
    Variable parameter;
    if (!ParseParameter(context, &parameter)) return false;
    parameters->push_back(std::move(parameter));
  } while (context->cursor.Accept(','));
  return context->Expect(')');
}

}  // namespace hetgpu::ptx
