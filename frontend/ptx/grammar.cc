#include "frontend/ptx/grammar.h"

#include <algorithm>

#include "frontend/ptx/grammar_rows.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

constexpr size_t kMaxWords = 24;
// Hand-written opcodes may shuffle their words; the search for the slots they
// belong to backtracks, so it is bounded.
constexpr int kMaxMatchSteps = 4096;

using WordList = std::vector<std::string_view>;

// "ld.global::x.f32" -> {"ld", "global::x", "f32"}.
WordList SplitOpcode(std::string_view opcode) {
  WordList words;
  size_t start = 0;
  while (start <= opcode.size()) {
    size_t end = std::min(opcode.find('.', start), opcode.size());
    words.push_back(opcode.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

// Assigns the words of an opcode to the slots of one row.
class RowMatcher {
 public:
  RowMatcher(const Row& row, const WordList& words)
      : row_(row), words_(words), word_of_(row.slots.size(), -1) {}

  bool Match() { return words_.size() - 1 <= row_.slots.size() && Place(1); }
  // Index into the words, or -1 for an optional slot left out.
  int word_of(size_t slot) const { return word_of_[slot]; }
  size_t best() const { return best_; }

 private:
  bool Place(size_t word) {
    best_ = std::max(best_, word);
    if (word == words_.size()) return RestIsOptional();
    if (++steps_ > kMaxMatchSteps) return false;
    for (size_t slot = FirstSlot(word); slot < row_.slots.size(); ++slot) {
      if (word_of_[slot] >= 0 || !row_.slots[slot].Accepts(words_[word])) {
        continue;
      }
      word_of_[slot] = static_cast<int>(word);
      if (Place(word + 1)) return true;
      word_of_[slot] = -1;
    }
    return false;
  }

  // Words of an ordered kind go behind the previous one of their kind.
  size_t FirstSlot(size_t word) const {
    WordKind kind = KindOfWord(words_[word]);
    if (kind == WordKind::kFree) return 0;
    for (size_t slot = row_.slots.size(); slot > 0; --slot) {
      int placed = word_of_[slot - 1];
      if (placed >= 0 && KindOfWord(words_[placed]) == kind) return slot;
    }
    return 0;
  }

  bool RestIsOptional() const {
    for (size_t slot = 0; slot < row_.slots.size(); ++slot) {
      if (word_of_[slot] < 0 && !row_.slots[slot].optional) return false;
    }
    return true;
  }

  const Row& row_;
  const WordList& words_;
  std::vector<int> word_of_;
  size_t best_ = 0;
  int steps_ = 0;
};

Modifiers Decode(const Row& row, const RowMatcher& match,
                 const WordList& words) {
  Modifiers modifiers;
  std::vector<bool> is_compare(words.size(), false);
  for (size_t slot = 0; slot < row.slots.size(); ++slot) {
    if (match.word_of(slot) >= 0 && row.slots[slot].name == "cmp") {
      is_compare[match.word_of(slot)] = true;
    }
  }
  for (size_t i = 1; i < words.size(); ++i) {
    ApplyWord(words[i], is_compare[i], &modifiers);
  }
  return modifiers;
}

Type DoubleWidth(Type type) {
  switch (type) {
    case Type::kU16:
      return Type::kU32;
    case Type::kS16:
      return Type::kS32;
    case Type::kU32:
      return Type::kU64;
    case Type::kS32:
      return Type::kS64;
    default:
      return type;
  }
}

OperandRule Settle(const OperandSpec& spec, const RowMatcher& match,
                   const WordList& words, const Modifiers& modifiers) {
  OperandRule rule;
  rule.spec = &spec;
  rule.vector = spec.vectorised ? modifiers.vector : 1;
  if (spec.shape == OperandShape::kAddress ||
      spec.shape == OperandShape::kLabel ||
      spec.shape == OperandShape::kTargets ||
      spec.shape == OperandShape::kCall || spec.shape == OperandShape::kAny) {
    return rule;
  }
  if (spec.type != Type::kNone) {
    rule.type = spec.type;
  } else if (spec.type_slot >= 0) {
    int word = match.word_of(spec.type_slot);
    if (word >= 0) {
      rule.type = TypeFromName(words[word]).value_or(Type::kNone);
    }
  } else if (spec.shape == OperandShape::kValue) {
    rule.type = modifiers.type();
    if (spec.wide) rule.type = DoubleWidth(rule.type);
  }
  if (spec.packed_words && TypeBits(rule.type) < 32) rule.type = Type::kB32;
  return rule;
}

void AddCandidates(const Form& form, const Row& row, const RowMatcher& match,
                   const WordList& words, std::vector<Candidate>* candidates) {
  Modifiers modifiers = Decode(row, match, words);
  for (const Signature& signature : form.signatures) {
    Candidate candidate;
    candidate.form = &form;
    candidate.modifiers = modifiers;
    for (const OperandSpec& spec : signature) {
      candidate.operands.push_back(Settle(spec, match, words, modifiers));
    }
    candidates->push_back(std::move(candidate));
  }
}

bool Allowed(const Form& form, const TargetLevel& level) {
  if (form.ptx > level.ptx || form.sm > level.sm) return false;
  return !form.sm_exact || level.suffix != 0;
}

std::string Spelled(uint32_t ptx) { return Cat(ptx / 10, ".", ptx % 10); }

absl::Status TooLow(std::string_view opcode, const Form& form,
                    const TargetLevel& level) {
  if (form.ptx > level.ptx) {
    return absl::UnimplementedError(
        Cat("'", opcode, "' needs PTX ISA ", Spelled(form.ptx),
            ", but the module declares .version ", Spelled(level.ptx)));
  }
  return absl::UnimplementedError(
      Cat("'", opcode, "' needs sm_", form.sm, form.sm_exact ? "a" : "",
          ", but the module's target is sm_", level.sm,
          level.suffix ? std::string(1, level.suffix) : ""));
}

bool AnyRowAccepts(const std::vector<Row>& rows, std::string_view word) {
  for (const Row& row : rows) {
    for (const ModifierSlot& slot : row.slots) {
      if (slot.Accepts(word)) return true;
    }
  }
  return false;
}

// Explains why no row matched: a word that none knows, or the closest row.
absl::Status NoMatch(const std::vector<Row>& rows, const WordList& words,
                     std::string_view opcode) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (!AnyRowAccepts(rows, words[i])) {
      return absl::UnimplementedError(Cat("unsupported modifier '.", words[i],
                                          "' of '", words[0], "' in '", opcode,
                                          "'"));
    }
  }
  const Row* closest = &rows[0];
  size_t best = 0;
  for (const Row& row : rows) {
    RowMatcher match(row, words);
    match.Match();
    if (match.best() > best) {
      best = match.best();
      closest = &row;
    }
  }
  return absl::UnimplementedError(Cat(
      "no form of '", words[0], "' has the modifiers of '", opcode,
      "'; the closest is '", GetGrammar().forms[closest->form].syntax, "'"));
}

}  // namespace

std::span<const Form> AllForms() { return GetGrammar().forms; }

std::string ExpandClasses(const Form& form) {
  const Grammar& grammar = GetGrammar();
  std::string out;
  size_t base_end = form.syntax.find_first_of(".{ ");
  auto it = grammar.rows_by_base.find(form.syntax.substr(0, base_end));
  if (it == grammar.rows_by_base.end()) return out;
  for (const Row& row : it->second) {
    if (&grammar.forms[row.form] != &form) continue;
    for (const ModifierSlot& slot : row.slots) {
      if (slot.is_wgmma_shape) {
        out +=
            Cat(out.empty() ? "" : "; ", ".wgshape = .m64n8k8 … .m64n256k256");
      }
      if (!slot.is_class) continue;
      out += Cat(out.empty() ? "" : "; ", ".", slot.name, " =");
      for (std::string_view word : slot.words) out += Cat(" .", word);
    }
  }
  return out;
}

absl::Status ResolveOpcode(std::string_view opcode, const TargetLevel& level,
                           std::vector<Candidate>* candidates) {
  const Grammar& grammar = GetGrammar();
  WordList words = SplitOpcode(opcode);
  auto rows = grammar.rows_by_base.find(words[0]);
  if (rows == grammar.rows_by_base.end()) {
    return absl::UnimplementedError(Cat("unknown instruction '", opcode, "'"));
  }
  if (words.size() > kMaxWords) {
    return absl::InvalidArgumentError(
        Cat("'", words[0], "' has ", words.size() - 1,
            " modifiers, more than any instruction"));
  }
  const Form* refused = nullptr;
  for (const Row& row : rows->second) {
    RowMatcher match(row, words);
    if (!match.Match()) continue;
    const Form& form = grammar.forms[row.form];
    if (Allowed(form, level)) {
      AddCandidates(form, row, match, words, candidates);
    } else if (refused == nullptr) {
      refused = &form;
    }
  }
  if (!candidates->empty()) return absl::OkStatus();
  if (refused != nullptr) return TooLow(opcode, *refused, level);
  return NoMatch(rows->second, words, opcode);
}

}  // namespace hetgpu::ptx
