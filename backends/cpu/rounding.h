// Runs a floating-point operation in a directed rounding mode.
#ifndef HETGPU_BACKENDS_CPU_ROUNDING_H_
#define HETGPU_BACKENDS_CPU_ROUNDING_H_

#include <cstdint>

#include "backends/cpu/abi.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace hetgpu::cpu {

// Sets the mode for its lifetime. The compiler knows nothing of modes: pass
// operands and result through Opaque(), which it cannot move work across.
class ScopedRound {
 public:
  explicit ScopedRound(uint32_t round);
  ~ScopedRound();
  ScopedRound(const ScopedRound&) = delete;
  ScopedRound& operator=(const ScopedRound&) = delete;

 private:
  uint32_t saved_;
};

// The same value, of which the compiler knows nothing; keeps its place among
// other volatile statements.
template <typename T>
inline T Opaque(T value) {
#if defined(__x86_64__)
  if constexpr (sizeof(T) != 0 && static_cast<T>(0.5) != 0) {
    asm volatile("" : "+x"(value) : : "memory");
  } else {
    asm volatile("" : "+r"(value) : : "memory");
  }
#else
  asm volatile("" : "+m"(value) : : "memory");
#endif
  return value;
}

// MXCSR (x86) holds the mode in bits 13-14: nearest, down, up, zero.
#if defined(__x86_64__)
inline ScopedRound::ScopedRound(uint32_t round) : saved_(_mm_getcsr()) {
  constexpr uint32_t kModes[] = {0x0000, 0x6000, 0x2000, 0x4000};
  const uint32_t control = (saved_ & ~0x6000u) | kModes[round & 3];
  asm volatile("ldmxcsr %0" : : "m"(control) : "memory");
}

inline ScopedRound::~ScopedRound() {
  asm volatile("ldmxcsr %0" : : "m"(saved_) : "memory");
}
#else
inline ScopedRound::ScopedRound(uint32_t round)
    : saved_(static_cast<uint32_t>(fegetround())) {
  constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                            FE_UPWARD};
  fesetround(kModes[round & 3]);
}

inline ScopedRound::~ScopedRound() { fesetround(static_cast<int>(saved_)); }
#endif

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_ROUNDING_H_
