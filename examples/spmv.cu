// y = A x with A in compressed sparse rows: one thread per row, and one warp
// per row.

extern "C" __global__ void spmv_scalar(int rows, const int* row_start,
                                       const int* column, const float* value,
                                       const float* x, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = row_start[row]; i < row_start[row + 1]; ++i) {
    sum += value[i] * x[column[i]];
  }
  y[row] = sum;
}

// blockDim.x must be a multiple of 32.
extern "C" __global__ void spmv_vector(int rows, const int* row_start,
                                       const int* column, const float* value,
                                       const float* x, float* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  const int end = row_start[row + 1];
  for (int i = row_start[row] + lane; i < end; i += 32) {
    sum += value[i] * x[column[i]];
  }
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) {
    sum += __shfl_xor_sync(0xffffffffu, sum, mask);
  }
  if (lane == 0) y[row] = sum;
}
