#if defined(__AVX512VNNI__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <vector>

#include "bench/twins/cpu/twin.h"
#include "bench/twins/cpu/vector.h"

namespace hetgpu::bench {
namespace {

struct Product {
  explicit Product(void* const* arguments)
      : m(Get<int>(arguments, 0)),
        n(Get<int>(arguments, 1)),
        k(Get<int>(arguments, 2)),
        alpha(Get<float>(arguments, 3)),
        a(Get<const float*>(arguments, 4)),
        b(Get<const float*>(arguments, 5)),
        beta(Get<float>(arguments, 6)),
        c(Get<float*>(arguments, 7)) {}

  int64_t m, n, k;
  float alpha;
  const float* a;
  const float* b;
  float beta;
  float* c;
};

// Rows [row, row + kRows) times 32 columns of B, packed k x 32: the sums stay
// in registers.
constexpr int kRows = 6, kColumns = 2 * kLanes;

template <int kCount>
void Kernel(const Product& p, int64_t row, int64_t col, const float* packed) {
  FloatVector sums[kCount][2] = {};
  const float* const a = p.a + row * p.k;
  for (int64_t i = 0; i < p.k; ++i) {
    const auto b0 = LoadVector<FloatVector>(packed + i * kColumns);
    const auto b1 = LoadVector<FloatVector>(packed + i * kColumns + kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kCount; ++r) {
      const float x = a[r * p.k + i];
      sums[r][0] += x * b0;
      sums[r][1] += x * b1;
    }
  }
  for (int r = 0; r < kCount; ++r) {
    float* const to = p.c + (row + r) * p.n + col;
    for (int half = 0; half < 2; ++half) {
      const auto old = LoadVector<FloatVector>(to + half * kLanes);
      StoreVector(to + half * kLanes, p.alpha * sums[r][half] + p.beta * old);
    }
  }
}

void Tail(const Product& p, int64_t row, int64_t rows, int64_t col,
          const float* packed) {
  for (; rows > 0; --rows, ++row) Kernel<1>(p, row, col, packed);
}

int32_t Dot(const uint8_t* a, const int8_t* b, int64_t begin, int64_t end) {
  int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = begin; i < end; ++i) sum += a[i] * b[i];
  return sum;
}

// Four rows of A times four of B.
void DotBlock(const uint8_t* a, const int8_t* b, int64_t k, int32_t* c,
              int64_t n) {
  int64_t whole = 0;
  int32_t sums[4][4] = {};
#if defined(__AVX512VNNI__)
  whole = k / 64 * 64;
  __m512i wide[4][4] = {};
  for (int64_t i = 0; i < whole; i += 64) {
    __m512i y[4];
#pragma GCC unroll 4
    for (int s = 0; s < 4; ++s) y[s] = _mm512_loadu_si512(b + s * k + i);
#pragma GCC unroll 4
    for (int r = 0; r < 4; ++r) {
      const __m512i x = _mm512_loadu_si512(a + r * k + i);
#pragma GCC unroll 4
      for (int s = 0; s < 4; ++s) {
        wide[r][s] = _mm512_dpbusd_epi32(wide[r][s], x, y[s]);
      }
    }
  }
  for (int r = 0; r < 4; ++r) {
    for (int s = 0; s < 4; ++s) {
      sums[r][s] = _mm512_reduce_add_epi32(wide[r][s]);
    }
  }
#endif
  for (int r = 0; r < 4; ++r) {
    for (int s = 0; s < 4; ++s) {
      c[r * n + s] = sums[r][s] + Dot(a + r * k, b + s * k, whole, k);
    }
  }
}

}  // namespace

// The textbook loops, ordered so that the innermost is contiguous.
HETGPU_HOST_TWIN(sgemm_naive) {
  const Product p(arguments);
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < p.m; ++row) {
    float* const c = p.c + row * p.n;
    for (int64_t col = 0; col < p.n; ++col) c[col] *= p.beta;
    for (int64_t i = 0; i < p.k; ++i) {
      const float x = p.alpha * p.a[row * p.k + i];
      const float* const b = p.b + i * p.n;
#pragma omp simd
      for (int64_t col = 0; col < p.n; ++col) c[col] += x * b[col];
    }
  }
}

// Tiles of B that stay in the cache, used by every row in turn.
HETGPU_HOST_TWIN(sgemm_tiled) {
  const Product p(arguments);
  constexpr int64_t kDeep = 64, kWide = 256, kHigh = 16;
#pragma omp parallel for schedule(dynamic) collapse(2)
  for (int64_t row0 = 0; row0 < p.m; row0 += kHigh) {
    for (int64_t col0 = 0; col0 < p.n; col0 += kWide) {
      const int64_t wide = std::min(kWide, p.n - col0);
      const int64_t row1 = std::min(row0 + kHigh, p.m);
      float sums[kHigh][kWide] = {};
      for (int64_t base = 0; base < p.k; base += kDeep) {
        const int64_t deep = std::min(p.k, base + kDeep);
        for (int64_t row = row0; row < row1; ++row) {
          float* const sum = sums[row - row0];
          for (int64_t i = base; i < deep; ++i) {
            const float x = p.a[row * p.k + i];
            const float* const b = p.b + i * p.n + col0;
#pragma omp simd
            for (int64_t c = 0; c < wide; ++c) sum[c] += x * b[c];
          }
        }
      }
      for (int64_t row = row0; row < row1; ++row) {
        float* const c = p.c + row * p.n + col0;
        for (int64_t i = 0; i < wide; ++i) {
          c[i] = p.alpha * sums[row - row0][i] + p.beta * c[i];
        }
      }
    }
  }
}

// Panels of 32 columns are packed once and used by blocks of rows whose sums
// stay in registers. n must be a multiple of 32.
HETGPU_HOST_TWIN(sgemm_register) {
  const Product p(arguments);
#pragma omp parallel
  {
    std::vector<float> panel(p.k * kColumns);
#pragma omp for schedule(dynamic)
    for (int64_t col = 0; col < p.n; col += kColumns) {
      for (int64_t i = 0; i < p.k; ++i) {
        std::memcpy(&panel[i * kColumns], p.b + i * p.n + col,
                    kColumns * sizeof(float));
      }
      int64_t row = 0;
      for (; row + kRows <= p.m; row += kRows) {
        Kernel<kRows>(p, row, col, panel.data());
      }
      Tail(p, row, p.m - row, col, panel.data());
    }
  }
}

// C = A * B^T with unsigned A and signed B, by blocks of 4 x 4 results.
HETGPU_HOST_TWIN(gemm_int8) {
  const auto* const a = Get<const uint8_t*>(arguments, 0);
  const auto* const b = Get<const int8_t*>(arguments, 1);
  auto* const c = Get<int32_t*>(arguments, 2);
  const int64_t m = Get<int>(arguments, 3), n = Get<int>(arguments, 4);
  const int64_t k = int64_t{4} * Get<int>(arguments, 5);
  constexpr int64_t kBlock = 4;
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < m; row += kBlock) {
    const int64_t rows = std::min(kBlock, m - row);
    for (int64_t col = 0; col < n; col += kBlock) {
      const int64_t cols = std::min(kBlock, n - col);
      if (rows == kBlock && cols == kBlock) {
        DotBlock(a + row * k, b + col * k, k, c + row * n + col, n);
        continue;
      }
      for (int64_t r = row; r < row + rows; ++r) {
        for (int64_t s = col; s < col + cols; ++s) {
          c[r * n + s] = Dot(a + r * k, b + s * k, 0, k);
        }
      }
    }
  }
}

HETGPU_HOST_TWIN(transpose) {
  const auto* const in = Get<const float*>(arguments, 0);
  auto* const out = Get<float*>(arguments, 1);
  const int64_t width = Get<int>(arguments, 2);
  const int64_t height = Get<int>(arguments, 3);
  constexpr int64_t kTile = 32;
#pragma omp parallel for schedule(static) collapse(2)
  for (int64_t x0 = 0; x0 < width; x0 += kTile) {
    for (int64_t y0 = 0; y0 < height; y0 += kTile) {
      const int64_t x1 = std::min(x0 + kTile, width);
      const int64_t y1 = std::min(y0 + kTile, height);
      float tile[kTile][kTile + 1];
      for (int64_t y = y0; y < y1; ++y) {
        for (int64_t x = x0; x < x1; ++x) {
          tile[y - y0][x - x0] = in[y * width + x];
        }
      }
      for (int64_t x = x0; x < x1; ++x) {
        for (int64_t y = y0; y < y1; ++y) {
          out[x * height + y] = tile[y - y0][x - x0];
        }
      }
    }
  }
}

HETGPU_HOST_TWIN(spmv) {
  const int64_t rows = Get<int>(arguments, 0);
  const auto* const start = Get<const int*>(arguments, 1);
  const auto* const column = Get<const int*>(arguments, 2);
  const auto* const value = Get<const float*>(arguments, 3);
  const auto* const x = Get<const float*>(arguments, 4);
  auto* const y = Get<float*>(arguments, 5);
#pragma omp parallel for schedule(static)
  for (int64_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (int i = start[row]; i < start[row + 1]; ++i) {
      sum += value[i] * x[column[i]];
    }
    y[row] = sum;
  }
}

}  // namespace hetgpu::bench
