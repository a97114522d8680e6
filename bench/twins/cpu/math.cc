// Compiled with relaxed floating point, so that the compiler may use its
// library of vector functions.
#include <cmath>

#include "bench/twins/cpu/twin.h"

namespace hetgpu::bench {
namespace {

#pragma omp declare simd notinbranch
inline float NormalCdf(float x) {
  return 0.5f * erfcf(-x * 0.70710678118654752f);
}

struct Words4 {
  uint32_t x, y, z, w;
};

// Philox-4x32, 10 rounds.
inline Words4 Philox(Words4 counter, uint32_t key_x, uint32_t key_y) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * counter.x;
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * counter.z;
    counter = {static_cast<uint32_t>(p1 >> 32) ^ counter.y ^ key_x,
               static_cast<uint32_t>(p1),
               static_cast<uint32_t>(p0 >> 32) ^ counter.w ^ key_y,
               static_cast<uint32_t>(p0)};
    key_x += 0x9E3779B9u;
    key_y += 0xBB67AE85u;
  }
  return counter;
}

inline float Uniform(uint32_t bits) {
  return static_cast<float>(static_cast<int32_t>(bits >> 8)) * 0x1p-24f +
         0x1p-25f;
}

}  // namespace

HETGPU_HOST_TWIN(black_scholes) {
  const auto* const spot = Get<const float*>(arguments, 0);
  const auto* const strike = Get<const float*>(arguments, 1);
  const auto* const years = Get<const float*>(arguments, 2);
  const auto rate = Get<float>(arguments, 3);
  const auto volatility = Get<float>(arguments, 4);
  auto* const call = Get<float*>(arguments, 5);
  auto* const put = Get<float*>(arguments, 6);
  const int64_t n = Get<uint32_t>(arguments, 7);
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; ++i) {
    const float s = spot[i], k = strike[i], t = years[i];
    const float sigma = volatility * sqrtf(t);
    const float d1 =
        (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / sigma;
    const float d2 = d1 - sigma;
    const float discounted = k * expf(-rate * t);
    call[i] = s * NormalCdf(d1) - discounted * NormalCdf(d2);
    put[i] = discounted * NormalCdf(-d2) - s * NormalCdf(-d1);
  }
}

HETGPU_HOST_TWIN(mc_pi) {
  const int64_t samples = Get<uint32_t>(arguments, 0);
  const auto seed = Get<uint32_t>(arguments, 1);
  auto* const hits = Get<uint64_t*>(arguments, 2);
  uint64_t total = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : total)
  for (int64_t i = 0; i < samples; ++i) {
    const Words4 r = Philox({static_cast<uint32_t>(i), 0, 0, 0}, seed, 0);
    const uint64_t x2 = uint64_t{r.x} * r.x / 2, y2 = uint64_t{r.y} * r.y / 2;
    total += x2 + y2 < uint64_t{1} << 63;
  }
  *hits += total;
}

HETGPU_HOST_TWIN(mc_asian) {
  const auto spot = Get<float>(arguments, 0), strike = Get<float>(arguments, 1);
  const auto rate = Get<float>(arguments, 2);
  const auto volatility = Get<float>(arguments, 3);
  const auto years = Get<float>(arguments, 4);
  const auto steps = Get<int>(arguments, 5);
  const auto seed = Get<uint32_t>(arguments, 6);
  auto* const payoff = Get<float*>(arguments, 7);
  const int64_t paths = Get<uint32_t>(arguments, 8);
  const float dt = years / steps;
  const float drift = (rate - 0.5f * volatility * volatility) * dt;
  const float scale = volatility * sqrtf(dt);
  const float discount = expf(-rate * years);
  constexpr int kGroup = 64;  // paths side by side, steps outside
#pragma omp parallel for schedule(static)
  for (int64_t base = 0; base < paths; base += kGroup) {
    float log_price[kGroup] = {}, sum[kGroup] = {};
    float radius[kGroup], angle[kGroup], first[kGroup];
    for (int step = 0; step < steps; step += 2) {
#pragma omp simd
      for (int l = 0; l < kGroup; ++l) {
        const Words4 r = Philox({static_cast<uint32_t>(base + l),
                                 static_cast<uint32_t>(step), 0, 0},
                                seed, 1);
        radius[l] = scale * sqrtf(-2.0f * logf(Uniform(r.x)));
        angle[l] = 6.2831853f * Uniform(r.y);
      }
      // Sine and cosine apart: there is no vector function for both.
#pragma omp simd
      for (int l = 0; l < kGroup; ++l) {
        first[l] = log_price[l] + drift + radius[l] * cosf(angle[l]);
        sum[l] += spot * expf(first[l]);
      }
      if (step + 1 == steps) break;
#pragma omp simd
      for (int l = 0; l < kGroup; ++l) {
        log_price[l] = first[l] + drift + radius[l] * sinf(angle[l]);
        sum[l] += spot * expf(log_price[l]);
      }
    }
    for (int l = 0; l < kGroup && base + l < paths; ++l) {
      const float value = sum[l] / steps - strike;
      payoff[base + l] = discount * (value > 0 ? value : 0);
    }
  }
}

HETGPU_HOST_TWIN(softmax) {
  const auto* const in = Get<const float*>(arguments, 0);
  auto* const out = Get<float*>(arguments, 1);
  const auto columns = Get<uint32_t>(arguments, 2);
  const int64_t rows = Get<uint32_t>(arguments, 3);
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    const float* const from = in + row * columns;
    float* const to = out + row * columns;
    float largest = from[0], sum = 0;
#pragma omp simd reduction(max : largest)
    for (uint32_t c = 0; c < columns; ++c) {
      largest = from[c] > largest ? from[c] : largest;
    }
#pragma omp simd reduction(+ : sum)
    for (uint32_t c = 0; c < columns; ++c) {
      to[c] = expf(from[c] - largest);
      sum += to[c];
    }
    const float scale = 1 / sum;
#pragma omp simd
    for (uint32_t c = 0; c < columns; ++c) to[c] *= scale;
  }
}

}  // namespace hetgpu::bench
