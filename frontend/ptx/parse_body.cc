// Statements of a body other than instructions.
#include "frontend/ptx/body_parser.h"

namespace hetgpu::ptx {
namespace {

// "%r12" -> "%r", 12. False when `name` does not end in a plain number.
bool SplitDigits(std::string_view name, std::string_view* prefix,
                 uint32_t* number) {
  size_t start = name.size();
  while (start > 0 && HasClass(name[start - 1], kDigit)) --start;
  size_t digits = name.size() - start;
  if (digits == 0 || digits > 9 || start == 0) return false;
  if (digits > 1 && name[start] == '0') return false;
  uint32_t value = 0;
  for (size_t i = start; i < name.size(); ++i) {
    value = value * 10 + static_cast<uint32_t>(name[i] - '0');
  }
  *prefix = name.substr(0, start);
  *number = value;
  return true;
}

}  // namespace

bool ParseBody(ParseContext* context, Function* function, Body* body) {
  size_t names = context->names.Mark();
  bool ok = BodyParser(context, function, body).Parse();
  context->names.PopTo(names);
  return ok;
}

bool BodyParser::Parse() {
  cursor_.Advance();
  scopes_.push_back({context_.names.Mark(), 0, 0});
  if (!DeclareFunctionNames()) return false;
  scopes_.push_back(
      {context_.names.Mark(), ranges_.Mark(), label_names_.Mark()});
  // scopes_[0] holds parameters and [1] the body's outermost block.
  while (scopes_.size() > 1) {
    if (!Statement()) return false;
  }
  return FinishLabels();
}

bool BodyParser::Statement() {
  cursor_.SkipSpace();
  char c = cursor_.Peek();
  if (HasClass(c, kNameStart)) return InstructionStatement(false);
  switch (c) {
    case '@':
      return InstructionStatement(true);
    case '.':
      return DirectiveStatement();
    case '{':
      return PushScope();
    case '}':
      return PopScope();
    case ';':
      cursor_.Advance();
      return true;
    default:
      return context_.FailExpected("a statement");
  }
}

bool BodyParser::PushScope() {
  if (scopes_.size() > context_.options.max_block_depth) {
    return context_.Exhausted(cursor_.Here(), "blocks are nested too deeply");
  }
  cursor_.Advance();
  scopes_.push_back(
      {context_.names.Mark(), ranges_.Mark(), label_names_.Mark()});
  return true;
}

bool BodyParser::PopScope() {
  cursor_.Advance();
  Scope inner = scopes_.back();
  scopes_.pop_back();
  if (scopes_.size() > 1) {
    CloseLabels(inner, scopes_.back().labels);
  }
  context_.names.PopTo(inner.names);
  ranges_.PopTo(inner.ranges);
  return true;
}

bool BodyParser::DeclareFunctionNames() {
  return DeclareParameters(function_.params, NameKind::kParam) &&
         DeclareParameters(function_.returns, NameKind::kReturnParam);
}

bool BodyParser::DeclareParameters(const std::vector<Variable>& parameters,
                                   NameKind kind) {
  bool is_return = kind == NameKind::kReturnParam;
  std::vector<Variable>& own = is_return ? function_.returns : function_.params;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Variable& parameter = parameters[i];
    if (parameter.name == "_") continue;
    if (parameter.space == StateSpace::kReg) {
      own[i].reg = body_.num_registers;
      if (!AddRegisters(parameter.name, parameter.type, parameter.vector, false,
                        1, parameter.location)) {
        return false;
      }
      continue;
    }
    NameEntry entry;
    entry.kind = kind;
    entry.index = static_cast<uint32_t>(i);
    if (!Declare(parameter.name, entry, parameter.location)) return false;
  }
  return true;
}

bool BodyParser::Declare(std::string_view name, NameEntry entry,
                         SourceLocation at) {
  if (context_.names.FindSince(scopes_.back().names, name) != nullptr) {
    return context_.Fail(at, Cat("'", name, "' is declared twice"));
  }
  entry.depth = depth();
  context_.names.Declare(name, entry);
  std::string_view prefix;
  uint32_t number = 0;
  if (SplitDigits(name, &prefix, &number)) {
    ranges_overlap_ |= ranges_.Find(prefix) != nullptr;
    if (digit_prefixes_.Find(prefix) == nullptr) {
      digit_prefixes_.Declare(prefix, 0);
    }
  }
  return true;
}

const NameEntry* BodyParser::FindRegister(std::string_view name,
                                          uint32_t* reg) {
  const NameEntry* entry = FindName(name, reg);
  bool found = entry != nullptr && entry->kind == NameKind::kRegister;
  return found ? entry : nullptr;
}

const NameEntry* BodyParser::FindName(std::string_view name, uint32_t* reg) {
  std::string_view prefix;
  uint32_t number = 0;
  const NameEntry* member = nullptr;
  if (SplitDigits(name, &prefix, &number)) {
    member = ranges_.Find(prefix);
    if (member != nullptr && number >= member->count) member = nullptr;
  }
  if (member != nullptr && !ranges_overlap_) {
    *reg = member->index + number * member->vector;
    return member;
  }
  const NameEntry* exact = context_.names.Find(name);
  if (member != nullptr && (exact == nullptr || exact->depth < member->depth)) {
    *reg = member->index + number * member->vector;
    return member;
  }
  if (exact != nullptr) *reg = exact->index;
  return exact;
}

bool BodyParser::DirectiveStatement() {
  SourceLocation at = cursor_.Here();
  std::string_view word = cursor_.Directive();
  if (word == "reg") return RegisterStatement();
  if (word == "loc") return LocStatement();
  if (word == "pragma") return PragmaStatement();
  StateSpace space = SpaceOf(word);
  if (space != StateSpace::kGeneric) return VariableStatement(space);
  return context_.Unsupported(at, Cat("unknown directive '.", word, "'"));
}

bool BodyParser::RegisterStatement() {
  uint8_t vector = 1;
  Type type = Type::kNone;
  while (type == Type::kNone) {
    cursor_.SkipSpace();
    SourceLocation at = cursor_.Here();
    std::string_view word = cursor_.Directive();
    if (uint8_t lanes = VectorOf(word)) {
      vector = lanes;
    } else if (word == "align") {
      uint64_t ignored = 0;  // means nothing for registers
      if (!context_.Unsigned(128, "an alignment", &ignored)) return false;
    } else if (auto found = TypeFromName(word);
               found && ClassOf(*found) != TypeClass::kOpaque) {
      type = *found;
    } else {
      return context_.Unsupported(at,
                                  Cat("unknown register type '.", word, "'"));
    }
  }
  return DeclareRegisters(type, vector);
}

bool BodyParser::DeclareRegisters(Type type, uint8_t vector) {
  do {
    cursor_.SkipSpace();
    SourceLocation at = cursor_.Here();
    std::string_view name = cursor_.Name();
    if (name.empty()) return context_.FailExpected("a register name");
    bool ranged = cursor_.Accept('<');
    uint64_t count = 1;
    if (ranged) {
      cursor_.SkipSpace();
      std::string why;
      Number number;
      if (!cursor_.ReadNumber(&number, &why)) return context_.FailHere(why);
      if (number.kind != NumberKind::kInteger) {
        return context_.FailExpected("a register count");
      }
      count = number.bits;
      if (!context_.Expect('>')) return false;
    }
    if (!AddRegisters(name, type, vector, ranged, count, at)) return false;
  } while (cursor_.Accept(','));
  return context_.Expect(';');
}

bool BodyParser::AddRegisters(std::string_view name, Type type, uint8_t vector,
                              bool ranged, uint64_t count, SourceLocation at) {
  uint64_t limit = context_.options.max_registers_per_function;
  if (count > limit || body_.num_registers + count * vector > limit) {
    return context_.Exhausted(
        at, Cat("function declares more than ", limit, " registers"));
  }
  NameEntry entry;
  entry.kind = NameKind::kRegister;
  entry.type = type;
  entry.vector = vector;
  entry.index = body_.num_registers;
  entry.count = static_cast<uint32_t>(count);
  entry.depth = depth();
  if (!ranged) {
    if (!Declare(name, entry, at)) return false;
  } else if (ranges_.FindSince(scopes_.back().ranges, name) != nullptr) {
    return context_.Fail(at, Cat("'", name, "<…>' is declared twice"));
  } else {
    ranges_.Declare(name, entry);
    ranges_overlap_ |= digit_prefixes_.Find(name) != nullptr;
  }
  uint32_t total = entry.count * vector;
  if (total == 0) return true;
  body_.register_groups.push_back(
      {name, type, vector, ranged, body_.num_registers, total});
  body_.num_registers += total;
  return true;
}

bool BodyParser::VariableStatement(StateSpace space) {
  size_t first = body_.variables.size();
  if (!ParseVariables(&context_, Linkage::kInternal, space, &body_.variables)) {
    return false;
  }
  for (size_t i = first; i < body_.variables.size(); ++i) {
    NameEntry entry;
    entry.kind = NameKind::kBodyVariable;
    entry.index = static_cast<uint32_t>(i);
    const Variable& variable = body_.variables[i];
    if (!Declare(variable.name, entry, variable.location)) return false;
  }
  return true;
}

// `.loc file line column {, function_name label{+imm}, inlined_at f l c}`
bool BodyParser::LocStatement() {
  LineInfo line;
  uint64_t file = 0, number = 0, column = 0;
  constexpr uint64_t kMax = 0xffffffff;
  if (!context_.Unsigned(kMax, "a file number", &file) ||
      !context_.Unsigned(kMax, "a line", &number) ||
      !context_.Unsigned(kMax, "a column", &column)) {
    return false;
  }
  line.file = static_cast<uint32_t>(file);
  line.line = static_cast<uint32_t>(number);
  line.column = static_cast<uint32_t>(column);
  while (cursor_.Accept(',')) {
    if (!LocInlined(&line)) return false;
  }
  cursor_.Accept(';');
  loc_ = static_cast<uint32_t>(body_.locs.size());
  body_.locs.push_back(line);
  return true;
}

bool BodyParser::LocInlined(LineInfo* line) {
  std::string_view word = cursor_.Name();
  if (word == "function_name") {
    if (cursor_.Name().empty()) return context_.FailExpected("a label");
    if (!cursor_.Accept('+')) return true;
    uint64_t ignored = 0;
    return context_.Unsigned(0xffffffff, "an offset", &ignored);
  }
  if (word != "inlined_at") {
    return context_.FailExpected("function_name or inlined_at");
  }
  uint64_t file = 0, number = 0, column = 0;
  if (!context_.Unsigned(0xffffffff, "a file number", &file) ||
      !context_.Unsigned(0xffffffff, "a line", &number) ||
      !context_.Unsigned(0xffffffff, "a column", &column)) {
    return false;
  }
  line->inlined = true;
  line->inlined_file = static_cast<uint32_t>(file);
  line->inlined_line = static_cast<uint32_t>(number);
  line->inlined_column = static_cast<uint32_t>(column);
  return true;
}

// Pragmas are advice to NVIDIA's assembler; none changes what a program means.
// The one that keeps a loop as it is goes on to compilers behind this one.
bool BodyParser::PragmaStatement() {
  do {
    std::string_view text;
    if (!cursor_.QuotedString(&text)) return context_.FailExpected("a string");
    if (text == "nounroll") {
      body_.nounroll.push_back(
          static_cast<uint32_t>(body_.instructions.size()));
    }
  } while (cursor_.Accept(','));
  return context_.Expect(';');
}

}  // namespace hetgpu::ptx
