// The barrier of a grid as nvcc makes it of cooperative_groups.
#include <cooperative_groups.h>

#include <cstdint>

extern "C" {

// Each round, every thread adds what the thread at the mirrored place of the
// grid had in the round before. `slots` has two halves of one word per thread.
__global__ void mirror_rounds(uint32_t* slots, uint32_t rounds) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const uint32_t threads = grid.size();
  const uint32_t thread = grid.thread_rank();
  for (uint32_t round = 0; round < rounds; ++round) {
    const uint32_t* before = slots + (round & 1) * threads;
    uint32_t* after = slots + (~round & 1) * threads;
    after[thread] = before[thread] + before[threads - 1 - thread] + thread;
    grid.sync();
  }
}

// Whether the launch was a cooperative one.
__global__ void is_cooperative(uint32_t* result) {
  *result = cooperative_groups::this_grid().is_valid();
}

}  // extern "C"
