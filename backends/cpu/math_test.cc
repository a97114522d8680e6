// Arithmetic helpers against exact references.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "backends/cpu/helpers.h"
#include "backends/cpu/small_float.h"

namespace hetgpu::cpu {
namespace {

constexpr Round kModes[] = {Round::kRn, Round::kRz, Round::kRm, Round::kRp};
constexpr float kInf = std::numeric_limits<float>::infinity();

uint32_t Mode(Round round) { return static_cast<uint32_t>(round); }

// What `mode` makes of an exact value between neighbours `low` and `high`,
// given how it compares with the middle. `low` is even when `low_even`.
template <typename T>
T Pick(Round mode, T low, T high, int against_middle, bool low_even) {
  switch (mode) {
    case Round::kRn:
      if (against_middle != 0) return against_middle < 0 ? low : high;
      return low_even ? low : high;
    case Round::kRz:
      return low < 0 || high <= 0 ? high : low;
    case Round::kRm:
      return low;
    case Round::kRp:
      return high;
  }
  return low;
}

bool IsEven(float value) { return (std::bit_cast<uint32_t>(value) & 1) == 0; }

// Rounds the exact value `exact` (a double) to float. Finite range only.
float ReferenceToFloat(double exact, Round mode) {
  float near = static_cast<float>(exact);  // to nearest
  if (static_cast<double>(near) == exact) return near;
  float low = near, high = near;
  if (static_cast<double>(near) < exact) {
    high = std::nextafterf(near, kInf);
  } else {
    low = std::nextafterf(near, -kInf);
  }
  const double middle = (static_cast<double>(low) + high) / 2;
  const int side = exact < middle ? -1 : exact > middle ? 1 : 0;
  return Pick(mode, low, high, side, IsEven(low));
}

float RandomFloat(std::mt19937& random) {
  const uint32_t exponent = 100 + random() % 50;
  return std::bit_cast<float>(static_cast<uint32_t>(random() & 0x807fffff) |
                              exponent << 23);
}

TEST(RoundingTest, FloatProductsAndSumsRoundOnceInEveryMode) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    const float a = RandomFloat(random);
    // Exponents near enough for the sum to be exact in double.
    const float b = std::ldexp(a, static_cast<int>(random() % 20) - 10) *
                    (1.0f + static_cast<float>(random() % 1000) / 1024) *
                    (random() % 2 ? 1.0f : -1.0f);
    for (Round mode : kModes) {
      const double da = a, db = b;
      ASSERT_EQ(helper::mul_f32(a, b, Mode(mode)),
                ReferenceToFloat(da * db, mode));
      ASSERT_EQ(helper::add_f32(a, b, Mode(mode)),
                ReferenceToFloat(da + db, mode));
      ASSERT_EQ(helper::f64_to_f32(da * db, Mode(mode)),
                ReferenceToFloat(da * db, mode));
    }
  }
}

// sign(q * b - a) by exact arithmetic tells on which side of a / b lies q.
TEST(RoundingTest, QuotientsAndRootsAreTheRightNeighbour) {
  std::mt19937 random(2);
  for (int i = 0; i < 20000; ++i) {
    const float a = std::fabs(RandomFloat(random));
    const float b = std::fabs(RandomFloat(random));
    const float down = helper::div_f32(a, b, Mode(Round::kRm));
    const float up = helper::div_f32(a, b, Mode(Round::kRp));
    ASSERT_LE(static_cast<double>(down) * b, a);
    ASSERT_GE(static_cast<double>(up) * b, a);
    ASSERT_TRUE(up == down || up == std::nextafterf(down, kInf));
    ASSERT_EQ(helper::div_f32(a, b, Mode(Round::kRz)), down);
    ASSERT_EQ(helper::div_f32(-a, b, Mode(Round::kRz)), -down);
    ASSERT_EQ(helper::div_f32(-a, b, Mode(Round::kRm)), -up);
    ASSERT_EQ(helper::div_f32(a, b, Mode(Round::kRn)), a / b);
    const float root_down = helper::sqrt_f32(a, Mode(Round::kRm));
    const float root_up = helper::sqrt_f32(a, Mode(Round::kRp));
    ASSERT_LE(static_cast<double>(root_down) * root_down, a);
    ASSERT_GE(static_cast<double>(root_up) * root_up, a);
    ASSERT_TRUE(root_up == root_down ||
                root_up == std::nextafterf(root_down, kInf));
  }
}

TEST(RoundingTest, FusedOperationsRoundOnce) {
  // 1 + 2^-60: the product's tail decides the rounding.
  const double tiny = std::ldexp(1.0, -60);
  EXPECT_EQ(helper::fma_f64(tiny, 1, 1, Mode(Round::kRn)), 1.0);
  EXPECT_EQ(helper::fma_f64(tiny, 1, 1, Mode(Round::kRp)),
            std::nextafter(1.0, 2.0));
  EXPECT_EQ(helper::fma_f64(-tiny, 1, 1, Mode(Round::kRz)),
            std::nextafter(1.0, 0.0));
  EXPECT_EQ(helper::fma_f64(-tiny, 1, 1, Mode(Round::kRm)),
            std::nextafter(1.0, 0.0));
  const float small = std::ldexp(1.0f, -60);
  EXPECT_EQ(helper::fma_f32(small, 1, 1, Mode(Round::kRp)),
            std::nextafterf(1.0f, 2.0f));
  EXPECT_EQ(helper::fma_f32(-small, 1, 1, Mode(Round::kRm)),
            std::nextafterf(1.0f, 0.0f));
  EXPECT_EQ(helper::fma_f32(3, 5, 7, Mode(Round::kRz)), 22.0f);
}

TEST(RoundingTest, DoubleOperationsFollowTheMode) {
  const double third_down = helper::div_f64(1, 3, Mode(Round::kRm));
  EXPECT_EQ(helper::div_f64(1, 3, Mode(Round::kRp)),
            std::nextafter(third_down, 1.0));
  const double root_down = helper::sqrt_f64(2, Mode(Round::kRz));
  EXPECT_EQ(helper::sqrt_f64(2, Mode(Round::kRp)),
            std::nextafter(root_down, 2.0));
  const double tiny = std::ldexp(1.0, -80);
  EXPECT_EQ(helper::add_f64(1, tiny, Mode(Round::kRp)),
            std::nextafter(1.0, 2.0));
  EXPECT_EQ(helper::add_f64(1, tiny, Mode(Round::kRm)), 1.0);
  const double odd = 1 + std::ldexp(1.0, -52);
  EXPECT_EQ(helper::mul_f64(odd, odd, Mode(Round::kRm)),
            1 + std::ldexp(1.0, -51));
  EXPECT_EQ(helper::mul_f64(odd, odd, Mode(Round::kRp)),
            1 + std::ldexp(1.0, -51) + std::ldexp(1.0, -52));
  EXPECT_EQ(helper::mul_f64(1e308, 10, Mode(Round::kRz)),
            std::numeric_limits<double>::max());
  EXPECT_EQ(helper::add_f64(1, -1, Mode(Round::kRm)), 0.0);
  EXPECT_TRUE(std::signbit(helper::add_f64(1, -1, Mode(Round::kRm))));
}

TEST(RoundingTest, IntegersRoundInEveryMode) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const uint64_t value = random() >> random() % 64;
    for (Round mode : kModes) {
      const float f = helper::u64_to_f32(value, Mode(mode));
      const double d = helper::u64_to_f64(value, Mode(mode));
      // Exact comparison in a wider integer.
      const auto whole_f = static_cast<unsigned __int128>(f);
      const auto whole_d = static_cast<unsigned __int128>(d);
      if (mode == Round::kRz || mode == Round::kRm) {
        ASSERT_LE(whole_f, value);
        ASSERT_LE(whole_d, value);
        const auto above =
            static_cast<unsigned __int128>(std::nextafterf(f, kInf));
        ASSERT_TRUE(whole_f == value || above > value);
      } else if (mode == Round::kRp) {
        ASSERT_GE(whole_f, value);
        ASSERT_GE(whole_d, value);
      } else {
        ASSERT_EQ(f, static_cast<float>(value));
        ASSERT_EQ(d, static_cast<double>(value));
      }
    }
  }
  EXPECT_EQ(helper::s64_to_f32(-16777217, Mode(Round::kRm)), -16777218.0f);
  EXPECT_EQ(helper::s64_to_f32(-16777217, Mode(Round::kRz)), -16777216.0f);
  EXPECT_EQ(helper::s64_to_f64(-9007199254740993, Mode(Round::kRm)),
            -9007199254740994.0);
  EXPECT_EQ(helper::s64_to_f64(INT64_MIN, Mode(Round::kRz)), -0x1p63);
}

// ---- 16-bit floats ----------------------------------------------------------

template <double (*ToDouble)(uint16_t), uint16_t (*FromDouble)(double, Round)>
void CheckFormat(uint16_t infinity) {
  for (uint32_t bits = 0; bits < infinity; ++bits) {
    const auto low_bits = static_cast<uint16_t>(bits);
    const auto high_bits = static_cast<uint16_t>(bits + 1);
    const double low = ToDouble(low_bits);
    ASSERT_EQ(FromDouble(low, Round::kRn), low_bits);
    ASSERT_EQ(FromDouble(-low, Round::kRp), low_bits | 0x8000);
    if (high_bits == infinity) break;
    const double high = ToDouble(high_bits);
    const double middle = (low + high) / 2;
    for (Round mode : kModes) {
      for (int side : {-1, 0, 1}) {
        const double exact =
            side == 0 ? middle : std::nextafter(middle, side < 0 ? low : high);
        const uint16_t want =
            Pick<int>(mode, low_bits, high_bits, side, low_bits % 2 == 0);
        ASSERT_EQ(FromDouble(exact, mode), want) << bits << " " << side;
        const Round mirrored = mode == Round::kRm   ? Round::kRp
                               : mode == Round::kRp ? Round::kRm
                                                    : mode;
        ASSERT_EQ(FromDouble(-exact, mirrored), want | 0x8000);
      }
    }
  }
  const double most = ToDouble(infinity - 1);
  const double step = most - ToDouble(infinity - 2);
  EXPECT_EQ(FromDouble(most + step / 2, Round::kRn), infinity);
  EXPECT_EQ(FromDouble(std::nextafter(most + step / 2, 0), Round::kRn),
            infinity - 1);
  EXPECT_EQ(FromDouble(1e300, Round::kRz), infinity - 1);
  EXPECT_EQ(FromDouble(1e300, Round::kRm), infinity - 1);
  EXPECT_EQ(FromDouble(1e300, Round::kRp), infinity);
  EXPECT_EQ(FromDouble(-1e300, Round::kRp), (infinity - 1) | 0x8000);
  EXPECT_EQ(FromDouble(kInf, Round::kRz), infinity);
  EXPECT_EQ(FromDouble(NAN, Round::kRn), 0x7fff);
  EXPECT_EQ(FromDouble(5e-324, Round::kRp), 1);
  EXPECT_EQ(FromDouble(5e-324, Round::kRn), 0);
  EXPECT_EQ(FromDouble(-5e-324, Round::kRm), 0x8001);
}

TEST(SmallFloatTest, HalfRoundsRightBetweenAllNeighbours) {
  CheckFormat<HalfToDouble, DoubleToHalf>(0x7c00);
}

TEST(SmallFloatTest, BfloatRoundsRightBetweenAllNeighbours) {
  CheckFormat<BfloatToDouble, DoubleToBfloat>(0x7f80);
}

// In __float128 a * b + c is exact unless exponents are some 90 apart; then the
// product alone may look like a tie, which the sign of c decides.
template <double (*ToDouble)(uint16_t), uint16_t (*FromDouble)(double, Round)>
void CheckFma(uint16_t (*fma)(uint16_t, uint16_t, uint16_t)) {
  std::mt19937 random(4);
  for (int i = 0; i < 300000; ++i) {
    const auto a = static_cast<uint16_t>(random());
    const auto b = static_cast<uint16_t>(random());
    const auto c = static_cast<uint16_t>(random());
    const double da = ToDouble(a), db = ToDouble(b), dc = ToDouble(c);
    const uint16_t got = fma(a, b, c);
    const double plain = da * db + dc;
    if (std::isnan(plain)) {
      ASSERT_EQ(got, 0x7fff);
      continue;
    }
    const __float128 exact = static_cast<__float128>(da) * db + dc;
    // The nearest value: no other may be nearer, ties go to even.
    const uint16_t guess = FromDouble(plain, Round::kRn);
    if (got == guess) continue;
    const __float128 error_got = exact - static_cast<__float128>(ToDouble(got));
    const __float128 error_guess =
        exact - static_cast<__float128>(ToDouble(guess));
    const __float128 abs_got = error_got < 0 ? -error_got : error_got;
    const __float128 abs_guess = error_guess < 0 ? -error_guess : error_guess;
    if (abs_got == abs_guess && dc != 0) {
      ASSERT_EQ(ToDouble(got) > da * db, dc > 0) << a << " " << b << " " << c;
    } else {
      ASSERT_TRUE(abs_got < abs_guess) << a << " " << b << " " << c;
    }
  }
}

TEST(SmallFloatTest, FusedOperationsRoundOnce) {
  CheckFma<HalfToDouble, DoubleToHalf>(helper::fma_f16);
  CheckFma<BfloatToDouble, DoubleToBfloat>(helper::fma_bf16);
  const uint16_t one = DoubleToBfloat(1, Round::kRn);
  const uint16_t half_step = DoubleToBfloat(std::ldexp(1.0, -8), Round::kRn);
  EXPECT_EQ(helper::fma_bf16(half_step, one, one), one);  // tie to even
  const uint16_t above = DoubleToBfloat(
      std::ldexp(1.0, -8) * (1 + std::ldexp(1.0, -7)), Round::kRn);
  EXPECT_EQ(helper::fma_bf16(above, one, one), one + 1);
  // A product that is a tie, with an addend below double's precision.
  const uint16_t p =
      DoubleToBfloat(std::ldexp(1 + std::ldexp(1.0, -7), 26), Round::kRn);
  const uint16_t q = DoubleToBfloat(std::ldexp(1.5, 30), Round::kRn);
  const double product = BfloatToDouble(p) * BfloatToDouble(q);
  const double low = BfloatToDouble(DoubleToBfloat(product, Round::kRz));
  const double high = BfloatToDouble(DoubleToBfloat(product, Round::kRp));
  ASSERT_EQ(product, (low + high) / 2) << "a tie";
  const uint16_t tiny = DoubleToBfloat(std::ldexp(1.0, -60), Round::kRn);
  EXPECT_EQ(BfloatToDouble(helper::fma_bf16(p, q, tiny)), high);
  EXPECT_EQ(BfloatToDouble(helper::fma_bf16(p, q, tiny | 0x8000)), low);
}

TEST(SmallFloatTest, HelpersConvertFromFloatAndDouble) {
  EXPECT_EQ(helper::f32_to_f16(1.0f, Mode(Round::kRn)), 0x3c00);
  EXPECT_EQ(helper::f64_to_f16(65519.0, Mode(Round::kRn)), 0x7bff);
  EXPECT_EQ(helper::f64_to_f16(65520.0, Mode(Round::kRn)), 0x7c00);
  EXPECT_EQ(helper::f32_to_bf16(1.00390625f, Mode(Round::kRp)), 0x3f81);
  EXPECT_EQ(helper::f32_to_bf16(1.00390625f, Mode(Round::kRn)), 0x3f80);
  // Just above a tie: through float it would become the tie itself.
  EXPECT_EQ(helper::f64_to_f16(1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40),
                               Mode(Round::kRn)),
            0x3c01);
}

}  // namespace
}  // namespace hetgpu::cpu
