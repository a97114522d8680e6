#include "frontend/ptx/grammar_rows.h"

#include <algorithm>
#include <utility>

namespace hetgpu::ptx {
namespace {

struct RawRow {
  Op op;
  std::string_view syntax;
  std::string_view classes;
  uint32_t ptx;
  uint32_t sm;
};

struct RawClass {
  std::string_view name;
  std::string_view words;
};

constexpr uint32_t kExactSm = 1000;

#define A(sm) (kExactSm + (sm))
constexpr RawRow kRows[] = {
#define CLASS(name, words)
#define INSTR(op, syntax, classes, ptx, sm) \
  {Op::k##op, syntax, classes, ptx, sm},
#include "frontend/ptx/instructions.def"
#undef INSTR
#undef CLASS
};
#undef A

constexpr RawClass kClasses[] = {
#define CLASS(name, words) {#name, words},
#define INSTR(op, syntax, classes, ptx, sm)
#include "frontend/ptx/instructions.def"
#undef INSTR
#undef CLASS
};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> LocalClass(std::string_view classes,
                                         std::string_view name) {
  while (!classes.empty()) {
    size_t end = std::min(classes.find(';'), classes.size());
    std::string_view one = Trim(classes.substr(0, end));
    classes.remove_prefix(std::min(end + 1, classes.size()));
    size_t equals = one.find('=');
    if (equals != one.npos && one.substr(0, equals) == name) {
      return SplitWords(one.substr(equals + 1));
    }
  }
  return {};
}

ModifierSlot MakeSlot(std::string_view word, bool optional,
                      std::string_view classes) {
  ModifierSlot slot;
  slot.name = word;
  slot.optional = optional;
  slot.words = LocalClass(classes, word);
  if (slot.words.empty()) slot.words = SharedClass(word);
  slot.is_class = !slot.words.empty();
  slot.is_wgmma_shape = word == "wgshape";
  if (!slot.is_class) slot.words = {word};
  return slot;
}

// "add{.sat}.s32": the text after the base name.
std::vector<ModifierSlot> CompileSlots(std::string_view text,
                                       std::string_view classes) {
  std::vector<ModifierSlot> slots;
  while (!text.empty()) {
    bool optional = text.front() == '{';
    if (optional) text.remove_prefix(1);
    size_t end =
        std::min(text.find_first_of(optional ? "}" : ".{", 1), text.size());
    slots.push_back(MakeSlot(text.substr(1, end - 1), optional, classes));
    text.remove_prefix(std::min(end + (optional ? 1 : 0), text.size()));
  }
  return slots;
}

int SlotIndex(const std::vector<ModifierSlot>& slots, std::string_view name) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

void CompileTypeSpec(std::string_view text,
                     const std::vector<ModifierSlot>& slots,
                     OperandSpec* spec) {
  if (text.starts_with('~')) {
    spec->relaxed = true;
    text.remove_prefix(1);
  }
  if (text.starts_with('#')) {
    spec->packed_words = true;
    text.remove_prefix(1);
  }
  if (text.ends_with('*')) {
    spec->vectorised = true;
    text.remove_suffix(1);
  }
  if (text.ends_with('^')) {
    spec->packed = true;
    text.remove_suffix(1);
  }
  static constexpr std::pair<std::string_view, OperandShape> kShapes[] = {
      {"imm", OperandShape::kImmediate},   {"label", OperandShape::kLabel},
      {"targets", OperandShape::kTargets}, {"any", OperandShape::kAny},
      {"sym", OperandShape::kSymbol},      {"call", OperandShape::kCall},
  };
  for (const auto& [name, shape] : kShapes) {
    if (text != name) continue;
    if (spec->shape == OperandShape::kValue) spec->shape = shape;
    if (shape == OperandShape::kImmediate) spec->type = Type::kS64;
    return;
  }
  if (text == "wide") {
    spec->wide = true;
  } else if (auto type = TypeFromName(text)) {
    spec->type = *type;
  } else {
    spec->type_slot = SlotIndex(slots, text);
  }
}

// "d", "[a]", "<d:f32>", "!c", "d:u32".
OperandSpec CompileOperand(std::string_view text,
                           const std::vector<ModifierSlot>& slots) {
  OperandSpec spec;
  if (text.starts_with('!')) {
    spec.negatable = true;
    spec.type = Type::kPred;
    text.remove_prefix(1);
  } else if (text.starts_with('[')) {
    spec.shape = OperandShape::kAddress;
    text = text.substr(1, text.size() - 2);
  } else if (text.starts_with('<')) {
    spec.shape = OperandShape::kFragment;
    text = text.substr(1, text.size() - 2);
  }
  size_t colon = text.find(':');
  spec.name = text.substr(0, colon);
  spec.dest = spec.shape != OperandShape::kAddress &&
              (spec.name.starts_with('d') || spec.name == "p");
  if (colon == text.npos) return spec;
  std::string_view type = text.substr(colon + 1);
  CompileTypeSpec(type, slots, &spec);
  if (type == "any") spec.type = Type::kNone;
  return spec;
}

// Reads one operand of the row's syntax: up to a comma or brace outside < >.
std::string_view TakeOperand(std::string_view* text) {
  size_t end = std::min(text->find_first_of(",{}|"), text->size());
  std::string_view one = Trim(text->substr(0, end));
  text->remove_prefix(end);
  return one;
}

void MakePair(OperandSpec* spec) {
  spec->pair = true;
  // setp p|q: both are predicates.
  if (spec->name == "p") spec->type = Type::kPred;
}

// Doubles the signatures: with the optional tail applied, and without.
template <typename Apply>
void Branch(std::vector<Signature>* signatures, Apply apply) {
  std::vector<Signature> with = *signatures;
  for (Signature& signature : with) apply(&signature);
  signatures->insert(signatures->end(), with.begin(), with.end());
}

// One `{|p}` or `{, operand}`; `text` starts at the brace.
void CompileOptional(std::string_view* text,
                     const std::vector<ModifierSlot>& slots,
                     std::vector<Signature>* signatures) {
  text->remove_prefix(1);
  if (text->starts_with('|')) {
    Branch(signatures, [](Signature* s) { MakePair(&s->back()); });
  } else {
    text->remove_prefix(1);  // the comma
    std::string_view rest = *text;
    OperandSpec spec = CompileOperand(TakeOperand(&rest), slots);
    Branch(signatures, [&](Signature* s) { s->push_back(spec); });
  }
  text->remove_prefix(std::min(text->find('}') + 1, text->size()));
}

std::vector<Signature> CompileOperands(std::string_view text,
                                       const std::vector<ModifierSlot>& slots) {
  std::vector<Signature> signatures(1);
  text = Trim(text);
  while (!text.empty()) {
    if (text.starts_with('{')) {
      CompileOptional(&text, slots, &signatures);
    } else if (text.starts_with('|')) {
      for (Signature& s : signatures) MakePair(&s.back());
      text.remove_prefix(1);
      TakeOperand(&text);
    } else {
      OperandSpec spec = CompileOperand(TakeOperand(&text), slots);
      for (Signature& s : signatures) s.push_back(spec);
    }
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  // A setp without a pair writes a predicate too.
  for (Signature& s : signatures) {
    if (!s.empty() && s[0].name == "p") s[0].type = Type::kPred;
  }
  return signatures;
}

void AddRow(const RawRow& raw, Grammar* grammar) {
  size_t blank = std::min(raw.syntax.find(' '), raw.syntax.size());
  std::string_view opcode = raw.syntax.substr(0, blank);
  size_t base_end = std::min(opcode.find_first_of(".{"), opcode.size());
  Row row;
  row.slots = CompileSlots(opcode.substr(base_end), raw.classes);
  row.form = grammar->forms.size();
  Form form;
  form.op = raw.op;
  form.syntax = raw.syntax;
  form.classes = raw.classes;
  form.ptx = raw.ptx;
  form.sm = raw.sm % kExactSm;
  form.sm_exact = raw.sm >= kExactSm;
  form.signatures = CompileOperands(raw.syntax.substr(blank), row.slots);
  grammar->rows_by_base[opcode.substr(0, base_end)].push_back(std::move(row));
  grammar->forms.push_back(std::move(form));
}

}  // namespace

bool ModifierSlot::Accepts(std::string_view word) const {
  if (is_wgmma_shape) return IsWgmmaShape(word);
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<std::string_view> SplitWords(std::string_view text) {
  std::vector<std::string_view> words;
  text = Trim(text);
  while (!text.empty()) {
    size_t end = std::min(text.find(' '), text.size());
    std::string_view word = text.substr(0, end);
    if (word.starts_with('.')) word.remove_prefix(1);
    words.push_back(word);
    text = Trim(text.substr(end));
  }
  return words;
}

std::vector<std::string_view> SharedClass(std::string_view name) {
  for (const RawClass& shared : kClasses) {
    if (shared.name == name) return SplitWords(shared.words);
  }
  return {};
}

const Grammar& GetGrammar() {
  static const Grammar* const grammar = [] {
    auto* made = new Grammar;
    made->forms.reserve(std::size(kRows));
    for (const RawRow& raw : kRows) AddRow(raw, made);
    return made;
  }();
  return *grammar;
}

}  // namespace hetgpu::ptx
