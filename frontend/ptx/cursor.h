// A position in PTX text, with the lexical rules: blanks, comments, names,
// numbers and constant expressions. There is no token list: PTX needs at most
// one character of look-ahead, and bodies of megabytes are read once.
#ifndef HETGPU_FRONTEND_PTX_CURSOR_H_
#define HETGPU_FRONTEND_PTX_CURSOR_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/ptx/source_location.h"

namespace hetgpu::ptx {

enum CharClass : uint8_t {
  kNameStart = 1,  // letter _ $ %
  kNameChar = 2,   // letter digit _ $
  kDigit = 4,
  kBlank = 8,  // space, tab, carriage return
};

inline constexpr std::array<uint8_t, 256> kCharClasses = [] {
  std::array<uint8_t, 256> table = {};
  for (int c = 'a'; c <= 'z'; ++c) table[c] = kNameStart | kNameChar;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = kNameStart | kNameChar;
  for (int c = '0'; c <= '9'; ++c) table[c] = kNameChar | kDigit;
  table['_'] = table['$'] = kNameStart | kNameChar;
  table['%'] = kNameStart;
  table[' '] = table['\t'] = table['\r'] = kBlank;
  return table;
}();

inline bool HasClass(char c, uint8_t classes) {
  return kCharClasses[static_cast<uint8_t>(c)] & classes;
}

enum class NumberKind : uint8_t { kInteger, kF32, kF64 };

struct Number {
  NumberKind kind = NumberKind::kInteger;
  bool is_unsigned = false;  // integers: a U suffix or too big for s64
  uint64_t bits = 0;         // two's complement, or the bits of the float
};

class Cursor {
 public:
  // `text` must be followed by a NUL character.
  explicit Cursor(std::string_view text)
      : begin_(text.data()),
        at_(begin_),
        end_(begin_ + text.size()),
        line_start_(begin_) {}

  bool AtEnd() const { return at_ >= end_; }
  // The current character; NUL at the end.
  char Peek() const { return *at_; }
  char PeekAt(size_t ahead) const {
    return static_cast<size_t>(end_ - at_) > ahead ? at_[ahead] : '\0';
  }
  const char* position() const { return at_; }
  // Where a comment begins that does not end, if one was met.
  const std::optional<SourceLocation>& open_comment() const {
    return open_comment_;
  }
  void Advance(size_t count = 1) { at_ += count; }

  SourceLocation Here() const {
    return {line_, static_cast<uint32_t>(at_ - line_start_) + 1};
  }

  // Skips blanks, line ends and comments. An unterminated comment runs to the
  // end of the text and is remembered.
  void SkipSpace() {
    while (true) {
      while (HasClass(*at_, kBlank)) ++at_;
      if (*at_ == '\n') {
        NewLine();
      } else if (*at_ != '/' || !SkipComment()) {
        return;
      }
    }
  }

  // Skips space, then takes `c` if it is next.
  bool Accept(char c) {
    SkipSpace();
    if (*at_ != c || AtEnd()) return false;
    ++at_;
    return true;
  }

  // Skips space, then takes a name; empty when there is none.
  std::string_view Name() {
    SkipSpace();
    if (!HasClass(*at_, kNameStart)) return {};
    const char* start = at_++;
    while (HasClass(*at_, kNameChar)) ++at_;
    return {start, static_cast<size_t>(at_ - start)};
  }

  // `.word` with `::` inside allowed, without the dot; empty when none is
  // next. Skips space before.
  std::string_view Directive();
  // Looks at the next directive without taking it.
  std::string_view PeekDirective();

  // "…" without the quotes. False when none is next or it does not end.
  bool QuotedString(std::string_view* text);

  // A literal. On failure `error` says why and the position is unspecified.
  bool ReadNumber(Number* number, std::string* error);
  // A constant expression: literals, unary and binary operators, ?:, casts,
  // parentheses, WARP_SZ. Floats only take a sign.
  bool ReadExpression(Number* number, std::string* error);

  // Moves to the next '{', ';' or '}', or to the end of the text.
  void SkipToBody();
  // At '{': moves behind the matching '}'. False at the end of the text.
  bool SkipBraces();
  void SkipToLineEnd();

  // For messages: the next word or character.
  std::string Quoted() const;

 private:
  friend class ExpressionReader;

  void NewLine() {
    ++at_;
    ++line_;
    line_start_ = at_;
  }
  bool SkipComment();
  bool ReadInteger(Number* number, std::string* error);
  bool ReadHexFloat(int digits, Number* number, std::string* error);
  bool ReadDecimalFloat(Number* number, std::string* error);

  const char* begin_;
  const char* at_;
  const char* end_;
  const char* line_start_;
  uint32_t line_ = 1;
  std::optional<SourceLocation> open_comment_;
};

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_CURSOR_H_
