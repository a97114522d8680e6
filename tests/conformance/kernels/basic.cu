// Plain kernels of the conformance suite: what every backend must compute.
#include <cstdint>

extern "C" {

__device__ uint32_t counter = 5;
__device__ uint32_t table[4] = {10, 20, 30, 40};
__constant__ float scale[2] = {0.5f, 4.0f};
__device__ uint32_t* middle = &table[2];

__global__ void vecadd(const float* a, const float* b, float* c, uint32_t n) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// One record of 16 words per thread, in order of block and thread.
__global__ void identify(uint32_t* out) {
  const uint64_t block =
      blockIdx.x + gridDim.x * (blockIdx.y + uint64_t{gridDim.y} * blockIdx.z);
  const uint32_t thread =
      threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const uint32_t size = blockDim.x * blockDim.y * blockDim.z;
  uint32_t* o = out + (block * size + thread) * 16;
  o[0] = blockIdx.x, o[1] = blockIdx.y, o[2] = blockIdx.z;
  o[3] = threadIdx.x, o[4] = threadIdx.y, o[5] = threadIdx.z;
  o[6] = gridDim.x, o[7] = gridDim.y, o[8] = gridDim.z;
  o[9] = blockDim.x, o[10] = blockDim.y, o[11] = blockDim.z;
  asm("mov.u32 %0, %%laneid;" : "=r"(o[12]));
  o[13] = warpSize;
  o[14] = thread, o[15] = 0xcafe;
}

__global__ void count(uint32_t* total) { atomicAdd(total, 1u); }

struct Mixed {
  uint8_t a;
  double b;
  uint16_t c[3];
};

__global__ void parameters(uint64_t* out, uint8_t u8, int16_t s16, uint32_t u32,
                           float f32, double f64, Mixed mixed) {
  out[0] = u8;
  out[1] = static_cast<uint64_t>(static_cast<int64_t>(s16));
  out[2] = u32;
  out[3] = __float_as_uint(f32);
  out[4] = __double_as_longlong(f64);
  out[5] = mixed.a;
  out[6] = __double_as_longlong(mixed.b);
  out[7] = mixed.c[0] + mixed.c[1] * 1000 + mixed.c[2] * 1000000;
}

__global__ void nothing() {}

__global__ void reverse_static(uint32_t* data) {
  __shared__ uint32_t tile[256];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void reverse_dynamic(uint32_t* data, uint32_t words) {
  extern __shared__ uint32_t dynamic[];
  for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
    dynamic[i] = data[i];
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < words; i += blockDim.x)
    data[i] = dynamic[words - 1 - i];
}

__global__ void globals(float* out) {
  counter += 1;
  out[0] = counter * scale[0];
  out[1] = table[3] * scale[1];
  out[2] = *middle;
}

__global__ void __launch_bounds__(64) at_most_64() {}

// Runs for a while that grows with `rounds`.
__global__ void busy(uint32_t* out, uint32_t rounds) {
  uint32_t x = threadIdx.x;
  for (uint32_t i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  out[threadIdx.x] = x;
}

}  // extern "C"
