// Sixteen messages side by side, one per lane.
#include <algorithm>

#include "bench/twins/cpu/twin.h"
#include "bench/twins/cpu/vector.h"

namespace hetgpu::bench {
namespace {

constexpr uint32_t kRounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr uint32_t kStart[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

WordVector Rotate(WordVector x, int n) { return x >> n | x << (32 - n); }

void Compress(WordVector state[8], const WordVector block[16]) {
  WordVector w[64];
  std::copy(block, block + 16, w);
  for (int i = 16; i < 64; ++i) {
    const WordVector s0 =
        Rotate(w[i - 15], 7) ^ Rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
    const WordVector s1 =
        Rotate(w[i - 2], 17) ^ Rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  WordVector a = state[0], b = state[1], c = state[2], d = state[3];
  WordVector e = state[4], f = state[5], g = state[6], h = state[7];
  for (int i = 0; i < 64; ++i) {
    const WordVector s1 = Rotate(e, 6) ^ Rotate(e, 11) ^ Rotate(e, 25);
    const WordVector t1 = h + s1 + ((e & f) ^ (~e & g)) + kRounds[i] + w[i];
    const WordVector s0 = Rotate(a, 2) ^ Rotate(a, 13) ^ Rotate(a, 22);
    const WordVector t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  state[0] += a, state[1] += b, state[2] += c, state[3] += d;
  state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

// Block `b` of the padded message.
void Fill(const uint8_t* message, uint32_t length, uint32_t b, int lane,
          WordVector block[16]) {
  uint8_t bytes[64] = {};
  const uint32_t at = b * 64;
  if (at < length) std::memcpy(bytes, message + at, std::min(64u, length - at));
  if (length >= at && length < at + 64) bytes[length - at] = 0x80;
  for (int word = 0; word < 16; ++word) {
    uint32_t v;
    std::memcpy(&v, bytes + 4 * word, 4);
    block[word][lane] = __builtin_bswap32(v);
  }
  if (b == (length + 8) / 64) {
    block[14][lane] = length >> 29;
    block[15][lane] = length << 3;
  }
}

}  // namespace

HETGPU_HOST_TWIN(sha256) {
  const auto* const text = Get<const uint8_t*>(arguments, 0);
  const auto* const offset = Get<const uint32_t*>(arguments, 1);
  auto* const digests = Get<uint32_t*>(arguments, 2);
  const int64_t messages = Get<uint32_t>(arguments, 3);
#pragma omp parallel for schedule(static)
  for (int64_t base = 0; base < messages; base += kLanes) {
    const int lanes = std::min<int64_t>(kLanes, messages - base);
    WordVector state[8];
    for (int i = 0; i < 8; ++i) state[i] = WordVector{} + kStart[i];
    uint32_t most = 0;
    for (int l = 0; l < lanes; ++l) {
      const uint32_t length = offset[base + l + 1] - offset[base + l];
      most = std::max(most, (length + 8) / 64 + 1);
    }
    for (uint32_t b = 0; b < most; ++b) {
      WordVector block[16] = {}, next[8], use = {};
      for (int l = 0; l < lanes; ++l) {
        const uint32_t length = offset[base + l + 1] - offset[base + l];
        if (b > (length + 8) / 64) continue;
        use[l] = ~0u;
        Fill(text + offset[base + l], length, b, l, block);
      }
      std::copy(state, state + 8, next);
      Compress(next, block);
      for (int i = 0; i < 8; ++i) {
        state[i] = (next[i] & use) | (state[i] & ~use);
      }
    }
    for (int l = 0; l < lanes; ++l) {
      for (int i = 0; i < 8; ++i) digests[(base + l) * 8 + i] = state[i][l];
    }
  }
}

}  // namespace hetgpu::bench
