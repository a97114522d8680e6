#include "backends/cuda/memory.h"

#include <fcntl.h>

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {
namespace {

constexpr uint64_t kSlabBytes = uint64_t{32} << 20;
constexpr uint64_t kAlignment = 256;

uint64_t RoundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

CUmemAllocationProp PropertiesOf(const Library& library, CUdevice device) {
  CUmemAllocationProp properties = {};
  // So that another process can take it over.
  int exportable = 0;
  library.DeviceGetAttribute(
      &exportable,
      CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, device);
  if (exportable != 0) {
    properties.requested_handle_types = kHandleFileDescriptor;
  }
  properties.type = kAllocationPinned;
  properties.location = {kLocationDevice, device};
  return properties;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Memory>> Memory::CreateAt(
    const Context& context, uint64_t hint, bool unified) {
  const absl::StatusOr<AddressSpace*> space =
      AddressSpace::Of(context, hint);
  if (!space.ok()) return space.status();
  const Window& window = (*space)->window();
  if (unified && window.delta != 0 && !window.IsApart()) {
    return absl::UnimplementedError(absl::StrCat(
        "cuda: the driver reserved 0x", absl::Hex((*space)->base()),
        ", which overlaps the process's addresses at 0x",
        absl::Hex(window.base), ": no unified memory is possible"));
  }
  std::unique_ptr<Memory> memory(new Memory(context, **space, unified));
  absl::Status found = memory->FindGranularity();
  if (!found.ok()) return found;
  return memory;
}

absl::StatusOr<std::unique_ptr<Memory>> Memory::Create(const Context& context,
                                                       bool unified) {
  return CreateAt(context, 0, unified);
}

absl::StatusOr<std::unique_ptr<Memory>> Memory::Import(const Context& context,
                                                       MemoryExport exported,
                                                       bool unified) {
  if (exported.reserved.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat("cuda: memory of ", exported.reserved.size(),
                     " reservations, expected 1"));
  }
  auto memory = CreateAt(context, exported.reserved[0].address, unified);
  if (!memory.ok()) return memory;
  absl::Status status;
  for (MemoryExport::Block& block : exported.blocks) {
    if (status.ok()) status = (*memory)->ImportBlock(block);
  }
  for (const MemoryExport::Range& range : exported.allocations) {
    if (status.ok()) status = (*memory)->ImportAllocation(range);
  }
  if (!status.ok()) return status;
  return memory;
}

Memory::~Memory() {
  if (keep_mapped_) return;
  UnmapAll();
  for (auto& [address, mapping] : mappings_) {
    if (!mapping.is_chosen) space_.Free(address, mapping.bytes);
  }
}

void Memory::UnmapAll() {
  Current current(context_);
  for (auto& [address, mapping] : mappings_) Unmap(address, mapping);
}

void Memory::Release() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (keep_mapped_) return;
  UnmapAll();
  mappings_.clear();
}

absl::StatusOr<MemoryExport> Memory::Export() const {
  std::lock_guard<std::mutex> lock(mutex_);
  const Library& library = context_.library();
  MemoryExport exported;
  exported.unified = unified_;
  exported.reserved.push_back({space_.base(), space_.bytes()});
  for (const auto& [address, mapping] : mappings_) {
    const bool is_slab = mapping.slab != nullptr;
    if (is_slab && mapping.slab->free_bytes() == mapping.bytes) continue;
    int fd = -1;
    if (mapping.shared.valid()) {
      fd = fcntl(mapping.shared.get(), F_DUPFD_CLOEXEC, 0);
    } else {
      HETGPU_CUDA_RETURN_IF_ERROR(
          library, MemExportToShareableHandle,
          (&fd, mapping.physical, kHandleFileDescriptor, 0));
    }
    if (fd < 0) {
      return absl::ResourceExhaustedError("cuda: too many open files");
    }
    exported.blocks.push_back({{address, mapping.bytes}, UniqueFd(fd)});
    if (!is_slab && !mapping.is_chosen) {
      exported.allocations.push_back({address, mapping.bytes});
    }
  }
  for (const auto& [address, bytes] : live_) {
    exported.allocations.push_back({address, bytes});
  }
  return exported;
}

// As if its addresses were a caller's, until an allocation is found in it.
absl::Status Memory::ImportBlock(MemoryExport::Block& block) {
  const auto& [address, bytes] = block.range;
  if (bytes == 0 || !space_.Take(address, bytes)) {
    return absl::UnavailableError(absl::StrCat(
        "cuda: ", bytes, " bytes at 0x", absl::Hex(address),
        " cannot be had here: the addresses are in use or not reserved"));
  }
  Mapping& mapping = mappings_[address];
  mapping.bytes = bytes;
  const Current current(context_);
  if (!current.status().ok()) return current.status();
  const Library& library = context_.library();
  HETGPU_CUDA_RETURN_IF_ERROR(
      library, MemImportFromShareableHandle,
      (&mapping.physical,
       reinterpret_cast<void*>(static_cast<intptr_t>(block.handle.get())),
       kHandleFileDescriptor));
  const absl::Status mapped = MapPhysical(address, bytes, mapping.physical);
  mapping.mapped = mapped.ok();
  mapping.is_chosen = mapped.ok();
  mapping.shared = std::move(block.handle);
  if (!mapped.ok()) library.MemRelease(mapping.physical);
  return mapped;
}

// Those that do not fill a block are in slabs.
absl::Status Memory::ImportAllocation(const MemoryExport::Range& range) {
  const auto after = mappings_.upper_bound(range.address);
  if (after == mappings_.begin()) {
    return absl::InvalidArgumentError("cuda: an allocation outside of blocks");
  }
  auto& [start, mapping] = *std::prev(after);
  mapping.is_chosen = false;
  if (start == range.address && mapping.bytes == range.bytes) {
    return absl::OkStatus();
  }
  if (mapping.slab == nullptr) {
    mapping.slab =
        std::make_unique<memory::RangeAllocator>(start, mapping.bytes);
    slabs_.insert(start);
  }
  if (range.bytes == 0 || !mapping.slab->Take(range.address, range.bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "cuda: ", range.bytes, " bytes at 0x", absl::Hex(range.address),
        " are no allocation of a block"));
  }
  live_.emplace(range.address, range.bytes);
  return absl::OkStatus();
}

absl::Status Memory::FindGranularity() {
  Current current(context_);
  if (!current.status().ok()) return current.status();
  const Library& library = context_.library();
  const CUmemAllocationProp properties =
      PropertiesOf(context_.library(), context_.device());
  size_t granularity = 0;
  HETGPU_CUDA_RETURN_IF_ERROR(library, MemGetAllocationGranularity,
                              (&granularity, &properties, 0));
  granularity_ = granularity;
  return absl::OkStatus();
}

absl::Status Memory::Create(CUmemGenericAllocationHandle* physical,
                            uint64_t bytes) {
  const CUmemAllocationProp properties =
      PropertiesOf(context_.library(), context_.device());
  HETGPU_CUDA_RETURN_IF_ERROR(context_.library(), MemCreate,
                              (physical, bytes, &properties, 0));
  return absl::OkStatus();
}

absl::Status Memory::MapPhysical(uint64_t address, uint64_t bytes,
                                 CUmemGenericAllocationHandle physical) {
  const Library& library = context_.library();
  HETGPU_CUDA_RETURN_IF_ERROR(library, MemMap,
                              (address, bytes, 0, physical, 0));
  const CUmemAccessDesc access = {{kLocationDevice, context_.device()},
                                  kAccessReadWrite};
  const CUresult result = library.MemSetAccess(address, bytes, &access, 1);
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  library.MemUnmap(address, bytes);
  return ToStatus(library, result, "cuMemSetAccess");
}

absl::Status Memory::Map(uint64_t address, Mapping& mapping) {
  absl::Status mapped = Create(&mapping.physical, mapping.bytes);
  if (!mapped.ok()) return mapped;
  mapped = MapPhysical(address, mapping.bytes, mapping.physical);
  mapping.mapped = mapped.ok();
  if (!mapped.ok()) context_.library().MemRelease(mapping.physical);
  return mapped;
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
  const uint64_t address = space_.Allocate(mapping.bytes, granularity_);
  if (address == 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cuda: no addresses left for ", bytes, " bytes"));
  }
  Current current(context_);
  absl::Status mapped = current.status();
  if (mapped.ok()) mapped = Map(address, mapping);
  if (!mapped.ok()) {
    space_.Free(address, mapping.bytes);
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
  if (bytes > memory::kArenaBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cuda: out of memory: ", bytes, " bytes asked for"));
  }
  if (bytes < granularity_) return AllocateSmall(bytes);
  return AddMapping(bytes, /*slab=*/false);
}

void Memory::Drop(std::map<uint64_t, Mapping>::iterator mapping) {
  if (keep_mapped_) return;
  Unmap(mapping->first, mapping->second);
  space_.Free(mapping->first, mapping->second.bytes);
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
  if (large == mappings_.end() || large->second.slab != nullptr ||
      large->second.is_chosen) {
    return absl::InvalidArgumentError(
        absl::StrCat("cuda: address 0x", absl::Hex(address),
                     " is not the start of an allocation"));
  }
  Drop(large);
  return absl::OkStatus();
}

uint64_t Memory::MapGranularity() const {
  return space_.delta() == 0 || unified_ ? granularity_ : 0;
}

absl::Status Memory::MapAt(uint64_t address, uint64_t bytes) {
  if (!space_.Covers(address, bytes)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cuda: ", bytes, " bytes at 0x", absl::Hex(address),
                     " lie outside of the addresses that could be reserved"));
  }
  address = space_.ToDevice(address);
  std::lock_guard<std::mutex> lock(mutex_);
  const auto [entry, is_new] = mappings_.try_emplace(address);
  // What could not be unmapped before is still there.
  if (!is_new) return absl::OkStatus();
  entry->second.bytes = bytes;
  entry->second.is_chosen = true;
  Current current(context_);
  absl::Status mapped = current.status();
  if (mapped.ok()) mapped = Map(address, entry->second);
  if (!mapped.ok()) mappings_.erase(entry);
  return mapped;
}

absl::Status Memory::UnmapAt(uint64_t address, uint64_t bytes) {
  address = space_.ToDevice(address);
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = mappings_.find(address);
  if (found == mappings_.end() || !found->second.is_chosen ||
      found->second.bytes != bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("cuda: ", bytes, " bytes at 0x", absl::Hex(address),
                     " are not a mapping"));
  }
  if (keep_mapped_) return absl::OkStatus();
  Current current(context_);
  Unmap(address, found->second);
  mappings_.erase(found);
  return absl::OkStatus();
}

// The contents travel to addresses of their own first, because two GPUs cannot
// have different memory at the same ones.
absl::Status Memory::TakeFrom(Memory& other, uint64_t address,
                              uint64_t bytes) {
  address = space_.ToDevice(address);
  std::scoped_lock lock(mutex_, other.mutex_);
  const auto theirs = other.mappings_.find(address);
  if (theirs == other.mappings_.end() || theirs->second.bytes != bytes ||
      !theirs->second.is_chosen || mappings_.count(address) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("cuda: ", bytes, " bytes at 0x", absl::Hex(address),
                     " are not a mapping of the other device"));
  }
  const uint64_t aside = space_.Allocate(bytes, granularity_);
  if (aside == 0) {
    return absl::ResourceExhaustedError("cuda: no addresses left for a move");
  }
  Mapping mine;
  mine.bytes = bytes;
  mine.is_chosen = true;
  Current current(context_);
  absl::Status moved = current.status();
  if (moved.ok()) moved = Map(aside, mine);
  if (moved.ok()) moved = CopyHere(current, other, aside, address, bytes);
  if (mine.mapped) context_.library().MemUnmap(aside, bytes);
  space_.Free(aside, bytes);
  if (!moved.ok()) {
    if (mine.mapped) context_.library().MemRelease(mine.physical);
    return moved;
  }
  const Library& library = context_.library();
  library.MemUnmap(address, bytes);
  moved = MapPhysical(address, bytes, mine.physical);
  if (!moved.ok()) {
    library.MemRelease(mine.physical);
    const absl::Status back =
        other.MapPhysical(address, bytes, theirs->second.physical);
    return back.ok() ? moved : back;
  }
  library.MemRelease(theirs->second.physical);
  other.mappings_.erase(theirs);
  mappings_.emplace(address, std::move(mine));
  return absl::OkStatus();
}

absl::Status Memory::CopyHere(const Current& current, const Memory& other,
                              uint64_t dst, uint64_t src, uint64_t bytes) {
  const Library& library = current.library();
  const Pinned peer(other.context_);
  CUstream stream = nullptr;
  if (peer.handle() == nullptr) {
    return absl::UnavailableError("cuda: the other device is lost");
  }
  HETGPU_CUDA_RETURN_IF_ERROR(library, StreamCreate,
                              (&stream, kStreamNonBlocking));
  CUresult result = library.MemcpyPeerAsync(dst, current.handle(), src,
                                            peer.handle(), bytes, stream);
  if (result == CUDA_SUCCESS) result = library.StreamSynchronize(stream);
  library.StreamDestroy(stream);
  return result == CUDA_SUCCESS
             ? absl::OkStatus()
             : ToStatus(library, result, "cuMemcpyPeerAsync");
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

void Memory::KeepMapped() {
  std::lock_guard<std::mutex> lock(mutex_);
  keep_mapped_ = true;
}

}  // namespace hetgpu::cuda
