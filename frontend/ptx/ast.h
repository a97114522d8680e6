// The syntax tree of a PTX module: what the text says, with every name bound.
// The parser (parser.h) makes it; sema (sema.h) and the lowering read it.
//
// Names are views into Module::text, which lives as long as the Module. Cross
// references are indices into the vectors of the enclosing Module, Function or
// Body, so the tree is flat: no node owns another node through a pointer except
// Function::body.
#ifndef HETGPU_FRONTEND_PTX_AST_H_
#define HETGPU_FRONTEND_PTX_AST_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "frontend/ptx/cursor.h"
#include "frontend/ptx/opcode.h"
#include "frontend/ptx/source_location.h"
#include "frontend/ptx/types.h"

namespace hetgpu::ptx {

inline constexpr uint32_t kNone = 0xffffffff;

enum class Linkage : uint8_t { kInternal, kVisible, kExtern, kWeak, kCommon };

enum class SpecialRegister : uint8_t {
#define SREG(name, spelling, type, ptx, sm) k##name,
#include "frontend/ptx/special_registers.def"
#undef SREG
};

// Spelling without `%`: "tid.x".
std::string_view SpecialRegisterName(SpecialRegister reg);
Type SpecialRegisterType(SpecialRegister reg);

// --- Data ------------------------------------------------------------------

// An address inside an initialiser: `sym`, `generic(sym) + 4`, `0xff00(sym)`.
struct InitializerSymbol {
  uint64_t offset = 0;      // bytes from the start of the variable
  std::string_view symbol;  // variable or function, bound by sema
  int64_t addend = 0;
  bool generic = false;  // generic(sym): address in the generic space
  uint64_t mask = 0;     // 0: whole address; else the bytes selected
  uint8_t size = 8;      // bytes stored at `offset`
  SourceLocation location;
};

// A variable of any memory space, at module level or in a body; a parameter.
struct Variable {
  std::string_view name;
  StateSpace space = StateSpace::kGlobal;
  Type type = Type::kNone;
  uint8_t vector = 1;  // .v2 .v4
  Linkage linkage = Linkage::kInternal;
  bool managed = false;   // .attribute(.managed)
  bool unified = false;   // .attribute(.unified(…))
  bool is_array = false;  // declared with [ ]
  bool unsized = false;   // outermost dimension left empty: name[]
  uint32_t align = 1;     // bytes: as declared, else natural
  uint64_t size = 0;      // bytes; 0 for an unsized array
  std::vector<uint64_t> dims;
  bool has_initializer = false;
  std::vector<uint8_t> init_bytes;  // may be shorter than size: rest is zero
  std::vector<InitializerSymbol> init_symbols;
  // Parameters only: `.ptr{.space}{.align N}`.
  bool is_pointer = false;
  StateSpace pointer_space = StateSpace::kGeneric;
  uint32_t pointer_align = 0;
  // Parameters of a .func declared `.reg`: first register index in the body.
  uint32_t reg = kNone;
  SourceLocation location;
};

// --- Bodies ----------------------------------------------------------------

// One `.reg` declarator. Register indices are dense per body: the group holds
// [first, first + count). `%r<9>` has ranged = true, count 9 (%r0 … %r8).
// Each component of a vector register is a register of its own, in order:
// `.reg .v4 .f32 v` has count 4, and v.y is first + 1.
struct RegisterGroup {
  std::string_view name;  // whole name, or the prefix when ranged
  Type type = Type::kNone;
  uint8_t vector = 1;  // .v2 .v4
  bool ranged = false;
  uint32_t first = 0;
  uint32_t count = 1;
};

enum class OperandKind : uint8_t {
  kRegister,   // index; negated for `!p`
  kImmediate,  // value: exact bits at `type`
  kSpecial,    // index is a SpecialRegister
  kSymbol,     // address of symbol (symbol_kind, index) + value; also the
               // callee of a call (symbol_kind kFunction)
  kAddress,    // [base + value], base by address_base; with children when the
               // brackets hold more: [tex, {x, y}]: children are the parts
  kVector,     // {a, b, c, d}: two or more children; also a whole vector
               // register. {a} is a
  kSink,       // _
  kPair,       // d|p: two children
  kLabel,      // index into Body::labels
  kList,       // ( … ) of a call: children, perhaps none
  kPrototype,  // index into Body::prototypes (.callprototype)
  kTargets,    // index into Body::target_tables (.branchtargets/.calltargets)
};

enum class AddressBase : uint8_t { kRegister, kSymbol, kAbsolute, kCompound };

enum class SymbolKind : uint8_t {
  kModuleVariable,  // Module::variables
  kBodyVariable,    // Body::variables
  kParam,           // Function::params
  kReturnParam,     // Function::returns
  kFunction,        // Module::functions
};

struct Operand {
  OperandKind kind = OperandKind::kSink;
  bool negated = false;                               // kRegister: `!p`
  AddressBase address_base = AddressBase::kAbsolute;  // kAddress
  SymbolKind symbol_kind = SymbolKind::kModuleVariable;
  bool is_dest = false;  // written by the instruction
  // The type at which the instruction reads or writes this operand, by the
  // grammar table; kNone where the table has none (labels, lists, addresses).
  Type type = Type::kNone;
  // Children: Body::operands[first_child, first_child + num_children).
  uint16_t num_children = 0;
  uint32_t index = kNone;
  uint32_t first_child = 0;
  // kImmediate: bits at `type`, sign-extended for signed types and
  // zero-extended for all others. kSymbol and kAddress: byte offset.
  int64_t value = 0;
  NumberKind number = NumberKind::kInteger;  // kImmediate: as written
};

// A call has the operands: list of results, callee (kSymbol or kRegister), list
// of arguments, and for indirect calls the prototype or target table. Its list
// elements are registers, immediates or body variables of the .param space.
struct Instruction {
  const Opcode* opcode = nullptr;  // owned by Module::opcodes
  uint32_t first_operand = 0;
  uint16_t num_operands = 0;
  bool guard_negated = false;  // @!p
  uint32_t guard = kNone;      // register index of @p
  uint32_t loc = kNone;        // index into Body::locs
  SourceLocation location;     // in the PTX text

  Op op() const { return opcode->op; }
  const Modifiers& mods() const { return opcode->modifiers; }
};

struct Label {
  std::string_view name;
  uint32_t instruction = 0;  // may equal instructions.size(): end of the body
};

// `.loc file line column {, function_name label+imm, inlined_at …}`.
struct LineInfo {
  uint32_t file = 0;  // number of a .file directive
  uint32_t line = 0;
  uint32_t column = 0;
  bool inlined = false;
  uint32_t inlined_file = 0, inlined_line = 0, inlined_column = 0;
};

struct TargetTable {
  std::string_view name;
  bool calls = false;             // .calltargets: `targets` are functions
  std::vector<uint32_t> targets;  // label indices, or Module::functions indices
};

struct Prototype {
  std::string_view name;
  std::vector<Variable> returns;
  std::vector<Variable> params;
  bool noreturn = false;
};

struct Body {
  std::vector<RegisterGroup> register_groups;  // sorted by `first`
  uint32_t num_registers = 0;
  // .local .shared .param .global .const declared inside, all scopes.
  std::vector<Variable> variables;
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<Label> labels;
  std::vector<TargetTable> target_tables;
  std::vector<Prototype> prototypes;
  std::vector<LineInfo> locs;
  // Instructions behind a `.pragma "nounroll"`: heads of loops, ascending.
  std::vector<uint32_t> nounroll;

  const RegisterGroup& GroupOf(uint32_t reg) const;
  Type RegisterType(uint32_t reg) const { return GroupOf(reg).type; }
  // "%r12".
  std::string RegisterName(uint32_t reg) const;
  std::span<const Operand> Operands(const Instruction& inst) const {
    return {operands.data() + inst.first_operand, inst.num_operands};
  }
  std::span<const Operand> Children(const Operand& operand) const {
    return {operands.data() + operand.first_child, operand.num_children};
  }
};

// --- Functions and modules -------------------------------------------------

struct PerformanceDirectives {
  std::array<uint32_t, 3> maxntid = {};  // 0: not given
  std::array<uint32_t, 3> reqntid = {};
  uint32_t minnctapersm = 0;
  uint32_t maxnctapersm = 0;
  uint32_t maxnreg = 0;
  std::array<uint32_t, 3> reqnctapercluster = {};
  bool explicit_cluster = false;
  uint32_t maxclusterrank = 0;
  bool noreturn = false;
  std::vector<std::string_view> pragmas;
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  Linkage linkage = Linkage::kInternal;
  std::vector<Variable> returns;
  std::vector<Variable> params;
  PerformanceDirectives directives;
  bool defined = false;        // had a { } body in the text
  std::unique_ptr<Body> body;  // null: declared only, or refused
  // Not OK: defined, but its body is not valid or not understood. The message
  // is "file:line:column: text".
  absl::Status refusal;
  // `.alias this, alias_of;`: index into Module::functions, else kNone.
  uint32_t alias_of = kNone;
  // Of a defined .func: its 1-based index among those, else 0. This is the
  // device-neutral pointer to it.
  uint32_t token = 0;
  SourceLocation location;
};

struct SourceFile {
  uint32_t number = 0;
  std::string_view name;
};

struct Module {
  std::string text;         // the whole source; names point here
  std::string file_name;    // for messages
  uint32_t version = 0;     // 10 * major + minor: 8.7 is 87
  std::string_view target;  // "sm_90a"
  uint32_t sm = 0;          // 90
  char sm_suffix = 0;       // 'a', 'f' or 0
  std::vector<std::string_view> target_options;  // "debug", …
  uint32_t address_size = 64;
  std::vector<SourceFile> files;
  std::vector<Variable> variables;  // in order of first declaration
  std::vector<Function> functions;  // in order of first declaration
  std::vector<std::string_view> pragmas;
  std::deque<Opcode> opcodes;  // every distinct opcode string used
  std::deque<std::string> respelled;  // opcodes written with blanks inside

  // Index into functions or variables, or nullopt.
  std::optional<uint32_t> FindFunction(std::string_view name) const;
  std::optional<uint32_t> FindVariable(std::string_view name) const;
  // "file:line:column".
  std::string Place(SourceLocation location) const;
};

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_AST_H_
