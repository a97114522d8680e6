// Allocations that exact checks of one worker have met, so that most checks end
// without a lock.
#ifndef HETGPU_BACKENDS_CPU_SEEN_RANGES_H_
#define HETGPU_BACKENDS_CPU_SEEN_RANGES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/arena.h"

namespace hetgpu::cpu {

class SeenRanges {
 public:
  // Whether all bytes lie in one range that was added while the arena was at
  // this generation.
  bool Hold(uint64_t generation, uint64_t address, uint64_t bytes) const {
    if (generation != generation_) return false;
    for (const Arena::Range& range : ranges_) {
      if (range.Holds(address, bytes)) return true;
    }
    return false;
  }

  void Add(uint64_t generation, const Arena::Range& range) {
    if (generation != generation_) ranges_ = {};
    generation_ = generation;
    ranges_[next_] = range;
    next_ = (next_ + 1) % ranges_.size();
  }

 private:
  std::array<Arena::Range, 4> ranges_;
  size_t next_ = 0;
  uint64_t generation_ = 0;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_SEEN_RANGES_H_
