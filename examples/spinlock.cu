// Every lane of every warp takes the same lock: needs lanes of one warp to
// make progress independently of each other.

__device__ void Acquire(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
}

__device__ void Release(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

// A counter that is not atomic, guarded by the lock.
extern "C" __global__ void spinlock(int* lock, volatile unsigned* counter,
                                    volatile unsigned* checksum, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Acquire(lock);
  *counter = *counter + 1;
  *checksum = *checksum + i * i;
  Release(lock);
}

// One lock per bucket, in shared memory; lanes meet in arbitrary ways.
extern "C" __global__ void spinlock_buckets(const unsigned* keys, unsigned n,
                                            unsigned long long* sums) {
  __shared__ int locks[8];
  __shared__ volatile unsigned long long buckets[8];
  for (unsigned b = threadIdx.x; b < 8; b += blockDim.x) {
    locks[b] = 0;
    buckets[b] = 0;
  }
  __syncthreads();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const unsigned b = keys[i] % 8;
    Acquire(&locks[b]);
    buckets[b] = buckets[b] + keys[i];
    Release(&locks[b]);
  }
  __syncthreads();
  for (unsigned b = threadIdx.x; b < 8; b += blockDim.x) {
    atomicAdd(&sums[b], buckets[b]);
  }
}
