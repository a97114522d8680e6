#include "tools/common/literal.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>

#include "tools/common/float_bits.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

using Kind = Literal::Kind;

absl::Status NotAValue(std::string_view text) {
  return absl::InvalidArgumentError(Cat("'", text, "' is not a number"));
}

// All of `text`, or false. `base` 16 takes no prefix.
bool ParseUnsigned(std::string_view text, int base, uint64_t& value) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value, base);
  return error == std::errc() && stop == end && !text.empty();
}

bool ParseReal(std::string_view text, std::chars_format format, double& value) {
  const char* end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, value, format);
  return error == std::errc() && stop == end && !text.empty();
}

absl::StatusOr<Literal> ParseHex(std::string_view text, std::string_view digits,
                                 bool negative) {
  if (digits.find_first_of(".pP") == std::string_view::npos) {
    uint64_t bits = 0;
    if (negative || !ParseUnsigned(digits, 16, bits)) return NotAValue(text);
    return Literal::Bits(bits);
  }
  double value = 0;
  if (!ParseReal(digits, std::chars_format::hex, value)) {
    return NotAValue(text);
  }
  return Literal::Real(negative ? -value : value);
}

absl::Status OutOfRange(std::string_view value, ElementType type) {
  return absl::InvalidArgumentError(
      Cat(value, " is out of range for ", NameOf(type)));
}

absl::StatusOr<uint64_t> EncodeInteger(const Literal& literal,
                                       ElementType type) {
  const uint64_t mask = MaskOf(type);
  if (literal.kind == Kind::kNegative) {
    const int64_t value = static_cast<int64_t>(literal.bits);
    if (InfoOf(type).kind != ElementKind::kSigned ||
        SignExtend(literal.bits & mask, type) != value) {
      return OutOfRange(Cat(value), type);
    }
    return literal.bits & mask;
  }
  const uint64_t max =
      InfoOf(type).kind == ElementKind::kSigned ? mask >> 1 : mask;
  if (literal.bits > max) return OutOfRange(Cat(literal.bits), type);
  return literal.bits;
}

std::string FormatFloat(uint64_t bits, ElementType type) {
  const double value = BitsToDouble(bits, type);
  if (std::isnan(value)) {
    if (bits == DoubleToBits(value, type)) return "nan";
    return Cat("nan(", HexText(bits), ")");
  }
  char text[64];
  std::to_chars_result result{};
  if (type == ElementType::kF64) {
    result = std::to_chars(text, text + sizeof text, value);
  } else if (type == ElementType::kF32) {
    result = std::to_chars(text, text + sizeof text, static_cast<float>(value));
  } else {
    // Five digits tell all halves apart, four all bfloat16.
    result = std::to_chars(text, text + sizeof text, value,
                           std::chars_format::general,
                           type == ElementType::kF16 ? 5 : 4);
  }
  return std::string(text, result.ptr);
}

}  // namespace

Literal Literal::Unsigned(uint64_t value) {
  Literal result;
  result.bits = value;
  return result;
}

Literal Literal::Integer(int64_t value) {
  Literal result = Unsigned(static_cast<uint64_t>(value));
  if (value < 0) result.kind = Kind::kNegative;
  return result;
}

Literal Literal::Real(double value) {
  Literal result;
  result.kind = Kind::kReal;
  result.real = value;
  return result;
}

Literal Literal::Bits(uint64_t bits) {
  Literal result;
  result.kind = Kind::kBits;
  result.bits = bits;
  return result;
}

absl::StatusOr<Literal> ParseLiteral(std::string_view text) {
  if (text == "true") return Literal::Unsigned(1);
  if (text == "false") return Literal::Unsigned(0);
  if (text == "nan") {
    return Literal::Real(std::numeric_limits<double>::quiet_NaN());
  }
  std::string_view rest = text;
  const bool negative = ConsumePrefix(&rest, "-");
  if (!negative) ConsumePrefix(&rest, "+");
  if (rest == "inf") {
    const double infinity = std::numeric_limits<double>::infinity();
    return Literal::Real(negative ? -infinity : infinity);
  }
  if (rest.empty() || !(IsDigit(rest[0]) || rest[0] == '.')) {
    return NotAValue(text);
  }
  if (rest.starts_with("0x") || rest.starts_with("0X")) {
    return ParseHex(text, rest.substr(2), negative);
  }
  uint64_t magnitude = 0;
  if (ParseUnsigned(rest, 10, magnitude)) {
    if (!negative) return Literal::Unsigned(magnitude);
    if (magnitude == 0) return Literal::Real(-0.0);
    if (magnitude <= uint64_t{1} << 63) {
      return Literal::Integer(static_cast<int64_t>(-magnitude));
    }
  }
  double value = 0;
  if (!ParseReal(rest, std::chars_format::general, value)) {
    return NotAValue(text);
  }
  return Literal::Real(negative ? -value : value);
}

absl::StatusOr<uint64_t> EncodeLiteral(const Literal& literal,
                                       ElementType type) {
  if (literal.kind == Kind::kVariable) {
    return absl::InternalError("a variable was not replaced by its value");
  }
  if (literal.kind == Kind::kBits) {
    if (literal.bits > MaskOf(type)) {
      return OutOfRange(HexText(literal.bits), type);
    }
    return literal.bits;
  }
  if (IsFloat(type)) return DoubleToBits(ToDouble(literal), type);
  if (literal.kind == Kind::kReal) {
    // "-0" is read as a real so that floats keep its sign.
    if (literal.real == 0) return 0;
    if (std::fabs(literal.real) >= 0x1p63) {
      return OutOfRange(Cat(literal.real), type);
    }
    return absl::InvalidArgumentError(
        Cat(literal.real, " is not an integer, as ", NameOf(type), " needs"));
  }
  return EncodeInteger(literal, type);
}

double ToDouble(const Literal& literal) {
  switch (literal.kind) {
    case Kind::kUnsigned:
      return static_cast<double>(literal.bits);
    case Kind::kNegative:
      return static_cast<double>(static_cast<int64_t>(literal.bits));
    case Kind::kReal:
      return literal.real;
    default:
      return BitsToDouble(literal.bits, ElementType::kF64);
  }
}

double ElementToDouble(uint64_t bits, ElementType type) {
  switch (InfoOf(type).kind) {
    case ElementKind::kSigned:
      return static_cast<double>(SignExtend(bits, type));
    case ElementKind::kFloat:
      return BitsToDouble(bits, type);
    default:
      return static_cast<double>(bits);
  }
}

std::string FormatElement(uint64_t bits, ElementType type) {
  switch (InfoOf(type).kind) {
    case ElementKind::kSigned:
      return Cat(SignExtend(bits, type));
    case ElementKind::kUnsigned:
      return Cat(bits);
    case ElementKind::kPointer:
      return HexText(bits);
    case ElementKind::kFloat:
      return FormatFloat(bits, type);
  }
  return "";
}

uint64_t LoadElement(const void* data, ElementType type) {
  uint64_t bits = 0;
  std::memcpy(&bits, data, SizeOf(type));
  return bits;
}

void StoreElement(void* data, uint64_t bits, ElementType type) {
  std::memcpy(data, &bits, SizeOf(type));
}

int64_t SignExtend(uint64_t bits, ElementType type) {
  const int shift = 64 - 8 * static_cast<int>(SizeOf(type));
  return static_cast<int64_t>(bits << shift) >> shift;
}

absl::StatusOr<uint64_t> ParseCount(std::string_view text) {
  std::string_view digits = text;
  int shift = 0;
  if (ConsumeSuffix(&digits, "K"))
    shift = 10;
  else if (ConsumeSuffix(&digits, "M"))
    shift = 20;
  else if (ConsumeSuffix(&digits, "G"))
    shift = 30;
  uint64_t value = 0;
  if (!ParseUnsigned(digits, 10, value) || value > (~uint64_t{0} >> shift)) {
    return absl::InvalidArgumentError(
        Cat("'", text,
            "' is not a count, expected digits and an optional K, M "
            "or G"));
  }
  return value << shift;
}

}  // namespace hetgpu::tools
