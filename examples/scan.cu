// Prefix sums of 32-bit integers: work-efficient (Blelloch) and by warp
// shuffles; scan_add_offsets joins the blocks.

// Exclusive scan of 2 * blockDim.x elements per block (blockDim.x a power of
// two; that many ints, twice, of dynamic shared memory). Block totals go to
// `sums`.
extern "C" __global__ void scan_blelloch(const int* in, int* out, int* sums,
                                         unsigned n) {
  extern __shared__ int temp[];
  const unsigned tid = threadIdx.x, width = 2 * blockDim.x;
  const unsigned base = blockIdx.x * width;
  temp[2 * tid] = base + 2 * tid < n ? in[base + 2 * tid] : 0;
  temp[2 * tid + 1] = base + 2 * tid + 1 < n ? in[base + 2 * tid + 1] : 0;
  unsigned offset = 1;
  for (unsigned d = width / 2; d > 0; d /= 2) {
    __syncthreads();
    if (tid < d) {
      const unsigned left = offset * (2 * tid + 1) - 1;
      const unsigned right = offset * (2 * tid + 2) - 1;
      temp[right] += temp[left];
    }
    offset *= 2;
  }
  if (tid == 0) {
    sums[blockIdx.x] = temp[width - 1];
    temp[width - 1] = 0;
  }
  for (unsigned d = 1; d < width; d *= 2) {
    offset /= 2;
    __syncthreads();
    if (tid < d) {
      const unsigned left = offset * (2 * tid + 1) - 1;
      const unsigned right = offset * (2 * tid + 2) - 1;
      const int t = temp[left];
      temp[left] = temp[right];
      temp[right] += t;
    }
  }
  __syncthreads();
  if (base + 2 * tid < n) out[base + 2 * tid] = temp[2 * tid];
  if (base + 2 * tid + 1 < n) out[base + 2 * tid + 1] = temp[2 * tid + 1];
}

__device__ int WarpInclusiveScan(int v, unsigned lane) {
#pragma unroll
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(0xffffffffu, v, offset);
    if (lane >= offset) v += other;
  }
  return v;
}

// Inclusive scan of blockDim.x elements per block (a multiple of 32).
extern "C" __global__ void scan_shuffle(const int* in, int* out, int* sums,
                                        unsigned n) {
  __shared__ int warp_sums[32];
  const unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  const unsigned i = blockIdx.x * blockDim.x + tid;
  int v = WarpInclusiveScan(i < n ? in[i] : 0, lane);
  if (lane == 31) warp_sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    const int total = lane < blockDim.x / 32 ? warp_sums[lane] : 0;
    warp_sums[lane] = WarpInclusiveScan(total, lane);
  }
  __syncthreads();
  if (warp > 0) v += warp_sums[warp - 1];
  if (i < n) out[i] = v;
  if (tid == blockDim.x - 1) sums[blockIdx.x] = v;
}

// Adds the exclusive scan of the block sums to each chunk of `chunk` elements.
extern "C" __global__ void scan_add_offsets(int* data, const int* offsets,
                                            unsigned chunk, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += offsets[i / chunk];
}
