// Operand types: a register agrees with an instruction type when both are the
// same kind and size, or one of them is untyped bits of that size; conversions
// and memory instructions also take wider integer registers.
#include <algorithm>

#include "frontend/ptx/immediate.h"
#include "frontend/ptx/parse_context.h"

namespace hetgpu::ptx {
namespace {

bool IsIntegral(TypeClass cls) {
  return cls == TypeClass::kBits || cls == TypeClass::kUnsigned ||
         cls == TypeClass::kSigned;
}

bool RegisterFits(Type reg, const OperandRule& rule, Type type) {
  if (reg == type) return true;
  TypeClass have = ClassOf(reg);
  TypeClass want = ClassOf(type);
  if (have == TypeClass::kPred || want == TypeClass::kPred) return false;
  uint32_t have_bits = TypeBits(reg);
  uint32_t want_bits = TypeBits(type);
  if (rule.spec->relaxed && have_bits > want_bits && IsIntegral(have)) {
    return IsIntegral(want);
  }
  if (have_bits != want_bits) return false;
  if (have == TypeClass::kBits || want == TypeClass::kBits) return true;
  return IsIntegral(have) && IsIntegral(want);
}

class OperandChecker {
 public:
  OperandChecker(Body* body, std::string* why) : body_(*body), why_(why) {}

  bool Check(const OperandRule& rule, const Operand& operand) {
    if (operand.kind == OperandKind::kPair) return Pair(rule, operand);
    if (rule.spec->pair) return Fail("needs the form d|p");
    switch (rule.spec->shape) {
      case OperandShape::kAddress:
        return operand.kind == OperandKind::kAddress || Fail("is no address");
      case OperandShape::kImmediate:
        return Immediate(operand);
      case OperandShape::kFragment:
        return ListOrLeaf(rule, operand, rule.type);
      case OperandShape::kAny:
        return operand.kind != OperandKind::kAddress || Fail("is an address");
      case OperandShape::kLabel:
      case OperandShape::kTargets:
        return true;  // bound when read
      case OperandShape::kSymbol:
        return operand.kind == OperandKind::kSymbol ||
               Leaf(rule, operand, Type::kB64);
      default:
        return Value(rule, operand);
    }
  }

  void Apply(const OperandRule& rule, Operand* operand) {
    operand->is_dest = rule.spec->dest;
    if (operand->kind == OperandKind::kPair) {
      ApplyLeaf(rule.type, true, &body_.operands[operand->first_child]);
      ApplyLeaf(Type::kPred, true, &body_.operands[operand->first_child + 1]);
      ApplyChildren(rule, body_.operands[operand->first_child]);
      operand->type = rule.type;
    } else if (operand->kind == OperandKind::kVector) {
      ApplyChildren(rule, *operand);
      operand->type = rule.type;
    } else {
      ApplyLeaf(rule.type, rule.spec->dest, operand);
    }
  }

 private:
  bool Fail(std::string_view what) {
    if (why_ != nullptr && why_->empty()) *why_ = what;
    return false;
  }

  bool Pair(const OperandRule& rule, const Operand& operand) {
    if (!rule.spec->pair) return Fail("must not be a pair");
    const Operand& first = body_.operands[operand.first_child];
    const Operand& second = body_.operands[operand.first_child + 1];
    OperandSpec predicate = *rule.spec;
    predicate.pair = false;
    OperandRule first_rule = rule;
    first_rule.spec = &predicate;
    if (!Check(first_rule, first)) return false;
    predicate.shape = OperandShape::kValue;
    OperandRule second_rule{&predicate, Type::kPred, 1};
    return Leaf(second_rule, second, Type::kPred);
  }

  bool Immediate(const Operand& operand) {
    return (operand.kind == OperandKind::kImmediate &&
            operand.number == NumberKind::kInteger) ||
           Fail("must be an integer constant");
  }

  bool Value(const OperandRule& rule, const Operand& operand) {
    if (rule.vector > 1) {
      if (operand.kind != OperandKind::kVector ||
          operand.num_children != rule.vector) {
        return Fail(Cat("must be a list of ", int{rule.vector}, " elements"));
      }
      return ListOrLeaf(rule, operand, rule.type);
    }
    if (operand.kind == OperandKind::kVector && rule.spec->packed) {
      return Packed(rule, operand);
    }
    return Leaf(rule, operand, rule.type);
  }

  // mov.b64 d, {a, b}: equal pieces that add up.
  bool Packed(const OperandRule& rule, const Operand& operand) {
    Type piece = PieceType(rule.type, operand.num_children);
    if (piece == Type::kNone) {
      return Fail(Cat("has ", operand.num_children,
                      " elements, which do not make up type .",
                      TypeName(rule.type)));
    }
    return ListOrLeaf(rule, operand, piece);
  }

  static Type PieceType(Type whole, uint32_t pieces) {
    if (pieces < 2) return Type::kNone;
    switch (TypeBits(whole) / pieces * (TypeBits(whole) % pieces == 0)) {
      case 8:
        return Type::kB8;
      case 16:
        return Type::kB16;
      case 32:
        return Type::kB32;
      case 64:
        return Type::kB64;
      default:
        return Type::kNone;
    }
  }

  bool ListOrLeaf(const OperandRule& rule, const Operand& operand, Type type) {
    if (operand.kind != OperandKind::kVector) return Leaf(rule, operand, type);
    for (const Operand& child : body_.Children(operand)) {
      if (!Leaf(rule, child, type)) return false;
    }
    return true;
  }

  bool Leaf(const OperandRule& rule, const Operand& operand, Type type) {
    switch (operand.kind) {
      case OperandKind::kRegister:
        if (operand.negated && !rule.spec->negatable) {
          return Fail("must not be negated");
        }
        return Typed(rule, operand.type, type);
      case OperandKind::kSpecial:
        if (rule.spec->dest) return Fail("cannot be written");
        return Typed(rule, operand.type, type);
      case OperandKind::kImmediate:
        return Constant(rule, operand, type);
      case OperandKind::kSymbol:
        if (rule.spec->dest) return Fail("cannot be written");
        return (IsIntegral(ClassOf(type)) && TypeBits(type) >= 32) ||
               type == Type::kNone || Fail("is an address");
      case OperandKind::kSink:
        return rule.spec->dest || Fail("cannot be read");
      default:
        return Fail("has the wrong form");
    }
  }

  bool Typed(const OperandRule& rule, Type have, Type want) {
    if (want == Type::kNone || RegisterFits(have, rule, want)) return true;
    return Fail(Cat("has type .", TypeName(have), ", which does not fit .",
                    TypeName(want)));
  }

  bool Constant(const OperandRule& rule, const Operand& operand, Type type) {
    if (rule.spec->dest) return Fail("cannot be written");
    if (type == Type::kNone) return true;
    uint64_t bits = 0;
    std::string why;
    Number number{operand.number, false, static_cast<uint64_t>(operand.value)};
    return ConvertImmediate(number, type, &bits, &why) ||
           Fail(Cat("does not fit: ", why));
  }

  void ApplyChildren(const OperandRule& rule, const Operand& list) {
    if (list.kind != OperandKind::kVector) return;
    Type type = rule.type;
    if (rule.spec->packed) type = PieceType(rule.type, list.num_children);
    for (uint32_t i = 0; i < list.num_children; ++i) {
      ApplyLeaf(type, rule.spec->dest, &body_.operands[list.first_child + i]);
    }
  }

  static void ApplyLeaf(Type type, bool dest, Operand* operand) {
    operand->is_dest = dest;
    if (type == Type::kNone) return;  // keeps the register's own type
    operand->type = type;
    if (operand->kind != OperandKind::kImmediate) return;
    uint64_t bits = 0;
    std::string ignored;
    Number number{operand->number, false,
                  static_cast<uint64_t>(operand->value)};
    ConvertImmediate(number, type, &bits, &ignored);
    operand->value = static_cast<int64_t>(bits);
  }

  Body& body_;
  std::string* why_;
};

// "2, 3 or 4".
std::string CountsOf(const CachedOpcode& cached) {
  std::vector<size_t> counts;
  for (const CachedOpcode::Choice& choice : cached.choices) {
    counts.push_back(choice.operands.size());
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::string out;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (i > 0) out += i + 1 == counts.size() ? " or " : ", ";
    out += std::to_string(counts[i]);
  }
  return out;
}

// Reports what the first choice with the right count dislikes.
void Explain(ParseContext* context, const CachedOpcode& cached,
             SourceLocation place, std::span<const Operand> operands,
             std::span<const std::string_view> texts, Body* body) {
  for (const CachedOpcode::Choice& choice : cached.choices) {
    if (choice.operands.size() != operands.size()) continue;
    for (size_t i = 0; i < operands.size(); ++i) {
      std::string why;
      OperandChecker checker(body, &why);
      if (checker.Check(choice.operands[i], operands[i])) continue;
      context->Fail(place, Cat("operand ", i + 1, " '", texts[i], "' of '",
                               cached.text, "' ", why, "; expected '",
                               choice.opcode->form->syntax, "'"));
      return;
    }
  }
  context->Fail(place, Cat("'", cached.text, "' has ", operands.size(),
                           " operands, expected ", CountsOf(cached)));
}

}  // namespace

const Opcode* CheckOperands(ParseContext* context, const CachedOpcode& cached,
                            SourceLocation place, std::span<Operand> operands,
                            std::span<const std::string_view> texts,
                            Body* body) {
  // The parser reads calls itself, and checks them against the callee.
  if (cached.first_shape == OperandShape::kCall) {
    return cached.choices[0].opcode;
  }
  OperandChecker checker(body, nullptr);
  for (const CachedOpcode::Choice& choice : cached.choices) {
    if (choice.operands.size() != operands.size()) continue;
    bool fits = true;
    for (size_t i = 0; fits && i < operands.size(); ++i) {
      fits = checker.Check(choice.operands[i], operands[i]);
    }
    if (!fits) continue;
    for (size_t i = 0; i < operands.size(); ++i) {
      checker.Apply(choice.operands[i], &operands[i]);
    }
    return choice.opcode;
  }
  Explain(context, cached, place, operands, texts, body);
  return nullptr;
}

}  // namespace hetgpu::ptx
