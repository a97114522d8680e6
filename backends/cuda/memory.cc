#include "backends/cuda/memory.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {
namespace {

constexpr uint64_t kPreferredBase = 0x100000000000;
constexpr uint64_t kLargestReservation = uint64_t{1} << 40;
constexpr uint64_t kSmallestReservation = uint64_t{1} << 33;
constexpr uint64_t kSlabBytes = uint64_t{32} << 20;
constexpr uint64_t kAlignment = 256;

uint64_t RoundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

CUmemAllocationProp PropertiesOf(CUdevice device) {
  CUmemAllocationProp properties = {};
  properties.type = kAllocationPinned;
  properties.location = {kLocationDevice, device};
  return properties;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Memory>> Memory::Create(
    const Context& context) {
  std::unique_ptr<Memory> memory(new Memory(context));
  absl::Status reserved = memory->Reserve();
  if (!reserved.ok()) return reserved;
  return memory;
}

Memory::~Memory() {
  if (keep_mapped_) return;
  Current current(context_);
  for (auto& [address, mapping] : mappings_) Unmap(address, mapping);
  if (reserved_ != 0) context_.library().MemAddressFree(base_, reserved_);
}

absl::Status Memory::Reserve() {
  Current current(context_);
  if (!current.status().ok()) return current.status();
  const Library& library = context_.library();
  const CUmemAllocationProp properties = PropertiesOf(context_.device());
  size_t granularity = 0;
  HETGPU_CUDA_RETURN_IF_ERROR(library, MemGetAllocationGranularity,
                              (&granularity, &properties, 0));
  granularity_ = granularity;
  CUresult result = CUDA_SUCCESS;
  for (uint64_t size = kLargestReservation; size >= kSmallestReservation;
       size /= 2) {
    CUdeviceptr base = 0;
    result = library.MemAddressReserve(&base, size, granularity_,
                                       kPreferredBase, 0);
    if (result != CUDA_SUCCESS) continue;
    base_ = base;
    reserved_ = size;
    addresses_ = std::make_unique<memory::RangeAllocator>(base_, reserved_);
    return absl::OkStatus();
  }
  return ToStatus(library, result, "cuMemAddressReserve");
}

absl::Status Memory::Map(uint64_t address, Mapping& mapping) {
  const Library& library = context_.library();
  const CUmemAllocationProp properties = PropertiesOf(context_.device());
  HETGPU_CUDA_RETURN_IF_ERROR(
      library, MemCreate, (&mapping.physical, mapping.bytes, &properties, 0));
  CUresult result =
      library.MemMap(address, mapping.bytes, 0, mapping.physical, 0);
  if (result != CUDA_SUCCESS) {
    library.MemRelease(mapping.physical);
    return ToStatus(library, result, "cuMemMap");
  }
  mapping.mapped = true;
  const CUmemAccessDesc access = {properties.location, kAccessReadWrite};
  result = library.MemSetAccess(address, mapping.bytes, &access, 1);
  if (result != CUDA_SUCCESS) {
    Unmap(address, mapping);
    return ToStatus(library, result, "cuMemSetAccess");
  }
  return absl::OkStatus();
}

void Memory::Unmap(uint64_t address, Mapping& mapping) {
  if (!mapping.mapped) return;
  mapping.mapped = false;
  context_.library().MemUnmap(address, mapping.bytes);
  context_.library().MemRelease(mapping.physical);
}

absl::StatusOr<uint64_t> Memory::AddMapping(uint64_t bytes, bool slab) {
  Mapping mapping;
  mapping.bytes = RoundUp(bytes, granularity_);
  const uint64_t address = addresses_->Allocate(mapping.bytes, granularity_);
  if (address == 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cuda: no addresses left for ", bytes, " bytes"));
  }
  Current current(context_);
  absl::Status mapped = current.status();
  if (mapped.ok()) mapped = Map(address, mapping);
  if (!mapped.ok()) {
    addresses_->Free(address, mapping.bytes);
    return absl::Status(mapped.code(), absl::StrCat(mapped.message(), ": ",
                                                    bytes, " bytes asked for"));
  }
  if (slab) {
    mapping.slab =
        std::make_unique<memory::RangeAllocator>(address, mapping.bytes);
    slabs_.insert(address);
  }
  mappings_.emplace(address, std::move(mapping));
  return address;
}

absl::StatusOr<uint64_t> Memory::AllocateSmall(uint64_t bytes) {
  const uint64_t size = RoundUp(bytes, kAlignment);
  for (const uint64_t start : slabs_) {
    const uint64_t address =
        mappings_.at(start).slab->Allocate(size, kAlignment);
    if (address == 0) continue;
    live_.emplace(address, size);
    return address;
  }
  const absl::StatusOr<uint64_t> start = AddMapping(kSlabBytes, /*slab=*/true);
  if (!start.ok()) return start;
  const uint64_t address =
      mappings_.at(*start).slab->Allocate(size, kAlignment);
  live_.emplace(address, size);
  return address;
}

absl::StatusOr<uint64_t> Memory::Allocate(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (bytes > reserved_) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cuda: out of memory: ", bytes, " bytes asked for"));
  }
  if (bytes < granularity_) return AllocateSmall(bytes);
  return AddMapping(bytes, /*slab=*/false);
}

void Memory::Drop(std::map<uint64_t, Mapping>::iterator mapping) {
  if (keep_mapped_) return;
  Unmap(mapping->first, mapping->second);
  addresses_->Free(mapping->first, mapping->second.bytes);
  slabs_.erase(mapping->first);
  mappings_.erase(mapping);
}

void Memory::FreeSmall(std::map<uint64_t, uint64_t>::iterator allocation) {
  const auto [address, bytes] = *allocation;
  live_.erase(allocation);
  const auto slab = std::prev(mappings_.upper_bound(address));
  slab->second.slab->Free(address, bytes);
  const bool empty = slab->second.slab->free_bytes() == slab->second.bytes;
  // One stays: a program that allocates and frees by turns maps nothing.
  if (empty && slabs_.size() > 1) Drop(slab);
}

absl::Status Memory::Free(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex_);
  Current current(context_);
  if (auto small = live_.find(address); small != live_.end()) {
    FreeSmall(small);
    return absl::OkStatus();
  }
  auto large = mappings_.find(address);
  if (large == mappings_.end() || large->second.slab != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("cuda: address 0x", absl::Hex(address),
                     " is not the start of an allocation"));
  }
  Drop(large);
  return absl::OkStatus();
}

uint64_t Memory::FreeBytes() const {
  Current current(context_);
  size_t free = 0, total = 0;
  if (!current.status().ok() ||
      context_.library().MemGetInfo(&free, &total) != CUDA_SUCCESS) {
    return 0;
  }
  return free;
}

absl::Status Memory::Restore() {
  std::lock_guard<std::mutex> lock(mutex_);
  Current current(context_);
  if (!current.status().ok()) return current.status();
  for (auto& [address, mapping] : mappings_) {
    Unmap(address, mapping);
    absl::Status mapped = Map(address, mapping);
    if (!mapped.ok()) return mapped;
  }
  return absl::OkStatus();
}

void Memory::KeepMapped() {
  std::lock_guard<std::mutex> lock(mutex_);
  keep_mapped_ = true;
}

}  // namespace hetgpu::cuda
