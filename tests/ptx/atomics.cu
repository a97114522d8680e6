// Atomics of every operation and scope, fences, acquire and release.
#include <cuda/atomic>

__global__ void Operations(int *i, unsigned *u, unsigned long long *ul,
                           long long *l, float *f, double *d) {
  i[1] = atomicAdd(i, 1) + atomicSub(i, 2) + atomicMin(i, 3) + atomicMax(i, 4);
  u[1] = atomicInc(u, 7) + atomicDec(u, 8) + atomicAnd(u, 15) + atomicOr(u, 16);
  u[2] = atomicXor(u, 3) + atomicExch(u, 4) + atomicCAS(u, 5u, 6u);
  ul[1] = atomicAdd(ul, 1ull) + atomicCAS(ul, 2ull, 3ull) + atomicMax(ul, 4ull);
  l[1] = atomicMin(l, 5ll) + atomicMax(l, 6ll);
  f[1] = atomicAdd(f, 1.5f) + atomicExch(f, 2.5f);
  d[1] = atomicAdd(d, 1.5);
  atomicAdd(i + 2, 1);
  atomicAdd_system(i + 3, 1);
  atomicAdd_block(i + 4, 1);
  atomicCAS((unsigned short *)u, (unsigned short)1, (unsigned short)2);
}

__global__ void Shared(int *out) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  atomicAdd(&s, 1);
  atomicMax(&s, 3);
  __syncthreads();
  out[0] = s;
}

__global__ void Ordered(cuda::atomic<int, cuda::thread_scope_device> *a,
                        cuda::atomic<unsigned long long> *b, int *out) {
  a->fetch_add(1, cuda::memory_order_relaxed);
  a->fetch_or(3, cuda::memory_order_acq_rel);
  b->store(out[1], cuda::memory_order_release);
  out[0] = a->load(cuda::memory_order_acquire) + (int)b->exchange(7);
  int expected = 1;
  a->compare_exchange_strong(expected, 4, cuda::memory_order_acquire);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst,
                            cuda::thread_scope_block);
  __threadfence();
  __threadfence_system();
  __threadfence_block();
}
