// Device memory by the driver's virtual-memory API: one reserved range of
// addresses, physical memory mapped where allocations lie.
//
//   reservation
//   | slab, 32 MiB: many small allocations | large | large | …
//
// The driver maps 2 MiB at least, so allocations below that share slabs. Mappings
// belong to the process, not to a context: they outlive an abandoned one with
// their contents. After a context was destroyed, Restore() maps every live
// allocation at its old address again: pointers stay valid, contents are lost.
#ifndef HETGPU_BACKENDS_CUDA_MEMORY_H_
#define HETGPU_BACKENDS_CUDA_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/context.h"
#include "memory/range_allocator.h"

namespace hetgpu::cuda {

// Thread-safe.
class Memory {
 public:
  // Reserves addresses; the context must be the device's.
  static absl::StatusOr<std::unique_ptr<Memory>> Create(
      const Context& context);
  ~Memory();

  // Aligned to 256 bytes. ResourceExhausted when the device has not enough.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);
  // InvalidArgument when `address` is not the start of an allocation.
  absl::Status Free(uint64_t address);
  // Bytes that the driver reports free.
  uint64_t FreeBytes() const;
  // Maps everything that lives anew, in a replaced context.
  absl::Status Restore();
  // From now on nothing is unmapped: a kernel that cannot be stopped may use it,
  // and would fault.
  void KeepMapped();

 private:
  // A stretch of mapped addresses: one large allocation or a slab.
  struct Mapping {
    uint64_t bytes = 0;
    CUmemGenericAllocationHandle physical = 0;  // meaningless unless mapped
    bool mapped = false;
    std::unique_ptr<memory::RangeAllocator> slab;  // null for a large one
  };

  explicit Memory(const Context& context) : context_(context) {}
  absl::Status Reserve();
  absl::Status Map(uint64_t address, Mapping& mapping);
  void Unmap(uint64_t address, Mapping& mapping);
  // Unmaps and gives the addresses back, unless everything stays mapped.
  void Drop(std::map<uint64_t, Mapping>::iterator mapping);
  void FreeSmall(std::map<uint64_t, uint64_t>::iterator allocation);
  absl::StatusOr<uint64_t> AddMapping(uint64_t bytes, bool slab);
  absl::StatusOr<uint64_t> AllocateSmall(uint64_t bytes);

  const Context& context_;
  uint64_t base_ = 0;
  uint64_t reserved_ = 0;
  uint64_t granularity_ = 0;
  mutable std::mutex mutex_;
  std::unique_ptr<memory::RangeAllocator> addresses_;
  std::map<uint64_t, Mapping> mappings_;  // by start
  std::set<uint64_t> slabs_;              // starts of those that are slabs
  std::map<uint64_t, uint64_t> live_;     // small allocations: start → bytes
  bool keep_mapped_ = false;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_MEMORY_H_
