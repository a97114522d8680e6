// The errors of approximate functions on a device, against those of an NVIDIA
// H200: programs made for that get nothing worse.
// HETGPU_TEST_DEVICE names the device (cpu:0); HETGPU_APPROX_STRIDE=1 sweeps
// every bit pattern instead of one in a few thousand.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

#include "gtest/gtest.h"
#include "hetgpu/hetgpu.hpp"

namespace hetgpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kGreatest = std::numeric_limits<float>::max();
constexpr double kLeastNormal = std::numeric_limits<float>::min();
constexpr double kPi = 3.14159265358979;

// As in approx_errors.cu.
struct Errors {
  double absolute = 0;
  double relative = 0;
  double ulp = 0;
};

struct Sweep {
  double low;
  double high;
  uint64_t first;
  uint64_t stride;
  uint64_t count;
  uint64_t errors;
};

// On inputs in [low, high] each error is at most its bound.
struct Row {
  const char* kernel;
  double low;
  double high;
  Errors bound;
};

constexpr Errors Absolute(double bound) {
  return {bound, kInfinity, kInfinity};
}
constexpr Errors Relative(double bound) {
  return {kInfinity, bound, kInfinity};
}
constexpr Errors Ulp(double bound) { return {kInfinity, kInfinity, bound}; }

// The bounds: what every input gives on an H200, the last digit rounded up.
const Row kRows[] = {
    {"ex2_f32", -149, 127.99999, Ulp(2.39)},
    {"lg2_f32", 0.50000006, 1.9999999, Absolute(std::exp2(-22.14))},
    {"lg2_f32", 1e-45, 0.5, Relative(std::exp2(-22.05))},
    {"lg2_f32", 2, kGreatest, Relative(std::exp2(-22.64))},
    {"sin_f32", -2 * kPi, 2 * kPi, Absolute(std::exp2(-20.54))},
    {"cos_f32", -2 * kPi, 2 * kPi, Absolute(std::exp2(-20.42))},
    {"sin_f32", -100 * kPi, 100 * kPi, Absolute(std::exp2(-14.73))},
    {"cos_f32", -100 * kPi, 100 * kPi, Absolute(std::exp2(-14.73))},
    {"tanh_f32", kLeastNormal, kGreatest, Relative(std::exp2(-16.45))},
    {"tanh_f32", -kGreatest, -kLeastNormal, Relative(std::exp2(-16.45))},
    {"rsqrt_f32", kLeastNormal, kGreatest, Relative(std::exp2(-22.93))},
    {"rcp_f32", kLeastNormal, 0x1p126, Ulp(0.98)},
    {"rcp_f32", -0x1p126, -kLeastNormal, Ulp(0.98)},
    {"sqrt_f32", kLeastNormal, kGreatest, Relative(std::exp2(-23.24))},
    {"ex2_f16", -14, 15.9921875, Relative(std::exp2(-9.99))},
    {"tanh_f16", -65504, 65504, Absolute(std::exp2(-10.98))},
    {"ex2_bf16", -126, 127.5, Relative(std::exp2(-7.01))},
    {"tanh_bf16", -kGreatest, kGreatest, Absolute(std::exp2(-7.99))},
};

std::string Variable(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

class ApproxErrorsTest : public testing::TestWithParam<Row> {
 protected:
  static void SetUpTestSuite() {
    context_ = new Context(
        std::move(*Context::Create(Variable("HETGPU_TEST_DEVICE", "cpu:0"))));
    module_ = new Module(std::move(*Module::FromFile(
        *context_, HETGPU_SOURCE_DIR "/tests/approx/approx_errors.ptx")));
  }
  static void TearDownTestSuite() {
    delete module_;
    delete context_;
  }

  static Context* context_;
  static Module* module_;
};
Context* ApproxErrorsTest::context_ = nullptr;
Module* ApproxErrorsTest::module_ = nullptr;

TEST_P(ApproxErrorsTest, AreAtMostThoseOfTheHardware) {
  const Row& row = GetParam();
  const bool single = std::string(row.kernel).ends_with("_f32");
  const uint64_t patterns = single ? uint64_t{1} << 32 : uint64_t{1} << 16;
  // Odd, so that every bit of a pattern takes both values.
  const uint64_t stride =
      single ? std::stoull(Variable("HETGPU_APPROX_STRIDE", "20011")) : 1;

  auto errors = *Buffer<Errors>::FromHost(*context_, {Errors()});
  const Sweep sweep = {
      row.low,         row.high, 0, stride, (patterns + stride - 1) / stride,
      errors.address()};
  module_->GetFunction(row.kernel)->Launch({1056}, {256}, sweep).Check();
  context_->Synchronize().Check();
  const Errors measured = errors.ToHost()->front();
  std::printf("%s in [%g, %g]: absolute 2^%.2f, relative 2^%.2f, %.2f ulp\n",
              row.kernel, row.low, row.high, std::log2(measured.absolute),
              std::log2(measured.relative), measured.ulp);
  EXPECT_GT(measured.absolute, 0);  // it has compared something
  EXPECT_LE(measured.absolute, row.bound.absolute);
  EXPECT_LE(measured.relative, row.bound.relative);
  EXPECT_LE(measured.ulp, row.bound.ulp);
}

INSTANTIATE_TEST_SUITE_P(All, ApproxErrorsTest, testing::ValuesIn(kRows),
                         [](const auto& info) {
                           return std::string(info.param.kernel) + "_" +
                                  std::to_string(info.index);
                         });

}  // namespace
}  // namespace hetgpu
