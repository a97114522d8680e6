// Least-significant-digit radix sort, 4 bits a pass: count, scan, scatter.
// `counts` is digit-major: counts[digit * blocks + block].

constexpr unsigned kDigits = 16;

extern "C" __global__ void radix_count(const unsigned* keys, unsigned n,
                                       unsigned shift, unsigned* counts) {
  __shared__ unsigned local[kDigits];
  if (threadIdx.x < kDigits) local[threadIdx.x] = 0;
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&local[(keys[i] >> shift) % kDigits], 1u);
  __syncthreads();
  if (threadIdx.x < kDigits) {
    counts[threadIdx.x * gridDim.x + blockIdx.x] = local[threadIdx.x];
  }
}

// Exclusive scan of `counts` in place by one block of any size.
extern "C" __global__ void radix_scan(unsigned* counts, unsigned total) {
  __shared__ unsigned sums[1024];
  const unsigned tid = threadIdx.x;
  const unsigned per = (total + blockDim.x - 1) / blockDim.x;
  const unsigned begin = min(tid * per, total), end = min(begin + per, total);
  unsigned sum = 0;
  for (unsigned i = begin; i < end; ++i) sum += counts[i];
  sums[tid] = sum;
  for (unsigned offset = 1; offset < blockDim.x; offset *= 2) {
    __syncthreads();
    const unsigned other = tid >= offset ? sums[tid - offset] : 0;
    __syncthreads();
    sums[tid] += other;
  }
  unsigned running = sums[tid] - sum;
  for (unsigned i = begin; i < end; ++i) {
    const unsigned count = counts[i];
    counts[i] = running;
    running += count;
  }
}

// Stable: equal digits keep their order, found with warp votes. blockDim.x
// must be a multiple of 32.
extern "C" __global__ void radix_scatter(const unsigned* in, unsigned* out,
                                         unsigned n, unsigned shift,
                                         const unsigned* offsets) {
  __shared__ unsigned warp_count[32][kDigits];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned key = i < n ? in[i] : 0xffffffffu;
  const unsigned digit = i < n ? (key >> shift) % kDigits : kDigits;
  if (lane < kDigits) warp_count[warp][lane] = 0;
  __syncwarp();
  const unsigned same = __match_any_sync(0xffffffffu, digit);
  const unsigned before = __popc(same & ((1u << lane) - 1));
  if (i < n && before == 0) warp_count[warp][digit] = __popc(same);
  __syncthreads();
  if (i >= n) return;
  unsigned rank = before;
  for (unsigned w = 0; w < warp; ++w) rank += warp_count[w][digit];
  out[offsets[digit * gridDim.x + blockIdx.x] + rank] = key;
}
