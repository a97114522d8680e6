// Layer normalisation, one warp per row in float, and packed half2 arithmetic
// in half.

#include <cuda_fp16.h>

__device__ float WarpSum(float v) {
  for (int mask = 16; mask > 0; mask /= 2) {
    v += __shfl_xor_sync(0xffffffffu, v, mask);
  }
  return v;
}

// One warp per row; blockDim is (32, rows per block).
extern "C" __global__ void layernorm_f32(const float* in, const float* gamma,
                                         const float* beta, float* out,
                                         unsigned rows, unsigned columns,
                                         float epsilon) {
  const unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
  const unsigned lane = threadIdx.x;
  if (row >= rows) return;
  in += size_t(row) * columns;
  out += size_t(row) * columns;
  float sum = 0.0f;
  for (unsigned c = lane; c < columns; c += 32) sum += in[c];
  const float mean = WarpSum(sum) / columns;
  float squares = 0.0f;
  for (unsigned c = lane; c < columns; c += 32) {
    const float d = in[c] - mean;
    squares += d * d;
  }
  const float scale = rsqrtf(WarpSum(squares) / columns + epsilon);
  for (unsigned c = lane; c < columns; c += 32) {
    out[c] = (in[c] - mean) * scale * gamma[c] + beta[c];
  }
}

// `pairs` half2 per row; statistics in float, the affine part in half2.
extern "C" __global__ void layernorm_f16(const __half2* in,
                                         const __half2* gamma,
                                         const __half2* beta, __half2* out,
                                         unsigned rows, unsigned pairs,
                                         float epsilon) {
  const unsigned row = blockIdx.x * blockDim.y + threadIdx.y;
  const unsigned lane = threadIdx.x;
  if (row >= rows) return;
  in += size_t(row) * pairs;
  out += size_t(row) * pairs;
  float sum = 0.0f, squares = 0.0f;
  for (unsigned c = lane; c < pairs; c += 32) {
    const float2 v = __half22float2(in[c]);
    sum += v.x + v.y;
    squares += v.x * v.x + v.y * v.y;
  }
  const float mean = WarpSum(sum) / (2 * pairs);
  const float variance = WarpSum(squares) / (2 * pairs) - mean * mean;
  const float scale = rsqrtf(variance + epsilon);
  const __half2 mean2 = __float2half2_rn(mean);
  const __half2 scale2 = __float2half2_rn(scale);
  for (unsigned c = lane; c < pairs; c += 32) {
    const __half2 normal = __hmul2(__hsub2(in[c], mean2), scale2);
    out[c] = __hfma2(normal, gamma[c], beta[c]);
  }
}
