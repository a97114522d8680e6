// What the parts of the parser share. Internal to frontend/ptx.
#ifndef HETGPU_FRONTEND_PTX_PARSE_CONTEXT_H_
#define HETGPU_FRONTEND_PTX_PARSE_CONTEXT_H_

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "frontend/ptx/ast.h"
#include "frontend/ptx/cursor.h"
#include "frontend/ptx/grammar.h"
#include "frontend/ptx/parser.h"
#include "frontend/ptx/scoped_table.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {

enum class NameKind : uint8_t {
  kRegister,
  kModuleVariable,
  kBodyVariable,
  kParam,
  kReturnParam,
  kFunction,
  kPrototype,
  kTargetTable,
};

// What a name stands for.
struct NameEntry {
  NameKind kind = NameKind::kRegister;
  Type type = Type::kNone;  // registers
  uint8_t vector = 1;       // registers
  uint16_t depth = 0;       // block depth of the declaration
  uint32_t index = 0;       // first register, or index into the AST's vector
  uint32_t count = 1;       // registers of a range
};

// An opcode string after resolution: the ways its operands may look.
struct CachedOpcode {
  struct Choice {
    const Opcode* opcode = nullptr;
    std::vector<OperandRule> operands;
  };
  std::string_view text;
  std::vector<Choice> choices;
  OperandShape first_shape = OperandShape::kValue;  // label, targets, call …
};

// The state of one Parse call. The functions that parse return false after
// reporting through Fail.
struct ParseContext {
  ParseContext(Module* m, const ParseOptions& o)
      : module(m), options(o), cursor(m->text) {}

  Module* module;
  const ParseOptions& options;
  Cursor cursor;
  absl::Status error;
  ScopedTable<NameEntry> names;
  ScopedTable<uint32_t> opcode_index;  // into `opcodes`
  std::deque<CachedOpcode> opcodes;
  uint64_t initializer_bytes = 0;

  bool Fail(SourceLocation at, std::string_view message,
            absl::StatusCode code = absl::StatusCode::kInvalidArgument) {
    error = absl::Status(code, Cat(module->Place(at), ": ", message));
    return false;
  }
  bool FailHere(std::string_view message) {
    cursor.SkipSpace();
    return Fail(cursor.Here(), message);
  }
  bool Unsupported(SourceLocation at, std::string_view message) {
    return Fail(at, message, absl::StatusCode::kUnimplemented);
  }
  bool Exhausted(SourceLocation at, std::string_view message) {
    return Fail(at, message, absl::StatusCode::kResourceExhausted);
  }
  // "expected WHAT, found …" at the next token.
  bool FailExpected(std::string_view what) {
    cursor.SkipSpace();
    return Fail(cursor.Here(),
                Cat("expected ", what, ", found ", cursor.Quoted()));
  }
  bool Expect(char c) {
    if (cursor.Accept(c)) return true;
    return FailExpected(Cat('\'', c, '\''));
  }
  // A constant expression; place and reason are reported here.
  bool Expression(Number* number);
  // An integer constant in [0, max].
  bool Unsigned(uint64_t max, std::string_view what, uint64_t* value);

  TargetLevel level() const {
    return {module->version, module->sm, module->sm_suffix};
  }
};

// parse_variable.cc
//
// The rest of `.space … type name, name;` behind the space directive.
bool ParseVariables(ParseContext* context, Linkage linkage, StateSpace space,
                    std::vector<Variable>* variables);
// One parameter of an entry, function or prototype, from `.param` or `.reg`.
bool ParseParameter(ParseContext* context, Variable* parameter);
// `( … )`, each a parameter.
bool ParseParameterList(ParseContext* context,
                        std::vector<Variable>* parameters);
// `name [ = … ]` pieces shared with .reg: ".v4" is 4; 0 when not a vector.
uint8_t VectorOf(std::string_view directive);
// kGeneric when `directive` names no state space.
StateSpace SpaceOf(std::string_view directive);

// parse_initializer.cc: behind the '='.
bool ParseInitializer(ParseContext* context, Variable* variable);

// parse_function.cc: behind `.entry` or `.func`.
bool ParseFunction(ParseContext* context, bool is_entry, Linkage linkage);

// parse_body.cc: at '{' of `function`'s definition.
bool ParseBody(ParseContext* context, Function* function, Body* body);

// check_operands.cc: picks the choice that fits `operands` and gives every
// operand its type and direction. `texts` are their spellings, for messages.
// Children are in body->operands.
const Opcode* CheckOperands(ParseContext* context, const CachedOpcode& cached,
                            SourceLocation place, std::span<Operand> operands,
                            std::span<const std::string_view> texts,
                            Body* body);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_PARSE_CONTEXT_H_
