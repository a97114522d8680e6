// C = A * B^T: A is m x k unsigned bytes, B is n x k signed, k4 = k / 4.
__kernel void gemm_int8(__global const uchar4* a, __global const char4* b,
                        __global int* c, int m, int n, int k4) {
  const int col = get_global_id(0), row = get_global_id(1);
  if (row >= m || col >= n) return;
  int sum = 0;
  for (int i = 0; i < k4; ++i) {
    const int4 x = convert_int4(a[row * k4 + i]);
    const int4 y = convert_int4(b[col * k4 + i]);
    sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
  }
  c[row * n + col] = sum;
}
