// Device memory: host memory out of one reserved range of addresses.
//
//   reservation (no access)
//   | guard | allocation 1 | guard | allocation 2 | guard | freed, no access …
//
// Every allocation is committed pages of its own between inaccessible ones, so
// that running over an end, and using a freed address, faults. Allocations end
// within 256 bytes of their upper guard, the granule to which CUDA aligns them.
// Freed addresses come back into use as late as possible.
#ifndef HETGPU_BACKENDS_CPU_ARENA_H_
#define HETGPU_BACKENDS_CPU_ARENA_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hetgpu::cpu {

// Thread-safe. Operations take O(log allocations).
class Arena {
 public:
  // Allocations may use `limit` bytes, counted in whole pages.
  // ResourceExhausted when the system grants no address range.
  static absl::StatusOr<std::unique_ptr<Arena>> Create(uint64_t limit);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Zeroed and aligned to 256 bytes; ResourceExhausted names what was asked for
  // and what is free.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);
  // InvalidArgument when `address` is not the start of a live allocation.
  absl::Status Free(uint64_t address);
  uint64_t FreeBytes() const;

  uint64_t base() const { return base_; }
  uint64_t size() const { return size_; }

 private:
  using Range = std::pair<uint64_t, uint64_t>;  // size, start

  Arena(uint64_t base, uint64_t size, uint64_t limit);

  // Start of `bytes` addresses aligned to `alignment`, or 0.
  uint64_t TakeAddresses(uint64_t bytes, uint64_t alignment);
  void ReturnAddresses(uint64_t start, uint64_t bytes);

  const uint64_t base_;
  const uint64_t size_;
  const uint64_t limit_;
  mutable std::mutex mutex_;
  uint64_t used_ = 0;
  uint64_t fresh_;                     // addresses from here on were never used
  std::map<uint64_t, uint64_t> live_;  // start → bytes of its pages
  std::map<uint64_t, uint64_t> freed_;  // start → bytes, merged
  std::set<Range> freed_by_size_;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_ARENA_H_
