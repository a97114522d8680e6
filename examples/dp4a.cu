// 8-bit integer products accumulated in 32 bits, four at a time.

// blockDim.x must be a multiple of 32.
extern "C" __global__ void dot_int8(const int* a, const int* b, unsigned words,
                                    int* out) {
  int sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < words;
       i += gridDim.x * blockDim.x) {
    sum = __dp4a(a[i], b[i], sum);
  }
  sum = __reduce_add_sync(0xffffffffu, sum);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

// C = A * B^T: A is m x k unsigned, B is n x k signed, k4 = k / 4 words.
extern "C" __global__ void gemm_int8(const unsigned* a, const int* b, int* c,
                                     int m, int n, int k4) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  int sum = 0;
  for (int i = 0; i < k4; ++i) {
    const unsigned x = a[row * k4 + i];
    int product;
    // Unsigned times signed has no intrinsic.
    asm("dp4a.u32.s32 %0, %1, %2, %3;"
        : "=r"(product)
        : "r"(x), "r"(b[col * k4 + i]), "r"(sum));
    sum = product;
  }
  c[row * n + col] = sum;
}
