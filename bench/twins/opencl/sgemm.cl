#define TILE 16

__kernel void sgemm_naive(int m, int n, int k, float alpha,
                          __global const float* a, __global const float* b,
                          float beta, __global float* c) {
  const int col = get_global_id(0), row = get_global_id(1);
  if (row >= m || col >= n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = alpha * sum + beta * c[row * n + col];
}

__kernel void sgemm_tiled(int m, int n, int k, float alpha,
                          __global const float* a, __global const float* b,
                          float beta, __global float* c) {
  __local float tile_a[TILE][TILE];
  __local float tile_b[TILE][TILE];
  const int tx = get_local_id(0), ty = get_local_id(1);
  const int col = get_group_id(0) * TILE + tx;
  const int row = get_group_id(1) * TILE + ty;
  float sum = 0.0f;
  for (int base = 0; base < k; base += TILE) {
    const int ka = base + tx, kb = base + ty;
    tile_a[ty][tx] = row < m && ka < k ? a[row * k + ka] : 0.0f;
    tile_b[ty][tx] = kb < k && col < n ? b[kb * n + col] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i) sum += tile_a[ty][i] * tile_b[i][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (row < m && col < n) {
    c[row * n + col] = alpha * sum + beta * c[row * n + col];
  }
}
