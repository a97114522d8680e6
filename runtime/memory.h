// The allocations of a context: every address that comes through the API is
// checked here before a backend sees it.
#ifndef HETGPU_RUNTIME_MEMORY_H_
#define HETGPU_RUNTIME_MEMORY_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hetgpu/hetgpu.h"

namespace hetgpu::runtime {

struct Allocation {
  uint64_t base = 0;
  uint64_t size = 0;
  hetgpuMemAdvice advice = HETGPU_MEM_ADVICE_NONE;
  bool is_module_data = false;
};

// Threads: any.
class AllocationTable {
 public:
  void Add(const Allocation& allocation);

  // Takes out the allocation that starts at `address`. DOUBLE_FREE,
  // INTERIOR_POINTER, INVALID_ADDRESS or, for module data, INVALID_VALUE.
  absl::Status Remove(uint64_t address);

  // Takes out module data that starts at `address`, which must be there.
  void RemoveModuleData(uint64_t address);

  // The allocation that holds `address`. USE_AFTER_FREE or INVALID_ADDRESS.
  absl::StatusOr<Allocation> Find(uint64_t address) const;

  // That `bytes` from `address` lie in one allocation; `what` names the range
  // in the message. Find()'s errors, or OUT_OF_RANGE.
  absl::Status CheckRange(std::string_view what, uint64_t address,
                          uint64_t bytes) const;

  absl::Status SetAdvice(uint64_t address, hetgpuMemAdvice advice);

  // The live allocation that holds `address`, if any.
  std::optional<Allocation> Holding(uint64_t address) const;
  std::vector<Allocation> All() const;

  // Makes Find() and CheckRange() look there too. Before any other call.
  void SetShared(const AllocationTable* shared) { shared_ = shared; }

 private:
  using Map = std::map<uint64_t, Allocation>;

  // The entry of `map` that holds `address`, or end().
  static Map::const_iterator Holder(const Map& map, uint64_t address);
  absl::Status NotFound(uint64_t address) const;
  void RememberFreed(const Allocation& allocation);
  void ForgetFreed(const Allocation& allocation);

  const AllocationTable* shared_ = nullptr;
  mutable std::mutex mutex_;
  Map live_;
  // Ranges freed and not handed out again, to name use after free; bounded.
  Map freed_;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_MEMORY_H_
