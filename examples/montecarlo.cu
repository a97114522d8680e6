// Monte Carlo with a counter-based generator (Philox-4x32, 10 rounds): no
// state in memory, every sample is a function of its index.

__device__ uint4 Philox(uint4 counter, uint2 key) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned hi0 = __umulhi(0xD2511F53u, counter.x);
    const unsigned lo0 = 0xD2511F53u * counter.x;
    const unsigned hi1 = __umulhi(0xCD9E8D57u, counter.z);
    const unsigned lo1 = 0xCD9E8D57u * counter.z;
    counter = make_uint4(hi1 ^ counter.y ^ key.x, lo1,
                         hi0 ^ counter.w ^ key.y, lo0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

// Counts points in the quarter circle in exact integer arithmetic;
// blockDim.x must be a multiple of 32.
extern "C" __global__ void mc_pi(unsigned samples, unsigned seed,
                                 unsigned long long* hits) {
  unsigned mine = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < samples;
       i += gridDim.x * blockDim.x) {
    const uint4 r = Philox(make_uint4(i, 0, 0, 0), make_uint2(seed, 0));
    const unsigned long long x = r.x, y = r.y;
    const unsigned long long x2 = x * x / 2, y2 = y * y / 2;
    if (x2 + y2 < (1ull << 63)) ++mine;
  }
  // Whole warps reach this point, so all lanes can vote.
  mine = __reduce_add_sync(0xffffffffu, mine);
  if (threadIdx.x % 32 == 0 && mine != 0) atomicAdd(hits, mine);
}

__device__ float Uniform(unsigned bits) {
  return (bits >> 8) * 0x1p-24f + 0x1p-25f;
}

// Arithmetic-average (Asian) call: one path per thread, Box-Muller normals.
extern "C" __global__ void mc_asian(float spot, float strike, float rate,
                                    float volatility, float years, int steps,
                                    unsigned seed, float* payoff,
                                    unsigned paths) {
  const unsigned path = blockIdx.x * blockDim.x + threadIdx.x;
  if (path >= paths) return;
  const float dt = years / steps;
  const float drift = (rate - 0.5f * volatility * volatility) * dt;
  const float scale = volatility * sqrtf(dt);
  float log_price = 0.0f, sum = 0.0f;
  for (int step = 0; step < steps; step += 2) {
    const uint4 r = Philox(make_uint4(path, step, 0, 0), make_uint2(seed, 1));
    const float radius = sqrtf(-2.0f * logf(Uniform(r.x)));
    float sine, cosine;
    sincosf(6.2831853f * Uniform(r.y), &sine, &cosine);
    log_price += drift + scale * radius * cosine;
    sum += spot * expf(log_price);
    if (step + 1 < steps) {
      log_price += drift + scale * radius * sine;
      sum += spot * expf(log_price);
    }
  }
  payoff[path] = expf(-rate * years) * fmaxf(sum / steps - strike, 0.0f);
}
