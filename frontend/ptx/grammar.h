// The compiled form of instructions.def: finds the rows that an opcode string
// matches, and says what each row expects of its operands.
#ifndef HETGPU_FRONTEND_PTX_GRAMMAR_H_
#define HETGPU_FRONTEND_PTX_GRAMMAR_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "frontend/ptx/opcode.h"

namespace hetgpu::ptx {

enum class OperandShape : uint8_t {
  kValue,      // register, constant, special register or symbol
  kAny,        // the same, of any type
  kImmediate,  // integer constant
  kAddress,    // [ … ]
  kFragment,   // register or { list of any length }
  kLabel,
  kTargets,
  kSymbol,  // name of a variable, or a 64-bit handle
  kCall,
};

// What a row expects at one operand position.
struct OperandSpec {
  std::string_view name;
  OperandShape shape = OperandShape::kValue;
  bool dest = false;
  bool negatable = false;     // !name
  bool relaxed = false;       // ~: the register may be wider
  bool vectorised = false;    // *: {…} of Modifiers::vector elements
  bool packed = false;        // ^: may be {…} whose sizes add up
  bool packed_words = false;  // #: narrow types are packed in b32 registers
  bool wide = false;          // twice the size of the first type
  bool pair = false;          // d|p: the second is a predicate
  Type type = Type::kNone;    // when fixed
  int type_slot = -1;         // when given by a modifier class
};

// One way to write the operands of a row, optional parts chosen.
using Signature = std::vector<OperandSpec>;

// A row of instructions.def.
struct Form {
  Op op;
  std::string_view syntax;   // "add{.sat}.s32 d, a, b"
  std::string_view classes;  // "op=.and .or"
  uint32_t ptx = 0;          // 10 * major + minor
  uint32_t sm = 0;
  bool sm_exact = false;  // needs the architecture-specific target sm_XXa
  std::vector<Signature> signatures;
};

// An operand position with its type settled for one opcode string.
struct OperandRule {
  const OperandSpec* spec = nullptr;
  Type type = Type::kNone;
  uint8_t vector = 1;  // list length when the spec is vectorised
};

// A row that an opcode string matches, with one of its signatures.
struct Candidate {
  const Form* form = nullptr;
  Modifiers modifiers;
  std::vector<OperandRule> operands;
};

// What the module's header allows.
struct TargetLevel {
  uint32_t ptx = 0;
  uint32_t sm = 0;
  char suffix = 0;
};

// Every row, in the order of instructions.def.
std::span<const Form> AllForms();

// Expands the shared and local modifier classes of a row: "rnd=.rn .rz …".
std::string ExpandClasses(const Form& form);

// All candidates for `opcode` ("ld.global.nc.f32"), best first: never empty
// when OK. Messages carry no place. Not OK: unknown instruction or modifier, or
// `level` is too low.
absl::Status ResolveOpcode(std::string_view opcode, const TargetLevel& level,
                           std::vector<Candidate>* candidates);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_GRAMMAR_H_
