// Warp-wide primitives: ballots, matches, reductions, stream compaction.

// Keeps the elements above `threshold`, in any order of warps but in order
// within a warp: one atomic per warp.
extern "C" __global__ void compact(const int* in, unsigned n, int threshold,
                                   int* out, unsigned* kept) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool keep = i < n && in[i] > threshold;
  const unsigned votes = __ballot_sync(0xffffffffu, keep);
  const unsigned lane = threadIdx.x % 32;
  unsigned base = 0;
  if (lane == 0 && votes != 0) base = atomicAdd(kept, __popc(votes));
  base = __shfl_sync(0xffffffffu, base, 0);
  if (keep) out[base + __popc(votes & ((1u << lane) - 1))] = in[i];
}

// Per element, of its warp: the lanes with the same value, whether all agree,
// and and/or/xor/min/max over the odd or even lanes it belongs to.
extern "C" __global__ void warp_summary(const unsigned* in, uint4* out,
                                        unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned v = i < n ? in[i] : 0;
  const unsigned peers = __match_any_sync(0xffffffffu, v);
  const int all = __all_sync(0xffffffffu, v > 2);
  const int any = __any_sync(0xffffffffu, v > 5);
  int same;
  __match_all_sync(0xffffffffu, v / 8, &same);
  unsigned bits, extent;
  if (threadIdx.x % 2 == 0) {
    bits = __reduce_or_sync(0x55555555u, v) ^
           __reduce_and_sync(0x55555555u, v) << 8;
    extent = __reduce_max_sync(0x55555555u, v);
  } else {
    bits = __reduce_xor_sync(0xaaaaaaaau, v);
    extent = __reduce_min_sync(0xaaaaaaaau, v);
  }
  if (i < n) {
    out[i] = make_uint4(peers, all | any << 1 | (same != 0) << 2, bits, extent);
  }
}
