// Device memory by the driver's virtual-memory API: physical memory mapped where
// allocations lie, at addresses of the process.
//
//   address_space.h
//   | slab, 32 MiB: many small allocations | large | of others | large | …
//
// The driver maps 2 MiB at least, so allocations below that share slabs. Mappings
// belong to the process, not to a context: they outlive an abandoned one with
// their contents, and can be exported to another process after a fault.
#ifndef HETGPU_BACKENDS_CUDA_MEMORY_H_
#define HETGPU_BACKENDS_CUDA_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "backends/cuda/address_space.h"
#include "backends/cuda/context.h"
#include "memory/range_allocator.h"

namespace hetgpu::cuda {

// Thread-safe.
class Memory {
 public:
  // The context must be the device's.
  // `unified`: MapAt() and the like are called (OpenOptions). Unimplemented
  // when that cannot be.
  static absl::StatusOr<std::unique_ptr<Memory>> Create(
      const Context& context, bool unified);
  // With what another process exported, at the same addresses. Unavailable when
  // these cannot be had here.
  static absl::StatusOr<std::unique_ptr<Memory>> Import(
      const Context& context, MemoryExport exported, bool unified);
  ~Memory();

  // Aligned to 256 bytes. ResourceExhausted when the device has not enough.
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);
  // InvalidArgument when `address` is not the start of an allocation.
  absl::Status Free(uint64_t address);
  const AddressSpace& space() const { return space_; }
  // What mappings are multiples of; 0: the device is at a distance from the
  // arena and is not unified.
  uint64_t MapGranularity() const;
  // Memory at addresses that the caller took from the arena.
  absl::Status MapAt(uint64_t address, uint64_t bytes);
  // InvalidArgument when that is not a whole mapping.
  absl::Status UnmapAt(uint64_t address, uint64_t bytes);
  // Takes over a mapping and its contents; see Device::TakeMapping.
  absl::Status TakeFrom(Memory& other, uint64_t address, uint64_t bytes);
  // Bytes that the driver reports free.
  uint64_t FreeBytes() const;
  absl::StatusOr<MemoryExport> Export() const;
  // Unmaps everything, unless it is to stay mapped. The addresses stay taken: what
  // was exported lives on there. Nothing is called afterwards.
  void Release();
  // From now on nothing is unmapped: a kernel that cannot be stopped may use it,
  // and would fault.
  void KeepMapped();

 private:
  // A stretch of mapped addresses: one large allocation or a slab.
  struct Mapping {
    uint64_t bytes = 0;
    CUmemGenericAllocationHandle physical = 0;  // meaningless unless mapped
    bool mapped = false;
    bool is_chosen = false;  // by MapAt(): the addresses are the caller's
    std::unique_ptr<memory::RangeAllocator> slab;  // null for a large one
    // Of imported memory, which the driver does not export again.
    UniqueFd shared;
  };

  Memory(const Context& context, AddressSpace& space, bool unified)
      : context_(context), space_(space), unified_(unified) {}
  static absl::StatusOr<std::unique_ptr<Memory>> CreateAt(
      const Context& context, uint64_t hint, bool unified);
  absl::Status FindGranularity();
  void UnmapAll();
  absl::Status ImportBlock(MemoryExport::Block& block);
  absl::Status ImportAllocation(const MemoryExport::Range& range);
  absl::Status Create(CUmemGenericAllocationHandle* physical, uint64_t bytes);
  absl::Status MapPhysical(uint64_t address, uint64_t bytes,
                           CUmemGenericAllocationHandle physical);
  absl::Status Map(uint64_t address, Mapping& mapping);
  absl::Status CopyHere(const Current& current, const Memory& other,
                        uint64_t dst, uint64_t src, uint64_t bytes);
  void Unmap(uint64_t address, Mapping& mapping);
  // Unmaps and gives the addresses back, unless everything stays mapped.
  void Drop(std::map<uint64_t, Mapping>::iterator mapping);
  void FreeSmall(std::map<uint64_t, uint64_t>::iterator allocation);
  absl::StatusOr<uint64_t> AddMapping(uint64_t bytes, bool slab);
  absl::StatusOr<uint64_t> AllocateSmall(uint64_t bytes);

  const Context& context_;
  AddressSpace& space_;
  const bool unified_;
  uint64_t granularity_ = 0;
  mutable std::mutex mutex_;
  // By start, an address of the GPU, as all below.
  std::map<uint64_t, Mapping> mappings_;
  std::set<uint64_t> slabs_;              // starts of those that are slabs
  std::map<uint64_t, uint64_t> live_;     // small allocations: start → bytes
  bool keep_mapped_ = false;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_MEMORY_H_
