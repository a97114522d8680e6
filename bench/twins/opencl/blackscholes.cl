float NormalCdf(float x) { return 0.5f * erfc(-x * 0.70710678118654752f); }

__kernel void black_scholes(__global const float* spot,
                            __global const float* strike,
                            __global const float* years, float rate,
                            float volatility, __global float* call,
                            __global float* put, uint n) {
  const uint i = get_global_id(0);
  if (i >= n) return;
  const float s = spot[i], k = strike[i], t = years[i];
  const float sigma = volatility * sqrt(t);
  const float d1 =
      (log(s / k) + (rate + 0.5f * volatility * volatility) * t) / sigma;
  const float d2 = d1 - sigma;
  const float discounted = k * exp(-rate * t);
  call[i] = s * NormalCdf(d1) - discounted * NormalCdf(d2);
  put[i] = discounted * NormalCdf(-d2) - s * NormalCdf(-d1);
}
