// European option prices in closed form: logf, expf, erff, division.

__device__ float NormalCdf(float x) {
  return 0.5f * erfcf(-x * 0.70710678118654752f);
}

extern "C" __global__ void black_scholes(const float* spot, const float* strike,
                                         const float* years, float rate,
                                         float volatility, float* call,
                                         float* put, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float s = spot[i], k = strike[i], t = years[i];
  const float sigma = volatility * sqrtf(t);
  const float d1 =
      (logf(s / k) + (rate + 0.5f * volatility * volatility) * t) / sigma;
  const float d2 = d1 - sigma;
  const float discounted = k * expf(-rate * t);
  call[i] = s * NormalCdf(d1) - discounted * NormalCdf(d2);
  put[i] = discounted * NormalCdf(-d2) - s * NormalCdf(-d1);
}
