// Constant, module, shared, dynamic shared and local data; cache hints.
struct Pair {
  int a;
  double b;
};
__constant__ float kTable[64] = {1, 2, 3.5f};
__constant__ Pair kPairs[2] = {{1, 2.5}, {3, 4.5}};
__device__ int counters[5] = {1, 2, 3};
__device__ int *middle = &counters[2];
__device__ const char *names[] = {"first", "second"};
__device__ double zeroed[16];
__managed__ int managed = 3;
extern __shared__ float dynamic[];

__global__ void Spaces(int n, float *out, int *o) {
  __shared__ float tile[32][33];
  __shared__ Pair pairs[4];
  int local[32];
  for (int i = 0; i < 32; ++i) local[(i * n) & 31] = i;
  tile[threadIdx.x][threadIdx.y] = out[n];
  pairs[n & 3] = kPairs[n & 1];
  dynamic[threadIdx.x] = kTable[n];
  __syncthreads();
  out[n] = tile[threadIdx.y][threadIdx.x] + dynamic[n] + (float)pairs[1].b;
  o[0] = local[n & 31] + *middle + counters[n] + managed + names[n & 1][2];
  zeroed[n & 15] += 1;
}

__global__ void Hints(int4 *v, int *p, const float2 *__restrict__ r, float2 *w,
                      char4 *c) {
  p[0] = __ldcg(p + 4) + __ldcs(p + 5) + __ldca(p + 1) + __ldlu(p + 2);
  p[1] = __ldcv(p + 3) + __ldg(p + 6);
  __stwt(p + 5, 3);
  __stcs(p + 7, 2);
  __stcg(p + 8, 4);
  v[threadIdx.x] = v[threadIdx.x + 1];
  w[threadIdx.x] = r[threadIdx.x];
  c[threadIdx.x] = c[threadIdx.x + 1];
  volatile int *q = p;
  q[9] = q[10];
}

__global__ void Generic(int *p, int n) {
  __shared__ int s[4];
  int *q = n ? p : s;
  q[n & 3] = n + __isGlobal(q) + __isShared(q);
  __syncthreads();
  p[5] = s[n & 3];
}
