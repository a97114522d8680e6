#include "backends/cpu/small_float.h"

#include <bit>
#include <cmath>

namespace hetgpu::cpu {
namespace {

// A 16-bit format: sign, exponent, `mantissa` stored bits.
struct Format {
  int mantissa;
  int exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int min_exponent() const { return 1 - bias(); }
  uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa; }
};

constexpr Format kHalf = {10, 5};
constexpr Format kBfloat = {7, 8};
constexpr uint16_t kCanonicalNan = 0x7fff;
constexpr int kDoubleMantissa = 52;
constexpr int kDoubleBias = 1023;

bool RoundsUp(Round round, bool negative, bool odd, bool half, bool sticky) {
  switch (round) {
    case Round::kRn:
      return half && (sticky || odd);
    case Round::kRz:
      return false;
    case Round::kRm:
      return negative && (half || sticky);
    case Round::kRp:
      return !negative && (half || sticky);
  }
  return false;
}

// `magnitude` >> `shift`, rounded; 0 < shift.
uint64_t ShiftRounded(uint64_t magnitude, int shift, Round round,
                      bool negative) {
  if (shift > 63) shift = 63;  // all that is left is sticky
  const uint64_t kept = magnitude >> shift;
  const bool half = magnitude >> (shift - 1) & 1;
  const bool sticky = (magnitude & ((uint64_t{1} << (shift - 1)) - 1)) != 0;
  return kept + RoundsUp(round, negative, kept & 1, half, sticky);
}

uint16_t Narrow(double value, Round round, const Format& format) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const bool negative = bits >> 63;
  const uint16_t sign = negative ? 0x8000 : 0;
  if (std::isnan(value)) return kCanonicalNan;
  if (std::isinf(value)) return sign | static_cast<uint16_t>(format.infinity());
  const uint64_t fraction = bits & ((uint64_t{1} << kDoubleMantissa) - 1);
  int exponent = static_cast<int>(bits >> kDoubleMantissa & 0x7ff);
  // Subnormal doubles are far below half of the smallest result: sticky bits.
  const uint64_t magnitude =
      exponent == 0 ? fraction : fraction | uint64_t{1} << kDoubleMantissa;
  exponent = (exponent == 0 ? 1 : exponent) - kDoubleBias;
  int shift = kDoubleMantissa - format.mantissa;
  uint32_t biased = 0;
  if (exponent >= format.min_exponent()) {
    // The implicit bit, added to the field, makes up for the missing one.
    biased = static_cast<uint32_t>(exponent + format.bias() - 1);
  } else {
    shift += format.min_exponent() - exponent;
  }
  const uint64_t rounded = ShiftRounded(magnitude, shift, round, negative);
  const uint64_t result = (uint64_t{biased} << format.mantissa) + rounded;
  if (result < format.infinity()) {
    return sign | static_cast<uint16_t>(result);
  }
  const bool to_infinity = round == Round::kRn ||
                           (round == Round::kRp && !negative) ||
                           (round == Round::kRm && negative);
  return sign | static_cast<uint16_t>(format.infinity() - !to_infinity);
}

double Widen(uint16_t bits, const Format& format) {
  const bool negative = bits >> 15;
  const int exponent = (bits & 0x7fff) >> format.mantissa;
  const int fraction = bits & ((1 << format.mantissa) - 1);
  double value;
  if (exponent == (1 << format.exponent_bits) - 1) {
    value = fraction != 0 ? NAN : INFINITY;
  } else if (exponent == 0) {
    value = std::ldexp(fraction, format.min_exponent() - format.mantissa);
  } else {
    value = std::ldexp(fraction + (1 << format.mantissa),
                       exponent - format.bias() - format.mantissa);
  }
  return negative ? -value : value;
}

// a * b is exact in double; the sum is rounded to odd, which keeps what a
// second rounding to at most 51 bits must know.
double FmaToOdd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  if (!std::isfinite(sum) || sum == 0) return sum;
  // Knuth's two-sum: the exact error of the addition.
  const double c_part = sum - product;
  const double error = (product - (sum - c_part)) + (c - c_part);
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  // Even and inexact: the odd neighbour on the error's side.
  const bool away = std::signbit(error) == std::signbit(sum);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

}  // namespace

uint16_t DoubleToHalf(double value, Round round) {
  return Narrow(value, round, kHalf);
}

uint16_t DoubleToBfloat(double value, Round round) {
  return Narrow(value, round, kBfloat);
}

double HalfToDouble(uint16_t bits) { return Widen(bits, kHalf); }

double BfloatToDouble(uint16_t bits) { return Widen(bits, kBfloat); }

uint16_t FmaHalf(uint16_t a, uint16_t b, uint16_t c) {
  return DoubleToHalf(
      FmaToOdd(HalfToDouble(a), HalfToDouble(b), HalfToDouble(c)), Round::kRn);
}

uint16_t FmaBfloat(uint16_t a, uint16_t b, uint16_t c) {
  return DoubleToBfloat(
      FmaToOdd(BfloatToDouble(a), BfloatToDouble(b), BfloatToDouble(c)),
      Round::kRn);
}

}  // namespace hetgpu::cpu
