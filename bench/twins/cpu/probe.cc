// The machine's rates: streaming copy, fused multiply-add, integer, 8-bit dot
// products.
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "bench/twins/cpu/twin.h"
#include "bench/twins/cpu/vector.h"

namespace hetgpu::bench {
namespace {

constexpr int kChains = 8, kSteps = 8;

// Runs `step(x, a, b)` on every thread's chains, sixteen threads at a time,
// and stores the sums of the chains.
template <typename V, typename T, typename Start, typename Step>
void Chains(void* const* arguments, const Start& start, const Step& step) {
  const auto* const in = Get<const uint32_t*>(arguments, 0);
  auto* const out = Get<uint32_t*>(arguments, 1);
  const auto rounds = Get<uint32_t>(arguments, 2);
  const int64_t threads = Get<uint32_t>(arguments, 3);
#pragma omp parallel for schedule(static)
  for (int64_t base = 0; base < threads; base += kLanes) {
    V a, b, x[kChains];
    start(in, base, a, b);
    for (int c = 0; c < kChains; ++c) x[c] = V{} + static_cast<T>(c);
    for (uint32_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 8
      for (int s = 0; s < kSteps; ++s) {
#pragma GCC unroll 8
        for (int c = 0; c < kChains; ++c) x[c] = step(x[c], a, b);
      }
    }
    V sum = {};
    for (int c = 0; c < kChains; ++c) sum += x[c];
    const int64_t count = threads - base < kLanes ? threads - base : kLanes;
    std::memcpy(out + base, &sum, count * sizeof(uint32_t));
  }
}

void StartWords(const uint32_t* in, int64_t base, WordVector& a,
                WordVector& b) {
  for (int l = 0; l < kLanes; ++l) {
    a[l] = in[(base + l) % 16];
    b[l] = in[(base + l) / 16 % 16];
  }
}

#if !defined(__AVX512VNNI__)
WordVector DotBytes(WordVector x, WordVector a, WordVector b) {
  for (int byte = 0; byte < 4; ++byte) {
    const WordVector u = x >> 8 * byte & 0xff;
    const WordVector s = b >> 8 * byte & 0xff;
    a += u * (s - (s << 1 & 0x100));
  }
  return a;
}
#endif

}  // namespace

HETGPU_HOST_TWIN(empty) {
#pragma omp parallel
  { asm volatile("" ::: "memory"); }
}

HETGPU_HOST_TWIN(copy) {
  const auto* const in = Get<const float*>(arguments, 0);
  auto* const out = Get<float*>(arguments, 1);
  const int64_t n = int64_t{4} * Get<uint32_t>(arguments, 2);
#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n; i += kLanes) {
#if defined(__AVX512F__)
    _mm512_stream_ps(out + i, _mm512_loadu_ps(in + i));
#else
    StoreVector(out + i, LoadVector<FloatVector>(in + i));
#endif
  }
}

HETGPU_HOST_TWIN(fma_f32) {
  Chains<FloatVector, float>(
      arguments,
      [](const uint32_t* in, int64_t base, FloatVector& a, FloatVector& b) {
        for (int l = 0; l < kLanes; ++l) {
          a[l] = 0.5f + float(in[(base + l) % 16] & 0xff) * 0x1p-10f;
          b[l] = float(in[(base + l) / 16 % 16] & 0xff) * 0x1p-8f;
        }
      },
      [](FloatVector x, FloatVector a, FloatVector b) { return x * a + b; });
}

HETGPU_HOST_TWIN(mix_i32) {
  Chains<WordVector, uint32_t>(
      arguments, StartWords,
      [](WordVector x, WordVector a, WordVector b) { return (x + a) ^ b; });
}

// x = dot(x as unsigned bytes, b as signed bytes) + a.
HETGPU_HOST_TWIN(dot_i8) {
  Chains<WordVector, uint32_t>(arguments, StartWords,
                               [](WordVector x, WordVector a, WordVector b) {
#if defined(__AVX512VNNI__)
                                 return (WordVector)_mm512_dpbusd_epi32(
                                     (__m512i)a, (__m512i)x, (__m512i)b);
#else
        return DotBytes(x, a, b);
#endif
                               });
}

}  // namespace hetgpu::bench
