__kernel void spmv_scalar(int rows, __global const int* row_start,
                          __global const int* column,
                          __global const float* value,
                          __global const float* x, __global float* y) {
  const int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = row_start[row]; i < row_start[row + 1]; ++i) {
    sum += value[i] * x[column[i]];
  }
  y[row] = sum;
}

// 32 work-items a row; local memory in place of shuffles.
__kernel void spmv_vector(int rows, __global const int* row_start,
                          __global const int* column,
                          __global const float* value,
                          __global const float* x, __global float* y) {
  __local float sums[256];
  const int tid = get_local_id(0), lane = tid % 32;
  const int row = get_global_id(0) / 32;
  float sum = 0.0f;
  if (row < rows) {
    const int end = row_start[row + 1];
    for (int i = row_start[row] + lane; i < end; i += 32) {
      sum += value[i] * x[column[i]];
    }
  }
  sums[tid] = sum;
  for (int offset = 16; offset > 0; offset /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < offset) sums[tid] += sums[tid + offset];
  }
  if (lane == 0 && row < rows) y[row] = sums[tid];
}
