// Bitonic sort of a power-of-two number of keys: whole stages in shared
// memory where they fit, single steps through global memory where not.

__device__ void CompareExchange(unsigned& a, unsigned& b, bool ascending) {
  if ((a > b) == ascending) {
    const unsigned t = a;
    a = b;
    b = t;
  }
}

// One step (stage size `k`, distance `j`) of the network over n keys.
extern "C" __global__ void bitonic_step(unsigned* keys, unsigned n, unsigned k,
                                        unsigned j) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned partner = i ^ j;
  if (i >= n || partner <= i) return;
  CompareExchange(keys[i], keys[partner], (i & k) == 0);
}

// Sorts each run of 2 * blockDim.x keys (runs alternate in direction), with
// 2 * blockDim.x words of dynamic shared memory.
extern "C" __global__ void bitonic_shared(unsigned* keys, unsigned n) {
  extern __shared__ unsigned run[];
  const unsigned width = 2 * blockDim.x, base = blockIdx.x * width;
  for (unsigned i = threadIdx.x; i < width; i += blockDim.x) {
    run[i] = base + i < n ? keys[base + i] : 0xffffffffu;
  }
  for (unsigned k = 2; k <= width; k *= 2) {
    for (unsigned j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      const unsigned low = threadIdx.x % j;
      const unsigned i = 2 * (threadIdx.x - low) + low;
      CompareExchange(run[i], run[i + j], ((base + i) & k) == 0);
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < width; i += blockDim.x) {
    if (base + i < n) keys[base + i] = run[i];
  }
}
