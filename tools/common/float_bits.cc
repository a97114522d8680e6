#include "tools/common/float_bits.h"

#include <bit>
#include <cmath>

namespace hetgpu::tools {
namespace {

// Rounds a double to a 16-bit format with `kMantissa` explicit bits.
template <int kMantissa>
uint16_t Narrow(double value) {
  constexpr int kExponentBits = 15 - kMantissa;
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr uint16_t kInfinity = ((1u << kExponentBits) - 1) << kMantissa;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 48) & 0x8000;
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  if (exponent == 1024) {
    if (std::isnan(value)) return kInfinity | (1u << (kMantissa - 1));
    return sign | kInfinity;
  }
  if (exponent > kBias) return sign | kInfinity;
  // Below half of the least denormal (and all double denormals): zero.
  if (exponent < 1 - kBias - kMantissa - 1) return sign;
  const uint64_t significand =
      (bits & ((uint64_t{1} << 52) - 1)) | (uint64_t{1} << 52);
  const bool normal = exponent >= 1 - kBias;
  const int drop = 52 - kMantissa + (normal ? 0 : 1 - kBias - exponent);
  const uint64_t half = uint64_t{1} << (drop - 1);
  const uint64_t odd = (significand >> drop) & 1;
  const uint64_t rounded = (significand + half - 1 + odd) >> drop;
  // The implicit bit adds one to the exponent field, and so does a carry.
  const uint64_t field =
      normal ? static_cast<uint64_t>(exponent + kBias - 1) << kMantissa : 0;
  return static_cast<uint16_t>(sign | (field + rounded));
}

template <int kMantissa>
double Widen(uint16_t bits) {
  constexpr int kExponentBits = 15 - kMantissa;
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  const uint64_t sign = static_cast<uint64_t>(bits & 0x8000) << 48;
  const uint32_t exponent = (bits & 0x7fff) >> kMantissa;
  const uint64_t mantissa = bits & ((1u << kMantissa) - 1);
  if (exponent == (1u << kExponentBits) - 1) {
    return std::bit_cast<double>(sign | (uint64_t{0x7ff} << 52) |
                                 (mantissa << (52 - kMantissa)));
  }
  if (exponent == 0) {
    const double magnitude =
        std::ldexp(static_cast<double>(mantissa), 1 - kBias - kMantissa);
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<double>(
      sign | (static_cast<uint64_t>(exponent) - kBias + 1023) << 52 |
      (mantissa << (52 - kMantissa)));
}

}  // namespace

uint16_t DoubleToHalf(double value) { return Narrow<10>(value); }
uint16_t DoubleToBFloat16(double value) { return Narrow<7>(value); }
double HalfToDouble(uint16_t bits) { return Widen<10>(bits); }
double BFloat16ToDouble(uint16_t bits) { return Widen<7>(bits); }

uint64_t DoubleToBits(double value, ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return DoubleToHalf(value);
    case ElementType::kBF16:
      return DoubleToBFloat16(value);
    case ElementType::kF32:
      return std::isnan(value)
                 ? 0x7fc00000
                 : std::bit_cast<uint32_t>(static_cast<float>(value));
    default:
      return std::isnan(value) ? uint64_t{0x7ff8000000000000}
                               : std::bit_cast<uint64_t>(value);
  }
}

double BitsToDouble(uint64_t bits, ElementType type) {
  switch (type) {
    case ElementType::kF16:
      return HalfToDouble(static_cast<uint16_t>(bits));
    case ElementType::kBF16:
      return BFloat16ToDouble(static_cast<uint16_t>(bits));
    case ElementType::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    default:
      return std::bit_cast<double>(bits);
  }
}

}  // namespace hetgpu::tools
