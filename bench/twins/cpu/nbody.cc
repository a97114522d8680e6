// Four vectors of bodies at once against each other body in turn.
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>

#include "bench/twins/cpu/twin.h"
#include "bench/twins/cpu/vector.h"

namespace hetgpu::bench {
namespace {

constexpr int kJam = 4, kGroup = kJam * kLanes;

// The estimate and one step of Newton's.
FloatVector ReciprocalRoot(FloatVector x) {
#if defined(__AVX512F__)
  const auto y = (FloatVector)_mm512_rsqrt14_ps((__m512)x);
  return y * (1.5f - 0.5f * x * y * y);
#else
  for (int l = 0; l < kLanes; ++l) x[l] = 1 / sqrtf(x[l]);
  return x;
#endif
}

struct Bodies {
  FloatVector x[kJam], y[kJam], z[kJam];
};

void Attract(const float* other, float softening, const Bodies& at,
             Bodies& pull) {
#pragma GCC unroll 4
  for (int j = 0; j < kJam; ++j) {
    const FloatVector dx = other[0] - at.x[j], dy = other[1] - at.y[j];
    const FloatVector dz = other[2] - at.z[j];
    const FloatVector r2 = dx * dx + dy * dy + dz * dz + softening;
    const FloatVector inv = ReciprocalRoot(r2);
    const FloatVector s = other[3] * inv * inv * inv;
    pull.x[j] += s * dx;
    pull.y[j] += s * dy;
    pull.z[j] += s * dz;
  }
}

}  // namespace

HETGPU_HOST_TWIN(nbody) {
  const auto* const bodies = Get<const float*>(arguments, 0);
  auto* const accel = Get<float*>(arguments, 1);
  const int64_t n = Get<int>(arguments, 2);
  const auto softening = Get<float>(arguments, 3);
#pragma omp parallel for schedule(static)
  for (int64_t base = 0; base < n; base += kGroup) {
    Bodies at = {}, pull = {};
    for (int l = 0; l < kGroup; ++l) {
      const float* const from = bodies + 4 * std::min(base + l, n - 1);
      at.x[l / kLanes][l % kLanes] = from[0];
      at.y[l / kLanes][l % kLanes] = from[1];
      at.z[l / kLanes][l % kLanes] = from[2];
    }
    for (int64_t j = 0; j < n; ++j) {
      Attract(bodies + 4 * j, softening, at, pull);
    }
    for (int l = 0; l < kGroup && base + l < n; ++l) {
      float* const to = accel + 4 * (base + l);
      to[0] = pull.x[l / kLanes][l % kLanes];
      to[1] = pull.y[l / kLanes][l % kLanes];
      to[2] = pull.z[l / kLanes][l % kLanes];
      to[3] = 0;
    }
  }
}

}  // namespace hetgpu::bench
