// Jacobi iteration for the Poisson equation on a square grid; launches swap
// the two buffers until the residual is small.

extern "C" __global__ void jacobi_step(const float* u, const float* rhs,
                                       float* next, int n, float h2) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n || y >= n) return;
  const int i = y * n + x;
  if (x == 0 || y == 0 || x == n - 1 || y == n - 1) {
    next[i] = u[i];
    return;
  }
  next[i] = 0.25f * (u[i - 1] + u[i + 1] + u[i - n] + u[i + n] + h2 * rhs[i]);
}

// Largest |u - next|: non-negative floats compare like their bits.
// blockDim.x must be a multiple of 32.
extern "C" __global__ void jacobi_residual(const float* u, const float* next,
                                           unsigned* largest, int count) {
  unsigned mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += gridDim.x * blockDim.x) {
    mine = max(mine, __float_as_uint(fabsf(u[i] - next[i])));
  }
  mine = __reduce_max_sync(0xffffffffu, mine);
  if (threadIdx.x % 32 == 0) atomicMax(largest, mine);
}
