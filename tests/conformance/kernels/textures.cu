// What the texture tests launch: each thread samples once.
#include <cuda_runtime.h>

extern "C" __global__ void sample_1d(cudaTextureObject_t texture,
                                     const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1D<float>(texture, x[i]);
}

extern "C" __global__ void sample_2d(cudaTextureObject_t texture,
                                     const float2* xy, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float4>(texture, xy[i].x, xy[i].y);
}

extern "C" __global__ void sample_3d(cudaTextureObject_t texture,
                                     const float4* xyz, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex3D<unsigned>(texture, xyz[i].x, xyz[i].y, xyz[i].z);
}

extern "C" __global__ void fetch(cudaTextureObject_t texture, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<int>(texture, n - 1 - i);
}

extern "C" __global__ void untextured(int* out) { out[threadIdx.x] = 7; }
