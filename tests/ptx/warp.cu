// Warp collectives, barriers of every kind, clocks.
__global__ void Collectives(int *i, unsigned *u, long long *l, float *f) {
  int lane = threadIdx.x & 31;
  f[lane] = __shfl_down_sync(~0u, f[lane], 16);
  i[lane] = __shfl_xor_sync(~0u, i[lane], 3) + __shfl_up_sync(~0u, lane, 2, 8);
  i[32] = __shfl_sync(0xff, i[lane], i[33], 16);
  u[0] = __ballot_sync(~0u, i[lane] > 3) + __activemask();
  u[1] = __any_sync(~0u, i[lane]) + __all_sync(~0u, i[lane] < 9);
  u[2] = __match_any_sync(~0u, i[lane]);
  int all;
  u[3] = __match_all_sync(~0u, l[lane], &all) + all;
  u[4] = __uni_sync(~0u, i[lane]);
  u[5] = __reduce_add_sync(~0u, u[lane]) + __reduce_xor_sync(~0u, u[lane]);
  i[34] = __reduce_min_sync(~0u, i[lane]);
  __syncwarp();
  __syncwarp(0xffff);
}

__global__ void Barriers(int *i) {
  i[0] = __syncthreads_or(i[1]) + __syncthreads_and(i[2]);
  i[3] = __syncthreads_count(i[4]);
  asm volatile("bar.sync 1, 64;");
  asm volatile("bar.arrive 2, 64;");
  asm volatile("barrier.sync.aligned 3;");
  __syncthreads();
}

__global__ void Clocks(long long *l, unsigned *u) {
  l[0] = clock64();
  u[0] = clock();
  __nanosleep(100);
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(l[1]));
  asm("mov.u32 %0, %%laneid;" : "=r"(u[1]));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(u[2]));
  asm("mov.u32 %0, %%smid;" : "=r"(u[3]));
}
