// What a device can do at best, and the kernel that does nothing. The twins of
// these kernels give the ceilings that all other rows are compared with.

extern "C" __global__ void empty() {}

// One 16-byte vector per thread.
extern "C" __global__ void copy(const float4* __restrict__ in,
                                float4* __restrict__ out, unsigned vectors) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < vectors) out[i] = in[i];
}

constexpr int kChains = 8, kSteps = 8;

// Eight independent chains of fused multiplications and additions.
extern "C" __global__ void fma_f32(const unsigned* in, unsigned* out,
                                   unsigned rounds, unsigned threads) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= threads) return;
  const float a = 0.5f + float(in[i % 16] & 0xff) * 0x1p-10f;
  const float b = float(in[i / 16 % 16] & 0xff) * 0x1p-8f;
  float x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = float(c);
  for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) x[c] = __fmaf_rn(x[c], a, b);
    }
  }
  float sum = 0.0f;
  for (int c = 0; c < kChains; ++c) sum = __fadd_rn(sum, x[c]);
  out[i] = __float_as_uint(sum);
}

// An addition and an exclusive or a step.
extern "C" __global__ void mix_i32(const unsigned* in, unsigned* out,
                                   unsigned rounds, unsigned threads) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= threads) return;
  const unsigned a = in[i % 16], b = in[i / 16 % 16];
  unsigned x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = c;
  for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) x[c] = (x[c] + a) ^ b;
    }
  }
  unsigned sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  out[i] = sum;
}

// Dot products of four unsigned and four signed bytes, added to a word.
extern "C" __global__ void dot_i8(const unsigned* in, unsigned* out,
                                  unsigned rounds, unsigned threads) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= threads) return;
  const unsigned a = in[i % 16], b = in[i / 16 % 16];
  unsigned x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = c;
  for (unsigned r = 0; r < rounds; ++r) {
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
#pragma unroll
      for (int c = 0; c < kChains; ++c) {
        // Unsigned times signed has no intrinsic.
        asm("dp4a.u32.s32 %0, %0, %1, %2;" : "+r"(x[c]) : "r"(b), "r"(a));
      }
    }
  }
  unsigned sum = 0;
  for (int c = 0; c < kChains; ++c) sum += x[c];
  out[i] = sum;
}
