// Half and bfloat16, scalar and packed, with conversions and atomics.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void Half(__half *h, __half2 *h2, float *f, double *d, int *i) {
  int t = threadIdx.x;
  h[t] = __hfma(h[t], h[t + 1], h[t + 2]) + h[t + 3] / h[t + 4];
  h2[t] = __hfma2(h2[t], h2[t + 1], h2[t + 2]) - h2[t + 3] * h2[t + 4];
  h[t + 1] = hexp(h[t]) + hsqrt(h[t]) + __hneg(h[t]) + __habs(h[t]);
  h2[t + 1] = __hmax2(h2[t], h2[t + 1]);
  h[t + 2] = __hmin(h[t], h[t + 1]);
  if (h[t] < h[t + 1] && __hbge2(h2[t], h2[t + 1])) f[t] = 3;
  f[t + 1] = __half2float(h[t]);
  h[t + 3] = __float2half_rn(f[t]);
  h2[t + 2] = __floats2half2_rn(f[t], f[t + 1]);
  h[t + 4] = __double2half(d[t]);
  h[t + 5] = __int2half_rn(i[t]);
  i[t] = __half2int_rz(h[t]);
  atomicAdd(h2, h2[3]);
}

__global__ void Bfloat(__nv_bfloat16 *b, __nv_bfloat162 *b2, float *f) {
  int t = threadIdx.x;
  b[t] = __hfma(b[t], b[t + 1], b[t + 2]) + b[t + 3];
  b2[t] = __hfma2(b2[t], b2[t + 1], b2[t + 2]);
  f[t] = __bfloat162float(b[t]);
  b[t + 1] = __float2bfloat16_rn(f[t]);
  b2[t + 1] = __floats2bfloat162_rn(f[t], f[t + 1]);
  b[t + 2] = __hmax(b[t], b[t + 1]);
}

__global__ void Fp8(__nv_fp8_e4m3 *e, float *f) {
  int t = threadIdx.x;
  e[t] = __nv_fp8_e4m3(f[t]);
  f[t + 1] = float(e[t + 1]);
}
