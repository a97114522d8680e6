// Errors of the approximate functions against long double references, over
// dense sweeps. The bounds are round ones, the measured values are printed;
// tests/approx holds the functions to the errors of real hardware.
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "backends/cpu/compile/op_test.h"

namespace hetgpu::cpu {
namespace {

constexpr size_t kSamples = 1 << 19;

// Runs a one-operand f32 function over `inputs`.
std::vector<float> Evaluate(const std::string& text,
                            const std::vector<float>& inputs) {
  std::vector<std::vector<Bits>> tuples;
  for (float x : inputs) tuples.push_back({std::bit_cast<uint32_t>(x)});
  std::vector<float> results;
  OpCase op;
  op.text = "  %r = " + text;
  op.inputs = {"f32"};
  op.output = "f32";
  op.expected = [](const std::vector<Bits>&) { return Bits{0}; };
  op.equal = [&](Bits result, Bits) {
    results.push_back(std::bit_cast<float>(static_cast<uint32_t>(result)));
    return true;
  };
  op.modes = "simd";
  CheckOp(op, std::move(tuples));
  return results;
}

std::vector<float> Uniform(float low, float high) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> in(low, high);
  std::vector<float> values(kSamples);
  for (float& value : values) value = in(random);
  return values;
}

// Every exponent equally often.
std::vector<float> PositiveBits() {
  std::mt19937 random(2);
  std::vector<float> values(kSamples);
  for (float& value : values) {
    value = std::bit_cast<float>(
        static_cast<uint32_t>(random() % 0x7f800000u));
  }
  return values;
}

struct Errors {
  long double absolute = 0;
  long double relative = 0;
  long double ulp = 0;
};

Errors Measure(const char* name, const std::string& text,
               const std::vector<float>& inputs,
               long double (*reference)(long double)) {
  std::vector<float> results = Evaluate(text, inputs);
  EXPECT_EQ(results.size(), inputs.size());
  Errors errors;
  for (size_t i = 0; i < results.size(); ++i) {
    long double exact = reference(inputs[i]);
    long double difference = std::fabs(results[i] - exact);
    if (!std::isfinite(results[i]) && std::isfinite(exact) &&
        std::fabs(exact) > std::numeric_limits<float>::max()) {
      continue;
    }
    errors.absolute = std::max(errors.absolute, difference);
    if (exact != 0) {
      errors.relative =
          std::max(errors.relative, difference / std::fabs(exact));
    }
    int exponent = std::max(std::ilogb(exact), -126);
    errors.ulp = std::max(errors.ulp, std::ldexp(difference, 23 - exponent));
  }
  std::printf("%s: absolute 2^%.2Lf, relative 2^%.2Lf, %.2Lf ulp\n", name,
              std::log2(errors.absolute), std::log2(errors.relative),
              errors.ulp);
  return errors;
}

TEST(Approximations, Ex2) {
  Errors errors = Measure("ex2", "hetir.approx ex2 %a : f32",
                          Uniform(-149, 128), std::exp2);
  EXPECT_LE(errors.ulp, 2);
  errors = Measure("ex2 near 0", "hetir.approx ex2 %a : f32",
                   Uniform(-1, 1), std::exp2);
  EXPECT_LE(errors.ulp, 2);
}

TEST(Approximations, Lg2) {
  Errors errors = Measure("lg2 in (0.5, 2)", "hetir.approx lg2 %a : f32",
                          Uniform(0.5f, 2), std::log2);
  EXPECT_LE(errors.absolute, std::exp2(-22.0L));
  std::vector<float> outside = PositiveBits();
  for (float& x : outside) {
    if ((x > 0.5f && x < 2) || x == 0) x = 3;
  }
  errors = Measure("lg2 elsewhere", "hetir.approx lg2 %a : f32", outside,
                   std::log2);
  EXPECT_LE(errors.relative, std::exp2(-22.0L));
}

TEST(Approximations, SinCos) {
  constexpr float kPi = 3.14159265f;
  for (bool cosine : {false, true}) {
    std::string text = cosine ? "hetir.approx cos %a : f32"
                              : "hetir.approx sin %a : f32";
    using Reference = long double (*)(long double);
    Reference reference = cosine ? static_cast<Reference>(std::cos)
                                 : static_cast<Reference>(std::sin);
    const char* name = cosine ? "cos" : "sin";
    Errors errors =
        Measure(name, text, Uniform(-2 * kPi, 2 * kPi), reference);
    EXPECT_LE(errors.absolute, std::exp2(-20.5L));
    errors =
        Measure(name, text, Uniform(-100 * kPi, 100 * kPi), reference);
    EXPECT_LE(errors.absolute, std::exp2(-14.7L));
  }
}

TEST(Approximations, Tanh) {
  Errors errors = Measure("tanh", "hetir.approx tanh %a : f32",
                          Uniform(-10, 10), std::tanh);
  EXPECT_LE(errors.relative, std::exp2(-11.0L));
  errors = Measure("tanh near 0", "hetir.approx tanh %a : f32",
                   Uniform(-1e-3f, 1e-3f), std::tanh);
  EXPECT_LE(errors.relative, std::exp2(-11.0L));
}

TEST(Approximations, RsqrtRcpSqrt) {
  Errors errors = Measure(
      "rsqrt", "hetir.approx rsqrt %a : f32", PositiveBits(),
      [](long double x) { return 1 / std::sqrt(x); });
  EXPECT_LE(errors.relative, std::exp2(-22.9L));
  errors = Measure("rcp", "hetir.frcp %a {rounding = #hetir.rounding<approx>} "
                          ": f32",
                   Uniform(1e-30f, 1e30f),
                   [](long double x) { return 1 / x; });
  EXPECT_LE(errors.ulp, 1);
  errors = Measure("sqrt",
                   "hetir.fsqrt %a {rounding = #hetir.rounding<approx>} : f32",
                   PositiveBits(), std::sqrt);
  EXPECT_LE(errors.ulp, 1);
}

// PTX's tables of special values.
TEST(Approximations, Specials) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  struct Case {
    const char* function;
    float input;
    float result;
  };
  constexpr Case kCases[] = {
      {"ex2", -kInf, 0}, {"ex2", kInf, kInf}, {"ex2", 0, 1},
      {"ex2", -0.0f, 1}, {"ex2", kNan, kNan}, {"ex2", 200, kInf},
      {"ex2", -200, 0},  {"lg2", 0, -kInf},   {"lg2", -0.0f, -kInf},
      {"lg2", kInf, kInf}, {"lg2", -1, kNan}, {"lg2", kNan, kNan},
      {"lg2", -kInf, kNan}, {"lg2", 0x1p-149f, -149}, {"lg2", 1, 0},
      {"sin", 0, 0},     {"sin", -0.0f, -0.0f}, {"sin", kInf, kNan},
      {"sin", -kInf, kNan}, {"sin", kNan, kNan}, {"cos", 0, 1},
      {"cos", -0.0f, 1}, {"cos", kInf, kNan}, {"cos", kNan, kNan},
      {"tanh", 0, 0},    {"tanh", -0.0f, -0.0f}, {"tanh", kInf, 1},
      {"tanh", -kInf, -1}, {"tanh", kNan, kNan}, {"rsqrt", 0, kInf},
      {"rsqrt", -0.0f, -kInf}, {"rsqrt", kInf, 0}, {"rsqrt", -1, kNan},
      {"rsqrt", kNan, kNan},
  };
  for (const Case& test : kCases) {
    std::vector<float> result = Evaluate(
        "hetir.approx " + std::string(test.function) + " %a : f32",
        {test.input});
    ASSERT_EQ(result.size(), 1u);
    uint32_t expected = std::isnan(test.result)
                            ? 0x7fffffffu
                            : std::bit_cast<uint32_t>(test.result);
    EXPECT_EQ(std::bit_cast<uint32_t>(result[0]), expected)
        << test.function << " of " << test.input;
  }
}

}  // namespace
}  // namespace hetgpu::cpu
