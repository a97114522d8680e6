#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "bench/twins/cpu/twin.h"
#include "bench/twins/cpu/vector.h"

namespace hetgpu::bench {
namespace {

// Past the caches: what is stored is not read again soon.
void Stream(float* to, FloatVector v) {
#if defined(__AVX512F__)
  _mm512_stream_ps(to, (__m512)v);
#else
  StoreVector(to, v);
#endif
}

}  // namespace

HETGPU_HOST_TWIN(vecadd) {
  const auto* const a = Get<const float*>(arguments, 0);
  const auto* const b = Get<const float*>(arguments, 1);
  auto* const c = Get<float*>(arguments, 2);
  const int64_t n = Get<uint32_t>(arguments, 3);
  const int64_t whole = n / kLanes * kLanes;
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < whole; i += kLanes) {
    Stream(c + i,
           LoadVector<FloatVector>(a + i) + LoadVector<FloatVector>(b + i));
  }
  for (int64_t i = whole; i < n; ++i) c[i] = a[i] + b[i];
}

HETGPU_HOST_TWIN(saxpy) {
  const int64_t n = Get<uint32_t>(arguments, 0);
  const auto alpha = Get<float>(arguments, 1);
  const auto* const x = Get<const float*>(arguments, 2);
  auto* const y = Get<float*>(arguments, 3);
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < n; ++i) y[i] = alpha * x[i] + y[i];
}

}  // namespace hetgpu::bench
