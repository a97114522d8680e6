// Kernels that do what a kernel must not, and what is printed on the way.
#include <cassert>
#include <cstdint>
#include <cstdio>

extern "C" {

// Thread `who` of block `where` writes; the others do nothing.
__global__ void write_at(uint32_t* address, uint32_t where, uint32_t who) {
  if (blockIdx.x == where && threadIdx.x == who) *address = 1;
}

__global__ void read_at(const uint32_t* address, uint32_t* out) {
  out[threadIdx.x] = address[threadIdx.x];
}

__global__ void write_u64(uint64_t* address) { *address = 1; }

__global__ void trap_if(uint32_t who) {
  if (threadIdx.x == who) __trap();
}

__global__ void assert_below(uint32_t limit) { assert(threadIdx.x < limit); }

__global__ void forever(volatile uint32_t* flag) {
  while (*flag == 0) {
  }
}

__global__ void forever_alone() {
  for (;;) asm volatile("");
}

__device__ __noinline__ uint32_t Deeper(uint32_t depth, volatile uint32_t* p) {
  volatile uint32_t frame[64];
  frame[depth % 64] = *p;
  return depth == 0 ? 0 : Deeper(depth - 1 + *p, p) + frame[depth % 64] + 1;
}

__global__ void recurse(uint32_t* out, uint32_t depth) {
  out[1] = Deeper(depth, out);
}

// The two warps of a block wait for each other at different barriers.
__global__ void wait_for_nobody() {
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 1, 64;");
  } else {
    asm volatile("bar.sync 2, 64;");
  }
}

__global__ void print(int32_t n) {
  printf("block %d thread %d says %s %.2f %c %llx\n", blockIdx.x, threadIdx.x,
         "hello", 1.5 * n, 'x', 0x123456789abcdefull);
}

}  // extern "C"
