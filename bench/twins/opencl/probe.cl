#define CHAINS 8
#define STEPS 8

__kernel void empty() {}

__kernel void copy(__global const float4* restrict in,
                   __global float4* restrict out, uint vectors) {
  const uint i = get_global_id(0);
  if (i < vectors) out[i] = in[i];
}

__kernel void fma_f32(__global const uint* in, __global uint* out, uint rounds,
                      uint threads) {
  const uint i = get_global_id(0);
  if (i >= threads) return;
  const float a = 0.5f + (float)(in[i % 16] & 0xff) * 0x1p-10f;
  const float b = (float)(in[i / 16 % 16] & 0xff) * 0x1p-8f;
  float x[CHAINS];
  for (int c = 0; c < CHAINS; ++c) x[c] = (float)c;
  for (uint r = 0; r < rounds; ++r) {
    for (int s = 0; s < STEPS; ++s) {
      for (int c = 0; c < CHAINS; ++c) x[c] = fma(x[c], a, b);
    }
  }
  float sum = 0.0f;
  for (int c = 0; c < CHAINS; ++c) sum += x[c];
  out[i] = as_uint(sum);
}

__kernel void mix_i32(__global const uint* in, __global uint* out, uint rounds,
                      uint threads) {
  const uint i = get_global_id(0);
  if (i >= threads) return;
  const uint a = in[i % 16], b = in[i / 16 % 16];
  uint x[CHAINS];
  for (int c = 0; c < CHAINS; ++c) x[c] = c;
  for (uint r = 0; r < rounds; ++r) {
    for (int s = 0; s < STEPS; ++s) {
      for (int c = 0; c < CHAINS; ++c) x[c] = (x[c] + a) ^ b;
    }
  }
  uint sum = 0;
  for (int c = 0; c < CHAINS; ++c) sum += x[c];
  out[i] = sum;
}

__kernel void dot_i8(__global const uint* in, __global uint* out, uint rounds,
                     uint threads) {
  const uint i = get_global_id(0);
  if (i >= threads) return;
  const uint a = in[i % 16];
  const int4 b = convert_int4(as_char4(in[i / 16 % 16]));
  uint x[CHAINS];
  for (int c = 0; c < CHAINS; ++c) x[c] = c;
  for (uint r = 0; r < rounds; ++r) {
    for (int s = 0; s < STEPS; ++s) {
      for (int c = 0; c < CHAINS; ++c) {
        const int4 y = convert_int4(as_uchar4(x[c]));
        x[c] = y.x * b.x + y.y * b.y + y.z * b.z + y.w * b.w + a;
      }
    }
  }
  uint sum = 0;
  for (int c = 0; c < CHAINS; ++c) sum += x[c];
  out[i] = sum;
}
