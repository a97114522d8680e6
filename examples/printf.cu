// Output and assertions from device code.

#include <cassert>
#include <cstdio>

extern "C" __global__ void hello(int n, const double* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  printf("thread %d of block %d: value %.3f, hex %08x, char %c, %s\n",
         threadIdx.x, blockIdx.x, values[i], 0xc0ffee00u + i, 'a' + i % 26,
         i % 2 ? "odd" : "even");
}

extern "C" __global__ void print_kinds(long long big, float f,
                                       const void* pointer) {
  if (threadIdx.x != 0) return;
  const int written = printf("%lld %llu %+5d|%-6u|%g %e %%\n", big,
                             (unsigned long long)big, 42, 7u, f, f);
  printf("%s pointer, arguments printed: %d\n",
         pointer == nullptr ? "null" : "non-null", written);
}

// Fails when some element is not below `bound`.
extern "C" __global__ void check_bound(const int* data, int n, int bound) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) assert(data[i] < bound);
}

// Stops the grid when some element is negative.
extern "C" __global__ void trap_negative(const int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && data[i] < 0) __trap();
}
