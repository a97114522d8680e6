// Sums at three widths: a tree in shared memory, warp shuffles with one
// atomic per block, and a single pass whose last block finishes the job.

__device__ float WarpSum(float v) {
  for (int offset = 16; offset > 0; offset /= 2) {
    v += __shfl_down_sync(0xffffffffu, v, offset);
  }
  return v;
}

// Valid in thread 0; any block size up to 1024.
__device__ float BlockSum(float v) {
  __shared__ float partial[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // The last warp may be partial: only its existing lanes take part.
  const unsigned lanes = min(32u, blockDim.x - warp * 32);
  const unsigned mask = 0xffffffffu >> (32 - lanes);
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_down_sync(mask, v, offset);
    if (lane + offset < lanes) v += other;
  }
  if (lane == 0) partial[warp] = v;
  __syncthreads();
  const unsigned warps = (blockDim.x + 31) / 32;
  float total = 0.0f;
  if (threadIdx.x == 0) {
    for (unsigned w = 0; w < warps; ++w) total += partial[w];
  }
  return total;
}

// One partial sum per block; blockDim.x floats of dynamic shared memory.
// Integer input: the result does not depend on the order.
extern "C" __global__ void reduce_block(const int* in, int* out, unsigned n) {
  extern __shared__ int tree[];
  const unsigned tid = threadIdx.x;
  const unsigned i = blockIdx.x * blockDim.x + tid;
  tree[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned width = blockDim.x; width > 1;) {
    const unsigned half = (width + 1) / 2;
    if (tid < width / 2) tree[tid] += tree[tid + half];
    __syncthreads();
    width = half;
  }
  if (tid == 0) out[blockIdx.x] = tree[0];
}

extern "C" __global__ void reduce_atomic(const float* in, float* out,
                                         unsigned n) {
  float v = 0.0f;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {
    v += in[i];
  }
  const float total = BlockSum(v);
  if (threadIdx.x == 0) atomicAdd(out, total);
}

// blockDim.x must be a multiple of 32. `partials` has gridDim.x elements.
__device__ unsigned blocks_done = 0;

extern "C" __global__ void reduce_single_pass(const float* in, float* partials,
                                              float* out, unsigned n) {
  __shared__ float warp_sums[32];
  __shared__ bool is_last;
  const unsigned tid = threadIdx.x;
  float v = 0.0f;
  for (unsigned i = blockIdx.x * blockDim.x + tid; i < n;
       i += gridDim.x * blockDim.x) {
    v += in[i];
  }
  v = WarpSum(v);
  if (tid % 32 == 0) warp_sums[tid / 32] = v;
  __syncthreads();
  if (tid < 32) {
    v = WarpSum(tid < blockDim.x / 32 ? warp_sums[tid] : 0.0f);
    if (tid == 0) {
      partials[blockIdx.x] = v;
      __threadfence();
      is_last = atomicInc(&blocks_done, gridDim.x - 1) == gridDim.x - 1;
    }
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  if (tid < 32) {
    v = 0.0f;
    for (unsigned i = tid; i < gridDim.x; i += 32) {
      v += ((volatile float*)partials)[i];
    }
    v = WarpSum(v);
    if (tid == 0) *out = v;
  }
}
