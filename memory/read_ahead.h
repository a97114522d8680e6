// Recognises reads that walk through an allocation, so that what comes next is
// fetched with them.
#ifndef HETGPU_MEMORY_READ_AHEAD_H_
#define HETGPU_MEMORY_READ_AHEAD_H_

#include <algorithm>
#include <cstdint>
#include <map>

#include "memory/residency.h"

namespace hetgpu::memory {

inline constexpr uint64_t kReadAheadGranules = 16;

// Not thread-safe.
class ReadAhead {
 public:
  // So many reads in a row, each from where the one before ended, start it; 0:
  // nothing does.
  explicit ReadAhead(uint64_t threshold) : threshold_(threshold) {}

  // How many bytes to fetch from `offset` on for a read of `bytes` there, of an
  // allocation of `size`.
  uint64_t Fetch(uint64_t allocation, uint64_t offset, uint64_t bytes,
                 uint64_t size) {
    Walk& walk = walks_[allocation];
    walk.steps = offset == walk.next ? walk.steps + 1 : 1;
    walk.next = offset + bytes;
    if (threshold_ == 0 || walk.steps < threshold_) return bytes;
    return std::min(std::max(bytes, kReadAheadGranules * kGranuleBytes),
                    size - offset);
  }
  void Forget(uint64_t allocation) { walks_.erase(allocation); }

 private:
  struct Walk {
    uint64_t next = UINT64_MAX;
    uint64_t steps = 0;
  };

  const uint64_t threshold_;
  std::map<uint64_t, Walk> walks_;
};

}  // namespace hetgpu::memory

#endif  // HETGPU_MEMORY_READ_AHEAD_H_
