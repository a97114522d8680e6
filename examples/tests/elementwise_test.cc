// Kernels whose threads do not meet: vecadd, saxpy, blackscholes, mandelbrot,
// montecarlo, sha256.

#include <algorithm>
#include <array>
#include <cmath>

#include "examples/tests/example.h"
#include "gtest/gtest.h"

namespace hetgpu::examples {
namespace {

TEST(Vecadd, OddSizesAndBlocks) {
  Example example("vecadd");
  for (uint32_t n : {1u, 31u, 32u, 33u, 1000u, 65537u}) {
    for (uint32_t block : {30u, 32u, 96u, 256u, 1024u}) {
      const auto a = Random<float>(n, 1, -1, 1);
      const auto b = Random<float>(n, 2, -1e6, 1e6);
      std::vector<float> want(n);
      for (uint32_t i = 0; i < n; ++i) want[i] = a[i] + b[i];
      const auto c = example.Zeros<float>(n);
      example.Launch("vecadd", {Blocks(n, block)}, {block}, 0,
                     example.Upload(a), example.Upload(b), c, n);
      ASSERT_EQ(example.Download(c), want) << n << " by " << block;
    }
  }
}

template <typename T>
void TestAxpy(const char* kernel, double rtol) {
  Example example("saxpy");
  for (uint32_t n : {1u, 100u, 1001u, 5000u}) {
    for (Extent block : {Extent{32}, Extent{100}, Extent{1024}}) {
      const auto x = Random<T>(n, 3, -1, 1), y = Random<T>(n, 4, -1, 1);
      const T a = static_cast<T>(2.7);
      std::vector<double> want(n);
      for (uint32_t i = 0; i < n; ++i) want[i] = double(a) * x[i] + y[i];
      const auto result = example.Upload(y);
      example.Launch(kernel, {3}, block, 0, n, a, example.Upload(x), result);
      ExpectClose(example.Download(result), want, rtol, rtol);
    }
  }
}

TEST(Saxpy, Float) { TestAxpy<float>("saxpy", 1e-6); }

TEST(Saxpy, Double) { TestAxpy<double>("daxpy", 1e-15); }

double NormalCdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(BlackScholes, AgainstDouble) {
  Example example("blackscholes");
  const uint32_t n = 1234;
  const auto spot = Random<float>(n, 5, 5, 30);
  const auto strike = Random<float>(n, 6, 1, 100);
  const auto years = Random<float>(n, 7, 0.25, 10);
  const float rate = 0.02f, volatility = 0.3f;
  std::vector<double> call(n), put(n);
  for (uint32_t i = 0; i < n; ++i) {
    const double s = spot[i], k = strike[i], t = years[i];
    const double r = rate, v = volatility, sigma = v * std::sqrt(t);
    const double d1 = (std::log(s / k) + (r + 0.5 * v * v) * t) / sigma;
    const double d2 = d1 - sigma, discounted = k * std::exp(-r * t);
    call[i] = s * NormalCdf(d1) - discounted * NormalCdf(d2);
    put[i] = discounted * NormalCdf(-d2) - s * NormalCdf(-d1);
  }
  const auto got_call = example.Zeros<float>(n);
  const auto got_put = example.Zeros<float>(n);
  example.Launch("black_scholes", {Blocks(n, 100)}, {100}, 0,
                 example.Upload(spot), example.Upload(strike),
                 example.Upload(years), rate, volatility, got_call, got_put, n);
  ExpectClose(example.Download(got_call), call, 1e-5, 1e-4);
  ExpectClose(example.Download(got_put), put, 1e-5, 1e-4);
}

uint32_t EscapeTime(float cx, float cy, uint32_t limit) {
  float x = 0, y = 0;
  for (uint32_t i = 0; i < limit; ++i) {
    // The kernel rounds each of these by itself, except the one fma.
    const float x2 = x * x, y2 = y * y;
    if (x2 + y2 > 4.0f) return i;
    y = std::fma(x + x, y, cy);
    const float difference = x2 - y2;
    x = difference + cx;
  }
  return limit;
}

TEST(Mandelbrot, ExactCounts) {
  Example example("mandelbrot");
  const int width = 101, height = 57;
  const float x0 = -2.1f, y0 = -1.2f, dx = 0.03f, dy = 0.04f;
  const uint32_t limit = 300;
  std::vector<uint32_t> want(width * height);
  for (int py = 0; py < height; ++py) {
    for (int px = 0; px < width; ++px) {
      want[py * width + px] = EscapeTime(std::fma(float(px), dx, x0),
                                         std::fma(float(py), dy, y0), limit);
    }
  }
  for (Extent block : {Extent{8, 4}, Extent{7, 3}, Extent{32, 32}}) {
    const auto got = example.Zeros<uint32_t>(want.size());
    example.Launch("mandelbrot", {Blocks(width, block.x),
                                  Blocks(height, block.y)},
                   block, 0, got, width, height, x0, y0, dx, dy, limit);
    ASSERT_EQ(example.Download(got), want);
  }
}

// Philox-4x32-10 with 64-bit products.
std::array<uint32_t, 4> Philox(std::array<uint32_t, 4> c, uint32_t k0,
                               uint32_t k1) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = 0xD2511F53ull * c[0], p1 = 0xCD9E8D57ull * c[2];
    c = {uint32_t(p1 >> 32) ^ c[1] ^ k0, uint32_t(p1),
         uint32_t(p0 >> 32) ^ c[3] ^ k1, uint32_t(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

TEST(MonteCarlo, PhiloxKnownAnswer) {
  // Published test vector of the generator: all-zero counter and key.
  const std::array<uint32_t, 4> want = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
                                        0x9b00dbd8};
  EXPECT_EQ(Philox({0, 0, 0, 0}, 0, 0), want);
}

TEST(MonteCarlo, PiCountsExactly) {
  Example example("montecarlo");
  const uint32_t samples = 30011, seed = 5;
  uint64_t want = 0;
  for (uint32_t i = 0; i < samples; ++i) {
    const auto r = Philox({i, 0, 0, 0}, seed, 0);
    const uint64_t x = r[0], y = r[1];
    want += x * x / 2 + y * y / 2 < (1ull << 63);
  }
  EXPECT_NEAR(4.0 * want / samples, 3.14159, 0.05);
  for (uint32_t block : {32u, 96u, 1024u}) {
    const auto hits = example.Zeros<uint64_t>(1);
    example.Launch("mc_pi", {5}, {block}, 0, samples, seed, hits);
    EXPECT_EQ(example.Download(hits)[0], want) << block;
  }
}

double AsianPayoff(uint32_t path, int steps, uint32_t seed) {
  const double dt = 1.0 / steps, drift = (0.03 - 0.5 * 0.0625) * dt;
  const double scale = 0.25 * std::sqrt(dt);
  auto uniform = [](uint32_t bits) {
    return (bits >> 8) * 0x1p-24 + 0x1p-25;
  };
  double log_price = 0, sum = 0;
  for (int step = 0; step < steps; ++step) {
    const uint32_t pair = step / 2 * 2;
    const auto r = Philox({path, pair, 0, 0}, seed, 1);
    const double radius = std::sqrt(-2 * std::log(uniform(r[0])));
    const double angle = 2 * 3.14159265358979 * uniform(r[1]);
    const double normal = radius * (step % 2 ? std::sin(angle)
                                             : std::cos(angle));
    log_price += drift + scale * normal;
    sum += 100 * std::exp(log_price);
  }
  return std::exp(-0.03) * std::max(sum / steps - 101, 0.0);
}

TEST(MonteCarlo, AsianOption) {
  Example example("montecarlo");
  const uint32_t paths = 333, seed = 9;
  for (int steps : {1, 12, 13}) {
    std::vector<double> want(paths);
    for (uint32_t i = 0; i < paths; ++i) want[i] = AsianPayoff(i, steps, seed);
    const auto payoff = example.Zeros<float>(paths);
    example.Launch("mc_asian", {Blocks(paths, 70)}, {70}, 0, 100.0f, 101.0f,
                   0.03f, 0.25f, 1.0f, steps, seed, payoff, paths);
    ExpectClose(example.Download(payoff), want, 1e-4, 1e-3);
  }
}

// FIPS 180-4, written over bytes.
class Sha256 {
 public:
  static std::array<uint32_t, 8> Digest(std::vector<uint8_t> message) {
    const uint64_t bits = message.size() * 8;
    message.push_back(0x80);
    while (message.size() % 64 != 56) message.push_back(0);
    for (int i = 7; i >= 0; --i) message.push_back(uint8_t(bits >> (8 * i)));
    std::array<uint32_t, 8> h;
    for (int i = 0; i < 8; ++i) h[i] = Fraction(std::sqrt(Prime(i)));
    for (size_t at = 0; at < message.size(); at += 64) {
      Block(h, &message[at]);
    }
    return h;
  }

 private:
  static long double Prime(int index) {
    int candidate = 1;
    for (int found = -1; found < index;) {
      ++candidate;
      bool prime = true;
      for (int d = 2; d * d <= candidate; ++d) prime &= candidate % d != 0;
      found += prime;
    }
    return candidate;
  }
  // The first 32 bits of the fractional part.
  static uint32_t Fraction(long double x) {
    return uint32_t((x - std::floor(x)) * 4294967296.0L);
  }
  static uint32_t Rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

  static void Block(std::array<uint32_t, 8>& h, const uint8_t* p) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i, p += 4) {
      w[i] = uint32_t(p[0]) << 24 | p[1] << 16 | p[2] << 8 | p[3];
    }
    for (int i = 16; i < 64; ++i) {
      const uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] +
             (Rotate(a, 7) ^ Rotate(a, 18) ^ a >> 3) +
             (Rotate(b, 17) ^ Rotate(b, 19) ^ b >> 10);
    }
    std::array<uint32_t, 8> s = h;
    for (int i = 0; i < 64; ++i) {
      const uint32_t e = s[4], a = s[0];
      const uint32_t t1 = s[7] + (Rotate(e, 6) ^ Rotate(e, 11) ^
                                  Rotate(e, 25)) +
                          ((e & s[5]) | (~e & s[6])) +
                          Fraction(std::cbrt(Prime(i))) + w[i];
      const uint32_t t2 = (Rotate(a, 2) ^ Rotate(a, 13) ^ Rotate(a, 22)) +
                          ((a & s[1]) | (a & s[2]) | (s[1] & s[2]));
      s = {t1 + t2, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]};
    }
    for (int i = 0; i < 8; ++i) h[i] += s[i];
  }
};

TEST(Sha256, KnownAnswer) {
  const std::array<uint32_t, 8> want = {0xba7816bf, 0x8f01cfea, 0x414140de,
                                        0x5dae2223, 0xb00361a3, 0x96177a9c,
                                        0xb410ff61, 0xf20015ad};
  EXPECT_EQ(Sha256::Digest({'a', 'b', 'c'}), want);
}

TEST(Sha256, EveryLengthAroundTheBlock) {
  Example example("sha256");
  const uint32_t messages = 131;
  std::vector<uint32_t> offset = {0};
  for (uint32_t i = 0; i < messages; ++i) offset.push_back(offset.back() + i);
  const auto text = Random<uint8_t>(offset.back(), 8, 0, 255);
  std::vector<uint32_t> want;
  for (uint32_t i = 0; i < messages; ++i) {
    const auto digest = Sha256::Digest(
        {text.begin() + offset[i], text.begin() + offset[i + 1]});
    want.insert(want.end(), digest.begin(), digest.end());
  }
  const auto digests = example.Zeros<uint32_t>(8 * messages);
  example.Launch("sha256", {Blocks(messages, 50)}, {50}, 0,
                 example.Upload(text), example.Upload(offset), digests,
                 messages);
  EXPECT_EQ(example.Download(digests), want);
}

}  // namespace
}  // namespace hetgpu::examples
