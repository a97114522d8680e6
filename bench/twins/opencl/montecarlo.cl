#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

uint4 Philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const uint hi0 = mul_hi(0xD2511F53u, counter.x);
    const uint lo0 = 0xD2511F53u * counter.x;
    const uint hi1 = mul_hi(0xCD9E8D57u, counter.z);
    const uint lo1 = 0xCD9E8D57u * counter.z;
    counter = (uint4)(hi1 ^ counter.y ^ key.x, lo1, hi0 ^ counter.w ^ key.y,
                      lo0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

// A local counter in place of a vote.
__kernel void mc_pi(uint samples, uint seed, __global ulong* hits) {
  __local uint found;
  if (get_local_id(0) == 0) found = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint mine = 0;
  for (uint i = get_global_id(0); i < samples; i += get_global_size(0)) {
    const uint4 r = Philox((uint4)(i, 0, 0, 0), (uint2)(seed, 0));
    const ulong x = r.x, y = r.y;
    const ulong x2 = x * x / 2, y2 = y * y / 2;
    if (x2 + y2 < (1ul << 63)) ++mine;
  }
  atomic_add(&found, mine);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (get_local_id(0) == 0) atom_add(hits, (ulong)found);
}

float Uniform(uint bits) { return (bits >> 8) * 0x1p-24f + 0x1p-25f; }

__kernel void mc_asian(float spot, float strike, float rate, float volatility,
                       float years, int steps, uint seed,
                       __global float* payoff, uint paths) {
  const uint path = get_global_id(0);
  if (path >= paths) return;
  const float dt = years / steps;
  const float drift = (rate - 0.5f * volatility * volatility) * dt;
  const float scale = volatility * sqrt(dt);
  float log_price = 0.0f, sum = 0.0f;
  for (int step = 0; step < steps; step += 2) {
    const uint4 r = Philox((uint4)(path, step, 0, 0), (uint2)(seed, 1));
    const float radius = sqrt(-2.0f * log(Uniform(r.x)));
    float cosine;
    const float sine = sincos(6.2831853f * Uniform(r.y), &cosine);
    log_price += drift + scale * radius * cosine;
    sum += spot * exp(log_price);
    if (step + 1 < steps) {
      log_price += drift + scale * radius * sine;
      sum += spot * exp(log_price);
    }
  }
  payoff[path] = exp(-rate * years) * fmax(sum / steps - strike, 0.0f);
}
