// Compiled without contraction: the counts must agree exactly.
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>

#include "bench/twins/cpu/twin.h"
#include "bench/twins/cpu/vector.h"

namespace hetgpu::bench {
namespace {

FloatVector Fma(FloatVector a, FloatVector b, FloatVector c) {
#if defined(__AVX512F__)
  return (FloatVector)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#else
  for (int l = 0; l < kLanes; ++l) c[l] = fmaf(a[l], b[l], c[l]);
  return c;
#endif
}

bool AnySet(WordVector mask) {
  uint32_t any = 0;
  for (int l = 0; l < kLanes; ++l) any |= mask[l];
  return any != 0;
}

// Four vectors of neighbouring pixels at once, to hide latencies.
constexpr int kJam = 4, kBurst = 8;

struct Pixels {
  FloatVector cx[kJam], x[kJam], y[kJam];
  WordVector inside[kJam], count[kJam];
};

void Step(Pixels& p, float cy) {
#pragma GCC unroll 4
  for (int j = 0; j < kJam; ++j) {
    const FloatVector x2 = p.x[j] * p.x[j], y2 = p.y[j] * p.y[j];
    p.inside[j] &= ~(WordVector)(x2 + y2 > 4.0f);
    p.count[j] -= p.inside[j];
    p.y[j] = Fma(p.x[j] + p.x[j], p.y[j], FloatVector{} + cy);
    p.x[j] = (x2 - y2) + p.cx[j];
  }
}

}  // namespace

HETGPU_HOST_TWIN(mandelbrot) {
  auto* const iterations = Get<uint32_t*>(arguments, 0);
  const auto width = Get<int>(arguments, 1), height = Get<int>(arguments, 2);
  const auto x0 = Get<float>(arguments, 3), y0 = Get<float>(arguments, 4);
  const auto dx = Get<float>(arguments, 5), dy = Get<float>(arguments, 6);
  const auto limit = Get<uint32_t>(arguments, 7);
  constexpr int kGroup = kJam * kLanes;
#pragma omp parallel for schedule(dynamic, 4)
  for (int py = 0; py < height; ++py) {
    const float cy = fmaf(static_cast<float>(py), dy, y0);
    for (int base = 0; base < width; base += kGroup) {
      Pixels p = {};
      for (int i = 0; i < kGroup; ++i) {
        p.cx[i / kLanes][i % kLanes] =
            fmaf(static_cast<float>(base + i), dx, x0);
      }
      for (int j = 0; j < kJam; ++j) p.inside[j] = ~WordVector{};
      for (uint32_t i = 0; i < limit; i += kBurst) {
        for (int burst = 0; burst < kBurst; ++burst) Step(p, cy);
        WordVector any = {};
        for (int j = 0; j < kJam; ++j) any |= p.inside[j];
        if (!AnySet(any)) break;
      }
      for (int i = 0; i < kGroup && base + i < width; ++i) {
        iterations[int64_t{py} * width + base + i] =
            std::min(p.count[i / kLanes][i % kLanes], limit);
      }
    }
  }
}

}  // namespace hetgpu::bench
