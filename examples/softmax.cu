// Row-wise softmax, one block per row, in float and in half.

#include <cuda_fp16.h>

struct Max {
  __device__ static float Apply(float a, float b) { return fmaxf(a, b); }
};
struct Sum {
  __device__ static float Apply(float a, float b) { return a + b; }
};

// All threads get the result; blockDim.x must be a multiple of 32.
template <typename Op>
__device__ float BlockReduce(float v, float identity, float* scratch) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int mask = 16; mask > 0; mask /= 2) {
    v = Op::Apply(v, __shfl_xor_sync(0xffffffffu, v, mask));
  }
  __syncthreads();
  if (lane == 0) scratch[warp] = v;
  __syncthreads();
  v = lane < blockDim.x / 32 ? scratch[lane] : identity;
  for (int mask = 16; mask > 0; mask /= 2) {
    v = Op::Apply(v, __shfl_xor_sync(0xffffffffu, v, mask));
  }
  return v;
}

__device__ float Load(const float* p) { return *p; }
__device__ float Load(const __half* p) { return __half2float(*p); }
__device__ void Store(float* p, float v) { *p = v; }
__device__ void Store(__half* p, float v) { *p = __float2half_rn(v); }

template <typename T>
__device__ void SoftmaxRow(const T* in, T* out, unsigned columns) {
  __shared__ float scratch[32];
  in += size_t(blockIdx.x) * columns;
  out += size_t(blockIdx.x) * columns;
  float largest = -INFINITY;
  for (unsigned c = threadIdx.x; c < columns; c += blockDim.x) {
    largest = fmaxf(largest, Load(&in[c]));
  }
  largest = BlockReduce<Max>(largest, -INFINITY, scratch);
  float sum = 0.0f;
  for (unsigned c = threadIdx.x; c < columns; c += blockDim.x) {
    sum += __expf(Load(&in[c]) - largest);
  }
  sum = BlockReduce<Sum>(sum, 0.0f, scratch);
  for (unsigned c = threadIdx.x; c < columns; c += blockDim.x) {
    Store(&out[c], __expf(Load(&in[c]) - largest) / sum);
  }
}

extern "C" __global__ void softmax_f32(const float* in, float* out,
                                       unsigned columns) {
  SoftmaxRow(in, out, columns);
}

extern "C" __global__ void softmax_f16(const __half* in, __half* out,
                                       unsigned columns) {
  SoftmaxRow(in, out, columns);
}
