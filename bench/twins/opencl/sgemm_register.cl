#define TILE 128
#define DEPTH 16

// As the CUDA kernel, without fetching the next tiles ahead.
__kernel void sgemm_register(int m, int n, int k, float alpha,
                             __global const float* restrict a,
                             __global const float* restrict b, float beta,
                             __global float* restrict c) {
  __local float tile_a[DEPTH][TILE];
  __local float tile_b[DEPTH][TILE];
  const int tid = get_local_id(0), tx = tid % 16, ty = tid / 16;
  const int row_a = tid / 4, col_a = tid % 4 * 4;
  const int row_b = tid / 32, col_b = tid % 32 * 4;
  a += (size_t)get_group_id(1) * TILE * k;
  b += (size_t)get_group_id(0) * TILE;
  float4 sums[8][2];
  for (int i = 0; i < 8; ++i) sums[i][0] = sums[i][1] = (float4)(0.0f);
  for (int base = 0; base < k; base += DEPTH) {
    for (int i = 0; i < 2; ++i) {
      const int row = row_a + 64 * i;
      const float4 v = vload4(0, a + (size_t)row * k + base + col_a);
      tile_a[col_a + 0][row] = v.x;
      tile_a[col_a + 1][row] = v.y;
      tile_a[col_a + 2][row] = v.z;
      tile_a[col_a + 3][row] = v.w;
      vstore4(vload4(0, b + (size_t)(base + row_b + 8 * i) * n + col_b), 0,
              &tile_b[row_b + 8 * i][col_b]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 0; d < DEPTH; ++d) {
      const float4 y0 = vload4(0, &tile_b[d][tx * 4]);
      const float4 y1 = vload4(0, &tile_b[d][tx * 4 + 64]);
      for (int i = 0; i < 8; ++i) {
        const float x = tile_a[d][ty * 4 + i % 4 + i / 4 * 64];
        sums[i][0] += x * y0;
        sums[i][1] += x * y1;
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < 8; ++i) {
    const int row = get_group_id(1) * TILE + ty * 4 + i % 4 + i / 4 * 64;
    for (int j = 0; j < 2; ++j) {
      const int col = get_group_id(0) * TILE + tx * 4 + j * 64;
      __global float* const at = c + (size_t)row * n + col;
      vstore4(alpha * sums[i][j] + beta * vload4(0, at), 0, at);
    }
  }
}
