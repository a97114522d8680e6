// One kernel that reaches memory of every space in every way: for unified memory
// on devices that have it at a distance from its addresses.
#include <cuda_pipeline.h>
#include <mma.h>

#include <cstdint>

__device__ uint32_t counter = 7;
__device__ uint32_t table[4] = {100, 200, 300, 400};
__constant__ uint32_t factors[4] = {3, 5, 7, 9};

// Where what a kernel of 128 threads reads and writes lies.
struct Places {
  uint32_t in[128];
  uint32_t mixed[128];    // loads that do not say of which space
  uint32_t ordered[128];  // volatile, acquire and release, hints, prefetches
  uint32_t staged[128];   // through cp.async
  uint32_t heap[128];     // through memory of malloc, found by a pointer here
  uint32_t fixed[128];    // by factors[], by name and by address
  uint64_t self[128];     // &self[i]
  uint32_t* links[128];
  uint32_t total, exchanged, largest, counted;
  uint16_t a[256], b[256];  // f16
  float product[256];
};

__device__ void UseMatrices(Places* p) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> a;
  fragment<matrix_b, 16, 16, 16, __half, row_major> b;
  fragment<accumulator, 16, 16, 16, float> c;
  load_matrix_sync(a, reinterpret_cast<const __half*>(p->a), 16);
  load_matrix_sync(b, reinterpret_cast<const __half*>(p->b), 16);
  fill_fragment(c, 0.0f);
  mma_sync(c, a, b, c);
  store_matrix_sync(p->product, c, 16, mem_row_major);
}

__device__ void UseOrders(Places* p, uint32_t i) {
  uint32_t value, again;
  const uint32_t* const from = &p->in[i];
  uint32_t* const to = &p->ordered[i];
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
               : "=r"(value) : "l"(from) : "memory");
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value)
               : "memory");
  asm volatile("ld.volatile.u32 %0, [%1];" : "=r"(again) : "l"(to) : "memory");
  asm volatile("st.global.cs.u32 [%0], %1;" ::"l"(to), "r"(again + value)
               : "memory");
}

extern "C" __global__ void every_space(Places* p, uint32_t turn) {
  __shared__ uint32_t shared[128];
  __shared__ alignas(16) uint32_t tile[128];
  const uint32_t i = threadIdx.x;
  uint32_t local[4] = {10, 20, 30, 40};
  local[turn & 3] += i;
  shared[i] = i * 2;
  uint32_t* const places[4] = {&p->in[i], &shared[i], &local[i & 3],
                               &table[i & 3]};
  uint32_t sum = 0;
  for (uint32_t k = 0; k < 4; ++k) sum = sum * 3 + *places[(k + turn) & 3];
  *places[(turn + i) & 1] += sum;  // in or shared memory
  p->mixed[i] = sum + shared[i];
  __syncthreads();
  UseOrders(p, i);
  if (i < 32) __pipeline_memcpy_async(&tile[i * 4], &p->in[i * 4], 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  p->staged[i] = tile[127 - i];
  uint32_t* const heap = static_cast<uint32_t*>(malloc(8));
  p->links[i] = heap;
  __threadfence_block();
  if (heap != nullptr) {
    heap[0] = i;
    heap[1] = 1000;
    p->heap[i] = p->links[i][0] + p->links[i][1];
    free(heap);
  }
  const uint32_t* const fixed = factors;
  p->fixed[i] = factors[2] * i + fixed[(i + turn) & 3];
  p->self[i] = reinterpret_cast<uint64_t>(&p->self[i]);
  atomicAdd(&p->total, i);
  atomicMax(&p->largest, i * 3);
  atomicCAS(&p->exchanged, 0, 77);
  atomicAdd(&counter, 1);
  __syncthreads();
  if (i == 0) p->counted = atomicExch(&counter, 7);
  if (i < 32) UseMatrices(p);
}
