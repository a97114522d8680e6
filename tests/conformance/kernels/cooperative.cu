// Blocks that wait for each other: all of them must run at the same time.
#include <cstdint>

extern "C" {

// Adds up over `rounds` rounds what all blocks stored in the round before.
// `slots` has two halves of one word per block.
__global__ void grid_rounds(uint32_t* arrived, volatile uint32_t* slots,
                            uint32_t rounds) {
  const uint32_t blocks = gridDim.x;
  for (uint32_t round = 0; round < rounds; ++round) {
    const volatile uint32_t* before = slots + (round & 1) * blocks;
    volatile uint32_t* after = slots + (~round & 1) * blocks;
    if (threadIdx.x == 0) {
      uint32_t sum = 0;
      for (uint32_t i = 0; i < blocks; ++i) sum += before[i];
      after[blockIdx.x] = sum + blockIdx.x;
      __threadfence();
      atomicAdd(arrived, 1);
      const volatile uint32_t* count = arrived;
      while (*count < (round + 1) * blocks) {
      }
      __threadfence();
    }
    __syncthreads();
  }
}

}  // extern "C"
