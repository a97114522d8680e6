// The smallest useful kernel: one thread per element, guarded tail.

extern "C" __global__ void vecadd(const float* a, const float* b, float* c,
                                  unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
