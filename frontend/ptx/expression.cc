// Constant expressions: precedence climbing over 64-bit integers.
#include <limits>
#include <string_view>

#include "frontend/ptx/cursor.h"
#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

constexpr int kMaxDepth = 64;
constexpr uint64_t kWarpSize = 32;

struct BinaryOperator {
  std::string_view text;
  int precedence;  // higher binds tighter
};

// Longer spellings first.
constexpr BinaryOperator kOperators[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<=", 7}, {">=", 7},
    {"<<", 8}, {">>", 8}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
    {">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

int64_t AsSigned(const Number& n) { return static_cast<int64_t>(n.bits); }

uint64_t ShiftLeft(uint64_t value, uint64_t count) {
  return count > 63 ? 0 : value << count;
}

uint64_t ShiftRight(const Number& value, uint64_t count) {
  if (value.is_unsigned) return count > 63 ? 0 : value.bits >> count;
  return static_cast<uint64_t>(AsSigned(value) >> (count > 63 ? 63 : count));
}

bool Less(const Number& a, const Number& b) {
  if (a.is_unsigned || b.is_unsigned) return a.bits < b.bits;
  return AsSigned(a) < AsSigned(b);
}

uint64_t Divide(const Number& a, const Number& b, bool remainder) {
  if (a.is_unsigned || b.is_unsigned) {
    return remainder ? a.bits % b.bits : a.bits / b.bits;
  }
  if (AsSigned(b) == -1) return remainder ? 0 : 0 - a.bits;
  return static_cast<uint64_t>(remainder ? AsSigned(a) % AsSigned(b)
                                         : AsSigned(a) / AsSigned(b));
}

Number Truth(bool value) { return {NumberKind::kInteger, false, value}; }

// `b` is not zero when `op` divides.
Number Apply(std::string_view op, const Number& a, const Number& b) {
  Number out{NumberKind::kInteger, a.is_unsigned || b.is_unsigned, 0};
  if (op == "||") return Truth(a.bits || b.bits);
  if (op == "&&") return Truth(a.bits && b.bits);
  if (op == "==") return Truth(a.bits == b.bits);
  if (op == "!=") return Truth(a.bits != b.bits);
  if (op == "<") return Truth(Less(a, b));
  if (op == ">") return Truth(Less(b, a));
  if (op == "<=") return Truth(!Less(b, a));
  if (op == ">=") return Truth(!Less(a, b));
  if (op == "<<" || op == ">>") out.is_unsigned = a.is_unsigned;
  if (op == "<<") out.bits = ShiftLeft(a.bits, b.bits);
  if (op == ">>") out.bits = ShiftRight(a, b.bits);
  if (op == "|") out.bits = a.bits | b.bits;
  if (op == "^") out.bits = a.bits ^ b.bits;
  if (op == "&") out.bits = a.bits & b.bits;
  if (op == "+") out.bits = a.bits + b.bits;
  if (op == "-") out.bits = a.bits - b.bits;
  if (op == "*") out.bits = a.bits * b.bits;
  if (op == "/" || op == "%") out.bits = Divide(a, b, op == "%");
  return out;
}

}  // namespace

class ExpressionReader {
 public:
  ExpressionReader(Cursor* cursor, std::string* error)
      : cursor_(*cursor), error_(*error) {}

  bool Ternary(Number* out) {
    if (++depth_ > kMaxDepth) return Fail("constant expression is too deep");
    if (!Binary(1, out)) return false;
    if (cursor_.Accept('?')) {
      Number yes, no;
      if (!Ternary(&yes)) return false;
      if (!cursor_.Accept(':')) return Expected("':'");
      if (!Ternary(&no)) return false;
      if (!Integer(*out)) return false;
      *out = out->bits != 0 ? yes : no;
    }
    --depth_;
    return true;
  }

 private:
  bool Fail(std::string_view what) {
    error_ = what;
    return false;
  }
  bool Expected(std::string_view what) {
    error_ = Cat("expected ", what, ", found ", cursor_.Quoted());
    return false;
  }
  bool Integer(const Number& number) {
    if (number.kind == NumberKind::kInteger) return true;
    return Fail("operators other than a sign need integers");
  }

  const BinaryOperator* NextOperator() {
    cursor_.SkipSpace();
    std::string_view next(cursor_.position(),
                          cursor_.AtEnd() ? 0 : (cursor_.PeekAt(1) ? 2 : 1));
    for (const BinaryOperator& op : kOperators) {
      if (next.starts_with(op.text)) return &op;
    }
    return nullptr;
  }

  bool Binary(int least, Number* out) {
    if (!Unary(out)) return false;
    while (const BinaryOperator* op = NextOperator()) {
      if (op->precedence < least) return true;
      cursor_.Advance(op->text.size());
      Number right;
      if (++depth_ > kMaxDepth) return Fail("constant expression is too deep");
      if (!Binary(op->precedence + 1, &right)) return false;
      --depth_;
      if (!Integer(*out) || !Integer(right)) return false;
      if (right.bits == 0 && (op->text == "/" || op->text == "%")) {
        return Fail("division by zero in a constant expression");
      }
      *out = Apply(op->text, *out, right);
    }
    return true;
  }

  bool Unary(Number* out) {
    cursor_.SkipSpace();
    char c = cursor_.Peek();
    if (c != '-' && c != '+' && c != '!' && c != '~') return Primary(out);
    cursor_.Advance();
    if (++depth_ > kMaxDepth) return Fail("constant expression is too deep");
    if (!Unary(out)) return false;
    --depth_;
    if (c == '+') return true;
    if (c == '-') return Negate(out);
    if (!Integer(*out)) return false;
    if (c == '!') *out = Truth(out->bits == 0);
    if (c == '~') out->bits = ~out->bits;
    return true;
  }

  bool Negate(Number* out) {
    if (out->kind == NumberKind::kInteger) {
      out->bits = 0 - out->bits;
      // -9223372036854775808 is signed although its digits are not.
      if (out->bits >> 63) out->is_unsigned = false;
    } else {
      out->bits ^=
          out->kind == NumberKind::kF32 ? uint64_t{1} << 31 : uint64_t{1} << 63;
    }
    return true;
  }

  bool Primary(Number* out) {
    if (cursor_.Accept('(')) return Parenthesised(out);
    if (HasClass(cursor_.Peek(), kNameStart)) {
      SourceLocation place = cursor_.Here();
      std::string_view name = cursor_.Name();
      (void)place;
      if (name != "WARP_SZ") {
        error_ = Cat("'", name, "' is not a constant");
        return false;
      }
      *out = {NumberKind::kInteger, false, kWarpSize};
      return true;
    }
    return cursor_.ReadNumber(out, &error_);
  }

  bool Parenthesised(Number* out) {
    std::string_view cast = cursor_.PeekDirective();
    if (cast == "s64" || cast == "u64") {
      cursor_.Directive();
      if (!cursor_.Accept(')')) return Expected("')'");
      if (++depth_ > kMaxDepth) return Fail("constant expression is too deep");
      if (!Unary(out) || !Integer(*out)) return false;
      --depth_;
      out->is_unsigned = cast == "u64";
      return true;
    }
    if (!Ternary(out)) return false;
    return cursor_.Accept(')') || Expected("')'");
  }

  Cursor& cursor_;
  std::string& error_;
  int depth_ = 0;
};

bool Cursor::ReadExpression(Number* number, std::string* error) {
  SkipSpace();
  if (HasClass(*at_, kDigit)) {
    // The usual case: one literal, then a delimiter.
    Cursor saved = *this;
    if (!ReadNumber(number, error)) return false;
    if (*at_ == ',' || *at_ == ';' || *at_ == '}' || *at_ == ']') return true;
    *this = saved;
  }
  ExpressionReader reader(this, error);
  return reader.Ternary(number);
}

}  // namespace hetgpu::ptx
