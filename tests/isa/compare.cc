#include "tests/isa/compare.h"

#include <bit>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace hetgpu::isa {
namespace {

// A binary interchange format; integers have no exponent bits.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  int width;  // of one number; packed types hold two
};

Format FormatOf(ElementType type) {
  switch (type) {
    case ElementType::kF16:
    case ElementType::kF16x2:
      return {5, 10, 16};
    case ElementType::kBf16:
    case ElementType::kBf16x2:
      return {8, 7, 16};
    case ElementType::kF32:
      return {8, 23, 32};
    case ElementType::kF64:
      return {11, 52, 64};
    default:
      return {0, 0, static_cast<int>(8 * ElementSize(type))};
  }
}

uint64_t Magnitude(const Format& format, uint64_t bits) {
  return bits & ((uint64_t{1} << (format.width - 1)) - 1);
}

uint64_t Infinity(const Format& format) {
  return ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
}

bool IsNan(const Format& format, uint64_t bits) {
  return format.exponent_bits != 0 &&
         Magnitude(format, bits) > Infinity(format);
}

bool IsNegative(const Format& format, uint64_t bits) {
  return (bits >> (format.width - 1)) & 1;
}

// How many steps lie between two numbers that are not NaN; +0 is -0.
uint64_t StepsApart(const Format& format, uint64_t a, uint64_t b) {
  uint64_t x = Magnitude(format, a), y = Magnitude(format, b);
  if (IsNegative(format, a) != IsNegative(format, b)) return x + y;
  return x > y ? x - y : y - x;
}

double ToDouble(const Format& format, uint64_t bits) {
  uint64_t magnitude = Magnitude(format, bits);
  double sign = IsNegative(format, bits) ? -1.0 : 1.0;
  if (magnitude > Infinity(format)) return std::nan("");
  if (magnitude == Infinity(format)) return sign * HUGE_VAL;
  int bias = (1 << (format.exponent_bits - 1)) - 1;
  uint64_t one = uint64_t{1} << format.mantissa_bits;
  int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  uint64_t mantissa = magnitude & (one - 1);
  if (exponent != 0) mantissa |= one;
  return sign * std::ldexp(static_cast<double>(mantissa),
                           (exponent ? exponent : 1) - bias -
                               format.mantissa_bits);
}

bool NumberMatches(const Format& format, const Compare& compare,
                   uint64_t expected, uint64_t got) {
  if (expected == got) return true;
  if (compare.kind == Compare::Kind::kExact) return false;
  if (IsNan(format, expected) || IsNan(format, got)) {
    return IsNan(format, expected) && IsNan(format, got);
  }
  if (compare.kind == Compare::Kind::kNan) return false;
  if (StepsApart(format, expected, got) <= compare.ulp) return true;
  double difference = ToDouble(format, expected) - ToDouble(format, got);
  return compare.absolute > 0 && std::isfinite(difference) &&
         std::fabs(difference) <= compare.absolute;
}

}  // namespace

bool Matches(ElementType type, const Compare& compare, uint64_t expected,
             uint64_t got) {
  Format format = FormatOf(type);
  int total = static_cast<int>(8 * ElementSize(type));
  uint64_t mask = ~uint64_t{0} >> (64 - format.width);
  for (int shift = 0; shift < total; shift += format.width) {
    if (!NumberMatches(format, compare, (expected >> shift) & mask,
                       (got >> shift) & mask)) {
      return false;
    }
  }
  return true;
}

std::string Describe(ElementType type, uint64_t bits) {
  Format format = FormatOf(type);
  int total = static_cast<int>(8 * ElementSize(type));
  std::string text = absl::StrCat("0x", absl::Hex(bits));
  if (format.exponent_bits == 0) return text;
  uint64_t mask = ~uint64_t{0} >> (64 - format.width);
  for (int shift = 0; shift < total; shift += format.width) {
    absl::StrAppend(&text, shift ? ", " : " (",
                    ToDouble(format, (bits >> shift) & mask));
  }
  return absl::StrCat(text, ")");
}

}  // namespace hetgpu::isa
