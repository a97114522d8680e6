// Warp specialisation with named barriers: warp 0 loads tiles, the other
// warps work on them, through two buffers.

constexpr int kTile = 64;

__device__ void BarrierSync(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

__device__ void BarrierArrive(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// One block of 32 + kTile threads; n tiles. Barriers 1, 2: buffer full;
// 3, 4: buffer empty.
extern "C" __global__ void pipeline(const int* in, int* out, int tiles) {
  __shared__ int buffer[2][kTile];
  const int threads = 32 + kTile;
  if (threadIdx.x < 32) {
    for (int t = 0; t < tiles; ++t) {
      const int slot = t % 2;
      if (t >= 2) BarrierSync(3 + slot, threads);
      for (int i = threadIdx.x; i < kTile; i += 32) {
        buffer[slot][i] = in[t * kTile + i];
      }
      __threadfence_block();
      BarrierArrive(1 + slot, threads);
    }
  } else {
    const int i = threadIdx.x - 32;
    for (int t = 0; t < tiles; ++t) {
      const int slot = t % 2;
      BarrierSync(1 + slot, threads);
      const int v = buffer[slot][i] * 3 + buffer[slot][kTile - 1 - i];
      if (t + 2 < tiles) BarrierArrive(3 + slot, threads);
      out[t * kTile + i] = v;
    }
  }
}
