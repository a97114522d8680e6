// C = alpha * A * B + beta * C, row-major, A is m x k, B is k x n.

constexpr int kTile = 16;

extern "C" __global__ void sgemm_naive(int m, int n, int k, float alpha,
                                       const float* a, const float* b,
                                       float beta, float* c) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = alpha * sum + beta * c[row * n + col];
}

// Blocks of kTile x kTile threads stage one tile of A and B in shared memory.
extern "C" __global__ void sgemm_tiled(int m, int n, int k, float alpha,
                                       const float* a, const float* b,
                                       float beta, float* c) {
  __shared__ float tile_a[kTile][kTile];
  __shared__ float tile_b[kTile][kTile];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int col = blockIdx.x * kTile + tx;
  const int row = blockIdx.y * kTile + ty;
  float sum = 0.0f;
  for (int base = 0; base < k; base += kTile) {
    const int ka = base + tx, kb = base + ty;
    tile_a[ty][tx] = row < m && ka < k ? a[row * k + ka] : 0.0f;
    tile_b[ty][tx] = kb < k && col < n ? b[kb * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
    __syncthreads();
  }
  if (row < m && col < n) {
    c[row * n + col] = alpha * sum + beta * c[row * n + col];
  }
}
