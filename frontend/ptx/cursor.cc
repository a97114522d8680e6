#include "frontend/ptx/cursor.h"

#include <charconv>
#include <cstring>

#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

}  // namespace

bool Cursor::SkipComment() {
  if (PeekAt(1) == '/') {
    SkipToLineEnd();
    return true;
  }
  if (PeekAt(1) != '*') return false;
  const SourceLocation start = Here();
  at_ += 2;
  while (!AtEnd()) {
    if (*at_ == '*' && PeekAt(1) == '/') {
      at_ += 2;
      return true;
    }
    if (*at_ == '\n') {
      NewLine();
    } else {
      ++at_;
    }
  }
  open_comment_ = start;
  return true;
}

void Cursor::SkipToLineEnd() {
  const void* newline = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
  at_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
}

std::string_view Cursor::Directive() {
  SkipSpace();
  if (*at_ != '.') return {};
  const char* start = ++at_;
  while (HasClass(*at_, kNameChar) ||
         (*at_ == ':' && PeekAt(1) == ':' && HasClass(PeekAt(2), kNameChar))) {
    at_ += *at_ == ':' ? 2 : 1;
  }
  return {start, static_cast<size_t>(at_ - start)};
}

std::string_view Cursor::PeekDirective() {
  SkipSpace();
  const char* saved = at_;
  std::string_view word = Directive();
  at_ = saved;
  return word;
}

bool Cursor::QuotedString(std::string_view* text) {
  SkipSpace();
  if (*at_ != '"') return false;
  const char* start = ++at_;
  while (!AtEnd() && *at_ != '"' && *at_ != '\n') {
    at_ += *at_ == '\\' && PeekAt(1) != '\n' && at_ + 1 < end_ ? 2 : 1;
  }
  *text = {start, static_cast<size_t>(at_ - start)};
  if (AtEnd() || *at_ != '"') return false;
  ++at_;
  return true;
}

bool Cursor::ReadNumber(Number* number, std::string* error) {
  if (!HasClass(*at_, kDigit)) {
    *error = Cat("expected a number, found ", Quoted());
    return false;
  }
  char second = PeekAt(1);
  if (*at_ == '0' && (second == 'f' || second == 'F')) {
    return ReadHexFloat(8, number, error);
  }
  if (*at_ == '0' && (second == 'd' || second == 'D')) {
    return ReadHexFloat(16, number, error);
  }
  const char* scan = at_;
  while (HasClass(*scan, kDigit)) ++scan;
  bool hex = *at_ == '0' && (second == 'x' || second == 'X');
  if (!hex && (*scan == '.' || *scan == 'e' || *scan == 'E')) {
    return ReadDecimalFloat(number, error);
  }
  return ReadInteger(number, error);
}

bool Cursor::ReadInteger(Number* number, std::string* error) {
  const char* start = at_;
  uint64_t base = 10;
  if (*at_ == '0') {
    char second = PeekAt(1);
    if (second == 'x' || second == 'X') {
      base = 16;
      at_ += 2;
    } else if (second == 'b' || second == 'B') {
      base = 2;
      at_ += 2;
    } else if (HasClass(second, kDigit)) {
      base = 8;
    }
  }
  const char* digits = at_;
  uint64_t value = 0;
  bool overflow = false;
  while (static_cast<uint64_t>(DigitValue(*at_)) < base) {
    overflow |= __builtin_mul_overflow(value, base, &value);
    overflow |= __builtin_add_overflow(
        value, static_cast<uint64_t>(DigitValue(*at_)), &value);
    ++at_;
  }
  bool empty = at_ == digits;
  bool suffix = *at_ == 'U';
  if (suffix) ++at_;
  if (empty || HasClass(*at_, kNameChar)) {
    while (HasClass(*at_, kNameChar)) ++at_;
    *error =
        Cat("malformed number '", std::string_view(start, at_ - start), "'");
    return false;
  }
  if (overflow) {
    *error = Cat("integer '", std::string_view(start, at_ - start),
                 "' does not fit in 64 bits");
    return false;
  }
  *number = {NumberKind::kInteger, suffix || (value >> 63) != 0, value};
  return true;
}

bool Cursor::ReadHexFloat(int digits, Number* number, std::string* error) {
  const char* start = at_;
  at_ += 2;
  uint64_t bits = 0;
  int count = 0;
  while (count < digits && DigitValue(*at_) < 16) {
    bits = bits << 4 | static_cast<uint64_t>(DigitValue(*at_++));
    ++count;
  }
  if (count != digits || HasClass(*at_, kNameChar)) {
    while (HasClass(*at_, kNameChar)) ++at_;
    *error = Cat("malformed float '", std::string_view(start, at_ - start),
                 "': expected ", digits, " hexadecimal digits");
    return false;
  }
  *number = {digits == 8 ? NumberKind::kF32 : NumberKind::kF64, false, bits};
  return true;
}

bool Cursor::ReadDecimalFloat(Number* number, std::string* error) {
  double value = 0;
  auto [after, code] = std::from_chars(at_, end_, value);
  if (code != std::errc() || HasClass(*after, kNameChar)) {
    const char* start = at_;
    while (HasClass(*at_, kNameChar) || *at_ == '.') ++at_;
    *error =
        Cat("malformed float '", std::string_view(start, at_ - start), "'");
    return false;
  }
  at_ = after;
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  *number = {NumberKind::kF64, false, bits};
  return true;
}

bool Cursor::SkipBraces() {
  int depth = 0;
  while (true) {
    SkipSpace();
    if (AtEnd()) return false;
    char c = *at_;
    if (c == '"') {
      std::string_view ignored;
      QuotedString(&ignored);
      continue;
    }
    ++at_;
    if (c == '{') ++depth;
    if (c == '}' && --depth == 0) return true;
    // Runs of plain characters need no look at comments or line ends.
    while (HasClass(*at_, kNameChar)) ++at_;
  }
}

void Cursor::SkipToBody() {
  while (true) {
    SkipSpace();
    if (AtEnd() || *at_ == '{' || *at_ == ';' || *at_ == '}') return;
    std::string_view ignored;
    if (*at_ != '"' || !QuotedString(&ignored)) ++at_;
  }
}

std::string Cursor::Quoted() const {
  if (AtEnd()) return "the end of the file";
  const char* scan = at_ + 1;
  if (HasClass(*at_, kNameStart | kNameChar) || *at_ == '.') {
    while (HasClass(*scan, kNameChar) || *scan == '.') ++scan;
  }
  constexpr long kLongest = 60;
  std::string out = "'";
  for (const char* c = at_; c < scan && c - at_ < kLongest; ++c) {
    out += *c >= ' ' && *c < 127 ? *c : '?';
  }
  return out + "'";
}

}  // namespace hetgpu::ptx
