#include <omp.h>

#include <algorithm>
#include <vector>

#include "bench/twins/cpu/twin.h"

namespace hetgpu::bench {

// One sum per 256 elements.
HETGPU_HOST_TWIN(reduce_block) {
  const auto* const in = Get<const uint32_t*>(arguments, 0);
  auto* const out = Get<uint32_t*>(arguments, 1);
  const int64_t n = Get<uint32_t>(arguments, 2);
  constexpr int64_t kBlock = 256;
  const int64_t blocks = (n + kBlock - 1) / kBlock;
#pragma omp parallel for schedule(static)
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t end = std::min(n, (block + 1) * kBlock);
    uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = block * kBlock; i < end; ++i) sum += in[i];
    out[block] = sum;
  }
}

HETGPU_HOST_TWIN(reduce_atomic) {
  const auto* const in = Get<const float*>(arguments, 0);
  auto* const out = Get<float*>(arguments, 1);
  const int64_t n = Get<uint32_t>(arguments, 2);
  // Chunks, each in floats side by side, joined in double: floats alone would
  // lose digits that the kernel's tree keeps.
  constexpr int64_t kChunk = 4096;
  double total = 0;
#pragma omp parallel for schedule(static) reduction(+ : total)
  for (int64_t base = 0; base < n; base += kChunk) {
    const int64_t end = std::min(n, base + kChunk);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = base; i < end; ++i) sum += in[i];
    total += sum;
  }
  *out += static_cast<float>(total);
}

// Two passes over each thread's part: sums, then the scan itself.
HETGPU_HOST_TWIN(scan) {
  const auto* const in = Get<const uint32_t*>(arguments, 0);
  auto* const out = Get<uint32_t*>(arguments, 1);
  const int64_t n = Get<uint32_t>(arguments, 2);
  std::vector<uint32_t> sums(omp_get_max_threads() + 1);
#pragma omp parallel
  {
    const int64_t threads = omp_get_num_threads(), me = omp_get_thread_num();
    const int64_t begin = n * me / threads, end = n * (me + 1) / threads;
    uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = begin; i < end; ++i) sum += in[i];
    sums[me + 1] = sum;
#pragma omp barrier
    uint32_t running = 0;
    for (int64_t t = 0; t <= me; ++t) running += sums[t];
    for (int64_t i = begin; i < end; ++i) {
      const uint32_t value = in[i];
      out[i] = running;
      running += value;
    }
  }
}

// Four sets of bins a thread, so that equal neighbours do not wait for each
// other.
HETGPU_HOST_TWIN(histogram) {
  const auto* const data = Get<const uint8_t*>(arguments, 0);
  const int64_t n = Get<uint32_t>(arguments, 1);
  auto* const bins = Get<uint32_t*>(arguments, 2);
#pragma omp parallel
  {
    uint32_t local[4][256] = {};
#pragma omp for schedule(static) nowait
    for (int64_t i = 0; i < n / 4; ++i) {
      uint32_t four;
      std::memcpy(&four, data + 4 * i, 4);
      ++local[0][four & 0xff];
      ++local[1][four >> 8 & 0xff];
      ++local[2][four >> 16 & 0xff];
      ++local[3][four >> 24];
    }
#pragma omp critical
    for (int b = 0; b < 256; ++b) {
      bins[b] += local[0][b] + local[1][b] + local[2][b] + local[3][b];
    }
  }
  for (int64_t i = n / 4 * 4; i < n; ++i) ++bins[data[i]];
}

}  // namespace hetgpu::bench
