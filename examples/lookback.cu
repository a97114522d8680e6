// Single-pass inclusive scan with decoupled look-back: blocks publish their
// sum, then wait for their predecessors. Relies on forward progress of blocks
// that have started, and draws block numbers so that order is start order.

constexpr unsigned kItems = 4;

// A block's entry: status in the high word, value in the low word.
constexpr unsigned long long kAggregate = 1ull << 32, kPrefix = 2ull << 32;

// `tiles` has one zeroed entry per block; `next_tile` is zero.
extern "C" __global__ void scan_lookback(const unsigned* in, unsigned* out,
                                         unsigned n, unsigned long long* tiles,
                                         unsigned* next_tile) {
  __shared__ unsigned warp_sums[32];
  __shared__ unsigned tile_index, tile_prefix;
  const unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
  if (tid == 0) tile_index = atomicAdd(next_tile, 1u);
  __syncthreads();
  const unsigned tile = tile_index;
  const unsigned first = (tile * blockDim.x + tid) * kItems;

  unsigned items[kItems], sum = 0;
#pragma unroll
  for (unsigned i = 0; i < kItems; ++i) {
    sum += first + i < n ? in[first + i] : 0;
    items[i] = sum;
  }
  unsigned scanned = sum;
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffffu, scanned, offset);
    if (lane >= offset) scanned += other;
  }
  if (lane == 31) warp_sums[warp] = scanned;
  __syncthreads();

  const unsigned warps = blockDim.x / 32;
  if (warp == 0) {
    unsigned v = lane < warps ? warp_sums[lane] : 0;
    for (unsigned offset = 1; offset < 32; offset *= 2) {
      const unsigned other = __shfl_up_sync(0xffffffffu, v, offset);
      if (lane >= offset) v += other;
    }
    warp_sums[lane] = v;
    const unsigned total = __shfl_sync(0xffffffffu, v, warps - 1);
    unsigned prefix = 0;
    if (tile == 0) {
      if (lane == 0) atomicExch(&tiles[0], kPrefix | total);
    } else {
      if (lane == 0) atomicExch(&tiles[tile], kAggregate | total);
      // The warp looks at 32 predecessors at a time, nearest in lane 0.
      for (int base = int(tile) - 1;; base -= 32) {
        const int at = base - int(lane);
        unsigned long long entry = kPrefix;
        if (at >= 0) {
          do {
            entry = *(volatile unsigned long long*)&tiles[at];
          } while (entry < kAggregate);
        }
        const unsigned done = __ballot_sync(0xffffffffu, entry >= kPrefix);
        const unsigned last = done ? __ffs(done) - 1 : 31;
        const unsigned part = lane <= last ? unsigned(entry) : 0;
        prefix += __reduce_add_sync(0xffffffffu, part);
        if (done) break;
      }
      if (lane == 0) {
        __threadfence();
        atomicExch(&tiles[tile], kPrefix | (prefix + total));
      }
    }
    if (lane == 0) tile_prefix = prefix;
  }
  __syncthreads();

  const unsigned before = tile_prefix + (warp > 0 ? warp_sums[warp - 1] : 0) +
                          scanned - sum;
#pragma unroll
  for (unsigned i = 0; i < kItems; ++i) {
    if (first + i < n) out[first + i] = before + items[i];
  }
}
