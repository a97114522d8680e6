// Arithmetic helpers. Compiled with -frounding-math.
#include <cmath>

#include "backends/cpu/helpers.h"
#include "backends/cpu/rounding.h"
#include "backends/cpu/small_float.h"

namespace hetgpu::cpu {
namespace {

// `operation` of opaque operands, in mode `round`.
template <typename Operation, typename... Operands>
auto Rounded(uint32_t round, Operation operation, Operands... operands) {
  ScopedRound scope(round);
  return Opaque(operation(Opaque(operands)...));
}

}  // namespace

namespace helper {

float add_f32(float a, float b, uint32_t round) {
  return Rounded(
      round, [](float x, float y) { return x + y; }, a, b);
}

float mul_f32(float a, float b, uint32_t round) {
  return Rounded(
      round, [](float x, float y) { return x * y; }, a, b);
}

float fma_f32(float a, float b, float c, uint32_t round) {
  return Rounded(
      round, [](float x, float y, float z) { return std::fma(x, y, z); }, a, b,
      c);
}

float div_f32(float a, float b, uint32_t round) {
  return Rounded(
      round, [](float x, float y) { return x / y; }, a, b);
}

float sqrt_f32(float a, uint32_t round) {
  return Rounded(
      round, [](float x) { return std::sqrt(x); }, a);
}

double add_f64(double a, double b, uint32_t round) {
  return Rounded(
      round, [](double x, double y) { return x + y; }, a, b);
}

double mul_f64(double a, double b, uint32_t round) {
  return Rounded(
      round, [](double x, double y) { return x * y; }, a, b);
}

double fma_f64(double a, double b, double c, uint32_t round) {
  return Rounded(
      round, [](double x, double y, double z) { return std::fma(x, y, z); }, a,
      b, c);
}

double div_f64(double a, double b, uint32_t round) {
  return Rounded(
      round, [](double x, double y) { return x / y; }, a, b);
}

double sqrt_f64(double a, uint32_t round) {
  return Rounded(
      round, [](double x) { return std::sqrt(x); }, a);
}

float f64_to_f32(double a, uint32_t round) {
  return Rounded(
      round, [](double x) { return static_cast<float>(x); }, a);
}

float s64_to_f32(int64_t a, uint32_t round) {
  return Rounded(
      round, [](int64_t x) { return static_cast<float>(x); }, a);
}

// Above the signed range: half of the value with the lost bit kept as sticky,
// doubled exactly.
float u64_to_f32(uint64_t a, uint32_t round) {
  if (a >> 63 == 0) return s64_to_f32(static_cast<int64_t>(a), round);
  return 2 * s64_to_f32(static_cast<int64_t>(a >> 1 | (a & 1)), round);
}

double s64_to_f64(int64_t a, uint32_t round) {
  return Rounded(
      round, [](int64_t x) { return static_cast<double>(x); }, a);
}

double u64_to_f64(uint64_t a, uint32_t round) {
  if (a >> 63 == 0) return s64_to_f64(static_cast<int64_t>(a), round);
  return 2 * s64_to_f64(static_cast<int64_t>(a >> 1 | (a & 1)), round);
}

uint16_t f32_to_f16(float a, uint32_t round) {
  return DoubleToHalf(a, static_cast<Round>(round));
}

uint16_t f64_to_f16(double a, uint32_t round) {
  return DoubleToHalf(a, static_cast<Round>(round));
}

uint16_t f32_to_bf16(float a, uint32_t round) {
  return DoubleToBfloat(a, static_cast<Round>(round));
}

uint16_t fma_f16(uint16_t a, uint16_t b, uint16_t c) {
  return FmaHalf(a, b, c);
}

uint16_t fma_bf16(uint16_t a, uint16_t b, uint16_t c) {
  return FmaBfloat(a, b, c);
}

}  // namespace helper
}  // namespace hetgpu::cpu
