// C = alpha * A * B + beta * C, row-major, with 8 x 8 results in the registers
// of each thread. A is m x k, B is k x n; m and n must be multiples of 128, k
// of 16, and the matrices aligned to 16 bytes.

constexpr int kTile = 128, kDepth = 16, kThreads = 256, kEach = 8;

__device__ void Load(const float* from, float to[kEach]) {
#pragma unroll
  for (int i = 0; i < kEach; i += 4) {
    const float4 v = *reinterpret_cast<const float4*>(from + i * 16);
    to[i] = v.x, to[i + 1] = v.y, to[i + 2] = v.z, to[i + 3] = v.w;
  }
}

// A block of 256 threads makes a 128 x 128 tile; while one pair of tiles of A
// (transposed) and B in shared memory is used, the next is on its way in
// registers. Thread (tx, ty) owns rows and columns 4 t ... 4 t + 3 of both
// halves of the tile, so that shared-memory reads are free of conflicts.
extern "C" __global__ void __launch_bounds__(kThreads, 2)
    sgemm_register(int m, int n, int k, float alpha,
                   const float* __restrict__ a, const float* __restrict__ b,
                   float beta, float* __restrict__ c) {
  __shared__ __align__(16) float tile_a[2][kDepth][kTile];
  __shared__ __align__(16) float tile_b[2][kDepth][kTile];
  const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
  // Who fetches what: two vectors of A and two of B per thread.
  const int row_a = tid / 4, col_a = tid % 4 * 4;
  const int row_b = tid / 32, col_b = tid % 32 * 4;
  a += size_t(blockIdx.y) * kTile * k;
  b += size_t(blockIdx.x) * kTile;
  float4 next_a[2], next_b[2];
  float sums[kEach][kEach] = {};

  auto fetch = [&](int base) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      next_a[i] = *reinterpret_cast<const float4*>(
          a + size_t(row_a + 64 * i) * k + base + col_a);
      next_b[i] = *reinterpret_cast<const float4*>(
          b + size_t(base + row_b + 8 * i) * n + col_b);
    }
  };
  auto put = [&](int stage) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = row_a + 64 * i;
      tile_a[stage][col_a + 0][row] = next_a[i].x;
      tile_a[stage][col_a + 1][row] = next_a[i].y;
      tile_a[stage][col_a + 2][row] = next_a[i].z;
      tile_a[stage][col_a + 3][row] = next_a[i].w;
      *reinterpret_cast<float4*>(&tile_b[stage][row_b + 8 * i][col_b]) =
          next_b[i];
    }
  };

  fetch(0);
  put(0);
  __syncthreads();
  int stage = 0;
  for (int base = 0; base < k; base += kDepth) {
    const bool more = base + kDepth < k;
    if (more) fetch(base + kDepth);
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      float x[kEach], y[kEach];
      Load(&tile_a[stage][d][ty * 4], x);
      Load(&tile_b[stage][d][tx * 4], y);
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
#pragma unroll
        for (int j = 0; j < kEach; ++j) sums[i][j] += x[i] * y[j];
      }
    }
    if (more) {
      put(stage ^ 1);
      __syncthreads();
      stage ^= 1;
    }
  }

#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const int row = blockIdx.y * kTile + ty * 4 + i % 4 + i / 4 * 64;
#pragma unroll
    for (int j = 0; j < kEach; j += 4) {
      const int col = blockIdx.x * kTile + tx * 4 + j * 16;
      float4* const at = reinterpret_cast<float4*>(c + size_t(row) * n + col);
      float4 old = *at;
      old.x = alpha * sums[i][j] + beta * old.x;
      old.y = alpha * sums[i][j + 1] + beta * old.y;
      old.z = alpha * sums[i][j + 2] + beta * old.z;
      old.w = alpha * sums[i][j + 3] + beta * old.w;
      *at = old;
    }
  }
}
