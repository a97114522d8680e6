#include "backends/common/host_stores.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hetgpu {

#if defined(__x86_64__)

namespace {

constexpr size_t kLine = 64;

__attribute__((target("avx"))) void StreamLines(char* dst, const char* src,
                                                size_t lines) {
  for (; lines > 0; --lines, dst += kLine, src += kLine) {
    const auto* from = reinterpret_cast<const __m256i*>(src);
    auto* to = reinterpret_cast<__m256i*>(dst);
    const __m256i low = _mm256_loadu_si256(from);
    const __m256i high = _mm256_loadu_si256(from + 1);
    _mm256_stream_si256(to, low);
    _mm256_stream_si256(to + 1, high);
  }
  _mm_sfence();
}

__attribute__((target("avx512f,cldemote"))) void DemoteLines(char* dst,
                                                             const char* src,
                                                             size_t lines) {
  constexpr size_t kAtOnce = 4;  // demoting each by itself takes longer
  // The processor's own reading ahead begins anew with every page.
  constexpr size_t kAhead = 16;
  for (; lines >= kAtOnce; lines -= kAtOnce) {
    __m512i line[kAtOnce];
    for (size_t i = 0; i < kAtOnce; ++i) {
      _mm_prefetch(src + (kAhead + i) * kLine, _MM_HINT_T1);
    }
    for (size_t i = 0; i < kAtOnce; ++i) {
      line[i] = _mm512_loadu_si512(src + i * kLine);
    }
    for (size_t i = 0; i < kAtOnce; ++i) {
      _mm512_store_si512(dst + i * kLine, line[i]);
    }
    for (size_t i = 0; i < kAtOnce; ++i) _cldemote(dst + i * kLine);
    dst += kAtOnce * kLine;
    src += kAtOnce * kLine;
  }
  std::memcpy(dst, src, lines * kLine);
}

using LineCopy = void (*)(char* dst, const char* src, size_t lines);

LineCopy CopyFor(Stores stores) {
  static const bool has_avx = __builtin_cpu_supports("avx");
  if (stores == Stores::kShared && HasSharedStores()) return DemoteLines;
  return has_avx ? StreamLines : nullptr;
}

}  // namespace

bool HasSharedStores() {
  static const bool has = __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("cldemote");
  return has;
}

void CopyBytes(char* dst, const char* src, size_t bytes, Stores stores) {
  const size_t lead = (kLine - reinterpret_cast<uintptr_t>(dst) % kLine) % kLine;
  const LineCopy copy =
      stores == Stores::kCached ? nullptr : CopyFor(stores);
  if (copy == nullptr || bytes < lead + kLine) {
    std::memcpy(dst, src, bytes);
    return;
  }
  std::memcpy(dst, src, lead);
  const size_t lines = (bytes - lead) / kLine;
  const size_t done = lead + lines * kLine;
  copy(dst + lead, src + lead, lines);
  std::memcpy(dst + done, src + done, bytes - done);
}

#else

bool HasSharedStores() { return false; }

void CopyBytes(char* dst, const char* src, size_t bytes, Stores stores) {
  std::memcpy(dst, src, bytes);
}

#endif

}  // namespace hetgpu
