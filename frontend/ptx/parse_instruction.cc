// Instructions and their operands.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "frontend/ptx/body_parser.h"

namespace hetgpu::ptx {
namespace {

constexpr size_t kMaxElements = 256;  // wgmma lists 128 registers
constexpr size_t kMaxOperands = 32;

struct SpecialRow {
  SpecialRegister reg;
  uint32_t ptx;
  uint32_t sm;
};

const SpecialRow* FindSpecial(std::string_view name) {
  static const auto* const rows =
      new std::unordered_map<std::string_view, SpecialRow>{
#define SREG(name, spelling, type, ptx, sm) \
  {"%" spelling, {SpecialRegister::k##name, ptx, sm}},
#include "frontend/ptx/special_registers.def"
#undef SREG
      };
  auto it = rows->find(name);
  return it == rows->end() ? nullptr : &it->second;
}

// -1 when `c` names no component.
int ComponentOf(std::string_view word) {
  if (word.size() != 1) return -1;
  static constexpr std::string_view kPlaces = "xyzwrgba";
  size_t at = kPlaces.find(word[0]);
  return at == kPlaces.npos ? -1 : static_cast<int>(at % 4);
}

}  // namespace

bool BodyParser::InstructionStatement(bool guarded) {
  SourceLocation place = cursor_.Here();
  Instruction instruction;
  if (guarded) {
    if (!ReadGuard(&instruction)) return false;
    cursor_.SkipSpace();
  }
  SourceLocation at = cursor_.Here();
  instruction.location = place;
  instruction.loc = loc_;
  std::string_view text;
  if (!ReadOpcode(&text)) return false;
  if (!guarded && cursor_.Peek() == ':') {
    cursor_.Advance();
    return LabelDirective(text, at);
  }
  const CachedOpcode* cached = Resolve(text, at);
  if (cached == nullptr) return false;
  top_.clear();
  texts_.clear();
  if (!OperandList(*cached)) return false;
  if (!context_.Expect(';')) return false;
  const Opcode* opcode =
      CheckOperands(&context_, *cached, at, top_, texts_, &body_);
  if (opcode == nullptr) return false;
  if (cached->first_shape == OperandShape::kCall && !CheckCall(at)) {
    return false;
  }
  FinishInstruction(opcode, &instruction);
  return true;
}

void BodyParser::FinishInstruction(const Opcode* opcode,
                                   Instruction* instruction) {
  instruction->opcode = opcode;
  instruction->first_operand = static_cast<uint32_t>(body_.operands.size());
  instruction->num_operands = static_cast<uint16_t>(top_.size());
  for (const Operand& operand : top_) {
    if (operand.kind == OperandKind::kLabel) {
      label_operands_.push_back(static_cast<uint32_t>(body_.operands.size()));
    }
    body_.operands.push_back(operand);
  }
  body_.instructions.push_back(*instruction);
}

bool BodyParser::ReadGuard(Instruction* instruction) {
  cursor_.Advance();
  instruction->guard_negated = cursor_.Accept('!');
  cursor_.SkipSpace();
  SourceLocation at = cursor_.Here();
  std::string_view name = cursor_.Name();
  uint32_t reg = kNone;
  const NameEntry* entry = FindRegister(name, &reg);
  if (entry == nullptr) {
    return context_.Fail(at, Cat("undeclared guard predicate '", name, "'"));
  }
  if (entry->type != Type::kPred) {
    return context_.Fail(at, Cat("guard '", name, "' has type .",
                                 TypeName(entry->type), ", expected .pred"));
  }
  instruction->guard = reg;
  return true;
}

// An opcode, or the name of a label. Blanks before a dot are allowed, and then
// the text is a copy without them.
bool BodyParser::ReadOpcode(std::string_view* text) {
  const char* start = cursor_.position();
  if (cursor_.Name().empty()) return context_.FailExpected("an instruction");
  auto take_words = [this] {
    while (cursor_.Peek() == '.') cursor_.Directive();
  };
  take_words();
  *text = {start, static_cast<size_t>(cursor_.position() - start)};
  if (!HasClass(cursor_.Peek(), kBlank)) return true;
  cursor_.SkipSpace();
  if (cursor_.Peek() != '.') return true;
  std::string joined(*text);
  while (cursor_.Peek() == '.') {
    joined += Cat('.', cursor_.Directive());
    cursor_.SkipSpace();
  }
  context_.module->respelled.push_back(std::move(joined));
  *text = context_.module->respelled.back();
  return true;
}

const CachedOpcode* BodyParser::Resolve(std::string_view text,
                                        SourceLocation at) {
  if (const uint32_t* known = context_.opcode_index.Find(text)) {
    return &context_.opcodes[*known];
  }
  std::vector<Candidate> candidates;
  absl::Status status = ResolveOpcode(text, context_.level(), &candidates);
  if (!status.ok()) {
    context_.Fail(at, std::string(status.message()), status.code());
    return nullptr;
  }
  CachedOpcode cached;
  cached.text = text;
  std::deque<Opcode>& pool = context_.module->opcodes;
  for (Candidate& candidate : candidates) {
    bool same_form =
        !cached.choices.empty() && pool.back().form == candidate.form;
    if (!same_form) {
      pool.push_back(
          {candidate.form->op, candidate.form, candidate.modifiers, text});
    }
    cached.choices.push_back({&pool.back(), std::move(candidate.operands)});
  }
  const CachedOpcode::Choice& first = cached.choices[0];
  if (!first.operands.empty()) {
    cached.first_shape = first.operands[0].spec->shape;
    if (first.operands.size() > 1 &&
        first.operands[1].spec->shape == OperandShape::kTargets) {
      cached.first_shape = OperandShape::kTargets;
    }
  }
  uint32_t index = static_cast<uint32_t>(context_.opcodes.size());
  context_.opcodes.push_back(std::move(cached));
  context_.opcode_index.Declare(text, index);
  return &context_.opcodes.back();
}

bool BodyParser::OperandList(const CachedOpcode& cached) {
  switch (cached.first_shape) {
    case OperandShape::kCall:
      return CallOperands();
    case OperandShape::kLabel:
      return BranchTarget();
    default:
      break;
  }
  cursor_.SkipSpace();
  if (cursor_.Peek() == ';') return true;
  bool table = cached.first_shape == OperandShape::kTargets;
  do {
    if (table && top_.size() == 1) return BranchTable();
    if (top_.size() == kMaxOperands) {
      return context_.FailHere("too many operands");
    }
    cursor_.SkipSpace();
    const char* start = cursor_.position();
    Operand operand;
    if (!OneOperand(&operand)) return false;
    top_.push_back(operand);
    texts_.emplace_back(start, cursor_.position() - start);
  } while (cursor_.Accept(','));
  return true;
}

bool BodyParser::OneOperand(Operand* operand) {
  switch (cursor_.Peek()) {
    case '[':
      return AddressOperand(operand);
    case '{':
      return VectorOperand(operand);
    default:
      break;
  }
  if (!LeafOperand(operand)) return false;
  if (cursor_.Peek() == ' ') cursor_.SkipSpace();
  if (cursor_.Peek() == '|') return PairOperand(operand);
  return true;
}

// At a register, constant, special register, symbol or `_`.
bool BodyParser::LeafOperand(Operand* operand) {
  char c = cursor_.Peek();
  if (HasClass(c, kNameStart)) return NamedOperand(operand);
  if (c == '!' && HasClass(cursor_.PeekAt(1), kNameStart)) {
    return NegatedOperand(operand);
  }
  if (HasClass(c, kDigit) || c == '-' || c == '+' || c == '(' || c == '~' ||
      c == '!') {
    return ConstantOperand(operand);
  }
  return context_.FailExpected("an operand");
}

bool BodyParser::NegatedOperand(Operand* operand) {
  SourceLocation at = cursor_.Here();
  cursor_.Advance();
  if (!NamedOperand(operand)) return false;
  if (operand->kind != OperandKind::kRegister || operand->type != Type::kPred) {
    return context_.Fail(at, "only predicate registers can be negated");
  }
  operand->negated = true;
  return true;
}

bool BodyParser::ConstantOperand(Operand* operand) {
  Number number;
  if (!context_.Expression(&number)) return false;
  operand->kind = OperandKind::kImmediate;
  operand->number = number.kind;
  operand->value = static_cast<int64_t>(number.bits);
  return true;
}

bool BodyParser::NamedOperand(Operand* operand) {
  SourceLocation at = cursor_.Here();
  std::string_view name = cursor_.Name();
  uint32_t reg = kNone;
  const NameEntry* entry = FindName(name, &reg);
  if (entry != nullptr) {
    if (entry->kind == NameKind::kRegister) {
      return RegisterOperand(*entry, reg, at, name, operand);
    }
    return SymbolOperand(*entry, at, operand);
  }
  if (name == "_") {
    operand->kind = OperandKind::kSink;
    return true;
  }
  if (name.front() == '%') return SpecialOperand(name, at, operand);
  if (name == "WARP_SZ") {
    operand->kind = OperandKind::kImmediate;
    operand->value = 32;
    return true;
  }
  return context_.Fail(at, Cat("undeclared name '", name, "'"));
}

bool BodyParser::RegisterOperand(const NameEntry& entry, uint32_t reg,
                                 SourceLocation at, std::string_view name,
                                 Operand* operand) {
  operand->kind = OperandKind::kRegister;
  operand->index = reg;
  operand->type = entry.type;
  if (cursor_.Peek() != '.') {
    if (entry.vector > 1) WholeVector(entry, reg, operand);
    return true;
  }
  std::string_view word = cursor_.Directive();
  int component = ComponentOf(word);
  if (component >= 0 && component < entry.vector && entry.vector > 1) {
    operand->index = reg + static_cast<uint32_t>(component);
    return true;
  }
  return context_.Unsupported(
      at, Cat("unsupported selector '.", word, "' of register '", name, "'"));
}

void BodyParser::WholeVector(const NameEntry& entry, uint32_t first,
                             Operand* operand) {
  size_t mark = scratch_.size();
  for (uint32_t i = 0; i < entry.vector; ++i) {
    Operand component;
    component.kind = OperandKind::kRegister;
    component.index = first + i;
    component.type = entry.type;
    scratch_.push_back(component);
  }
  operand->kind = OperandKind::kVector;
  AddChildren(mark, operand);
}

// Moves the children collected since `mark` to the body, one behind the other.
void BodyParser::AddChildren(size_t mark, Operand* parent) {
  parent->first_child = static_cast<uint32_t>(body_.operands.size());
  parent->num_children = static_cast<uint16_t>(scratch_.size() - mark);
  body_.operands.insert(body_.operands.end(), scratch_.begin() + mark,
                        scratch_.end());
  scratch_.resize(mark);
}

bool BodyParser::SpecialOperand(std::string_view name, SourceLocation at,
                                Operand* operand) {
  std::string_view full = name;
  if (cursor_.Peek() == '.') {
    std::string_view word = cursor_.Directive();
    full = {name.data(), name.size() + 1 + word.size()};
  }
  const SpecialRow* row = FindSpecial(full);
  if (row == nullptr) {
    return context_.Fail(at, Cat("undeclared name '", full, "'"));
  }
  TargetLevel level = context_.level();
  if (row->ptx > level.ptx || row->sm > level.sm) {
    return context_.Unsupported(
        at, Cat("special register '", full, "' needs PTX ISA ", row->ptx / 10,
                ".", row->ptx % 10, " and sm_", row->sm));
  }
  operand->kind = OperandKind::kSpecial;
  operand->index = static_cast<uint32_t>(row->reg);
  operand->type = SpecialRegisterType(row->reg);
  return true;
}

bool BodyParser::SymbolOperand(const NameEntry& entry, SourceLocation at,
                               Operand* operand) {
  operand->kind = OperandKind::kSymbol;
  operand->index = entry.index;
  switch (entry.kind) {
    case NameKind::kModuleVariable:
      operand->symbol_kind = SymbolKind::kModuleVariable;
      break;
    case NameKind::kBodyVariable:
      operand->symbol_kind = SymbolKind::kBodyVariable;
      break;
    case NameKind::kParam:
      operand->symbol_kind = SymbolKind::kParam;
      break;
    case NameKind::kReturnParam:
      operand->symbol_kind = SymbolKind::kReturnParam;
      break;
    case NameKind::kFunction:
      operand->symbol_kind = SymbolKind::kFunction;
      break;
    default:
      return context_.Fail(at, "a prototype or target table is no operand");
  }
  return OffsetBehind(&operand->value);
}

// `+ constant` or `- constant` behind a register or symbol, if any.
bool BodyParser::OffsetBehind(int64_t* value) {
  cursor_.SkipSpace();
  char c = cursor_.Peek();
  if (c != '+' && c != '-') return true;
  SourceLocation at = cursor_.Here();
  Number number;
  if (!context_.Expression(&number)) return false;
  *value = static_cast<int64_t>(number.bits);
  if (number.kind != NumberKind::kInteger ||
      *value < std::numeric_limits<int32_t>::min() ||
      *value > std::numeric_limits<uint32_t>::max()) {
    return context_.Fail(at, "the offset of an address must fit in 32 bits");
  }
  return true;
}

bool BodyParser::PairOperand(Operand* operand) {
  cursor_.Advance();
  if (operand->num_children > 0 && operand->kind == OperandKind::kPair) {
    return context_.FailHere("a pair has two parts");
  }
  cursor_.SkipSpace();
  size_t mark = scratch_.size();
  Operand first = *operand;
  Operand second;
  if (!LeafOperand(&second)) return false;
  scratch_.push_back(first);
  scratch_.push_back(second);
  *operand = Operand();
  operand->kind = OperandKind::kPair;
  AddChildren(mark, operand);
  return true;
}

bool BodyParser::VectorOperand(Operand* operand) {
  cursor_.Advance();
  size_t mark = scratch_.size();
  do {
    cursor_.SkipSpace();
    Operand element;
    if (!LeafOperand(&element)) return false;
    if (element.kind == OperandKind::kVector) {
      return context_.FailHere("a list cannot hold a vector register");
    }
    if (scratch_.size() - mark == kMaxElements) {
      return context_.FailHere("a list has too many elements");
    }
    scratch_.push_back(element);
  } while (cursor_.Accept(','));
  if (!context_.Expect('}')) return false;
  if (scratch_.size() - mark == 1) {
    // Triton writes scalars as lists of one.
    *operand = scratch_.back();
    scratch_.resize(mark);
  } else {
    operand->kind = OperandKind::kVector;
    AddChildren(mark, operand);
  }
  cursor_.SkipSpace();
  if (cursor_.Peek() == '|') return PairOperand(operand);
  return true;
}

// [reg], [reg + n], [symbol + n], [n], [tex, {x, y}].
bool BodyParser::AddressOperand(Operand* operand) {
  cursor_.Advance();
  cursor_.SkipSpace();
  SourceLocation at = cursor_.Here();
  Operand base;
  if (!LeafOperand(&base)) return false;
  operand->kind = OperandKind::kAddress;
  operand->index = base.index;
  operand->value = base.value;
  operand->symbol_kind = base.symbol_kind;
  if (base.kind == OperandKind::kRegister) {
    operand->address_base = AddressBase::kRegister;
    uint32_t bits = TypeBits(base.type);
    bool fits = (bits == 32 || bits == 64) && !IsFloat(base.type);
    if (!fits || base.negated) {
      return context_.Fail(
          at, Cat("an address cannot have type .", TypeName(base.type)));
    }
    if (!OffsetBehind(&operand->value)) return false;
  } else if (base.kind == OperandKind::kSymbol) {
    operand->address_base = AddressBase::kSymbol;
  } else if (base.kind == OperandKind::kImmediate &&
             base.number == NumberKind::kInteger) {
    operand->address_base = AddressBase::kAbsolute;
  } else {
    return context_.Fail(at, "an address is a register, a name or a number");
  }
  if (cursor_.Accept(',') && !CompoundAddress(base, operand)) return false;
  if (!context_.Expect(']')) return false;
  // ld.global [a].unified says where the memory is, not what is read.
  if (cursor_.Peek() == '.' && cursor_.PeekDirective() == "unified") {
    cursor_.Directive();
  }
  return true;
}

// Behind the first comma of [tex, sampler, {x, y}].
bool BodyParser::CompoundAddress(const Operand& base, Operand* operand) {
  size_t mark = scratch_.size();
  scratch_.push_back(base);
  do {
    cursor_.SkipSpace();
    Operand part;
    bool list = cursor_.Peek() == '{';
    if (!(list ? VectorOperand(&part) : LeafOperand(&part))) return false;
    if (scratch_.size() - mark == kMaxElements) {
      return context_.FailHere("an address has too many parts");
    }
    scratch_.push_back(part);
  } while (cursor_.Accept(','));
  *operand = Operand();
  operand->kind = OperandKind::kAddress;
  operand->address_base = AddressBase::kCompound;
  AddChildren(mark, operand);
  return true;
}

}  // namespace hetgpu::ptx
