// Probes of SIMT meaning that emulations are known to get wrong. A backend may
// pass or refuse them by name, never hang or compute something else.
#include <cstdint>

extern "C" {

// The last thread of the block sets a flag that all others wait for.
__global__ void spin_between_threads(volatile uint32_t* flag, uint32_t* out) {
  if (threadIdx.x == blockDim.x - 1) {
    out[blockDim.x] = 7;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
  }
  out[threadIdx.x] = threadIdx.x + *(volatile uint32_t*)&out[blockDim.x];
}

// Every block waits for the block before it (forward) or after it.
__global__ void look_back(volatile uint32_t* done, uint32_t forward) {
  if (threadIdx.x != 0) return;
  const uint32_t last = gridDim.x - 1;
  const uint32_t at = forward ? blockIdx.x : last - blockIdx.x;
  uint32_t sum = blockIdx.x;
  if (at != 0) {
    const uint32_t before = forward ? blockIdx.x - 1 : blockIdx.x + 1;
    uint32_t value;
    while ((value = done[before]) == 0) {
    }
    sum += value - 1;
  }
  __threadfence();
  done[blockIdx.x] = sum + 1;
}

// A guarded barrier in a loop whose trip count differs among the threads: the
// guard is the same for all, so all meet it equally often.
__global__ void guarded_barrier(uint32_t* out, uint32_t rounds) {
  __shared__ uint32_t sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  uint32_t seen = 0;
  for (uint32_t i = 0; i < rounds + threadIdx.x % 5; ++i) {
    if (i < rounds) {
      atomicAdd(&sum, i + 1);
      __syncthreads();
      seen = seen * 31 + sum;
      __syncthreads();
    } else {
      seen += 1000 * i;
    }
  }
  out[threadIdx.x] = seen;
}

// Warps leave the loop one after the other, and with it the kernel, while the
// rest still meet at the barrier.
__global__ void leaving_barrier(uint32_t* out) {
  __shared__ uint32_t sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (uint32_t i = 0;; ++i) {
    atomicAdd(&sum, 1u);
    __syncthreads();
    if (i == threadIdx.x / 32) {
      out[threadIdx.x] = sum;
      return;
    }
    __syncthreads();
  }
}

// Every lane of every warp takes the same lock.
__global__ void spin_lock(uint32_t* lock, uint32_t* total, uint32_t rounds) {
  for (uint32_t i = 0; i < rounds; ++i) {
    bool done = false;
    while (!done) {
      if (atomicCAS(lock, 0u, 1u) == 0u) {
        __threadfence();
        *(volatile uint32_t*)total += 1;
        __threadfence();
        atomicExch(lock, 0u);
        done = true;
      }
    }
  }
}

// The other way to write it: the lock is taken in the loop's condition, so the
// holder is behind the loop that the others still run.
__global__ void spin_lock_tight(uint32_t* lock, uint32_t* total) {
  while (atomicCAS(lock, 0u, 1u) != 0u) {
  }
  *(volatile uint32_t*)total += 1;
  __threadfence();
  atomicExch(lock, 0u);
}

// Half of the block leaves before the barrier that the rest meets at.
__global__ void leave_before_barrier(uint32_t* out) {
  __shared__ uint32_t tile[1024];
  const uint32_t half = blockDim.x / 2;
  tile[threadIdx.x] = threadIdx.x;
  if (threadIdx.x >= half) return;
  __syncthreads();
  out[threadIdx.x] = tile[half - 1 - threadIdx.x];
}

// Producer and consumer warps hand over by named barriers.
__global__ void named_barriers(uint32_t* out, uint32_t rounds) {
  __shared__ volatile uint32_t slot[32];
  const uint32_t lane = threadIdx.x % 32;
  for (uint32_t i = 0; i < rounds; ++i) {
    if (threadIdx.x < 32) {
      slot[lane] = i * 32 + lane;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[i * 32 + lane] = slot[31 - lane];
      asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
}

// Collectives on the lanes that are together, in both arms of a branch.
__global__ void divergent_collectives(uint32_t* out) {
  const uint32_t lane = threadIdx.x % 32;
  uint32_t result;
  if (lane % 3 == 0) {
    const uint32_t mask = 0x49249249u;
    result = __ballot_sync(mask, lane > 10) ^ __shfl_sync(mask, lane, 3);
  } else {
    const uint32_t mask = ~0x49249249u;
    result = __ballot_sync(mask, lane > 20) ^ __shfl_sync(mask, lane, 31);
  }
  out[threadIdx.x] = result;
}

}  // extern "C"
