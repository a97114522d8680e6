// The virtual-memory API over memory files, and pinned host memory.
//
// Addresses are those of the process: one mapping of physical memory to an
// address, for all devices that were given access to it. The memory itself lies
// elsewhere (processor.h): host code finds its own memory at such an address, or
// none.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "tests/drivers/cuda/processor.h"
#include "tests/drivers/cuda/state.h"

namespace hetgpu::cuda::fake {
namespace {

constexpr size_t kPage = 4096;

using Mappings = std::map<uint64_t, Mapping>;

void* Pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

uint64_t Number(const void* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

uint64_t Used(CUdevice device) {
  uint64_t used = 0;
  for (const auto& [handle, physical] : Get().physical) {
    if (physical.device == device) used += physical.bytes;
  }
  return used;
}

// The entry of `map`, start → size or what has it, that may hold `address`.
template <typename Map>
typename Map::iterator EntryAt(Map& map, uint64_t address) {
  auto after = map.upper_bound(address);
  return after == map.begin() ? map.end() : std::prev(after);
}

bool IsReserved(uint64_t address, uint64_t bytes) {
  auto& reservations = Get().reservations;
  const auto entry = EntryAt(reservations, address);
  if (entry == reservations.end()) return false;
  const auto [start, size] = *entry;
  return address - start <= size && bytes <= size - (address - start);
}

bool IsMapped(uint64_t address, uint64_t bytes) {
  for (const auto& [start, mapping] : Get().mappings) {
    if (address < start + mapping.bytes && start < address + bytes) return true;
  }
  return false;
}

// The mappings that make up the range without a gap or a part; none when it is
// made otherwise.
std::vector<Mappings::iterator> WholeMappings(uint64_t address,
                                              uint64_t bytes) {
  auto& mappings = Get().mappings;
  std::vector<Mappings::iterator> found;
  const uint64_t end = address + bytes;
  while (address < end) {
    const auto mapping = mappings.find(address);
    if (mapping == mappings.end() || mapping->second.bytes > end - address) {
      return {};
    }
    found.push_back(mapping);
    address += mapping->second.bytes;
  }
  return found;
}

void Drop(CUmemGenericAllocationHandle handle) {
  Physical& physical = Get().physical.at(handle);
  if (!physical.released || physical.mappings > 0) return;
  close(physical.file);
  Get().physical.erase(handle);
}

bool IsGranular(uint64_t value) { return value % kGranularity == 0; }

int Protection(int flags) {
  switch (flags) {
    case kAccessReadWrite:
      return PROT_READ | PROT_WRITE;
    case kAccessRead:
      return PROT_READ;
  }
  return PROT_NONE;
}

void Hide(CUdevice device, uint64_t address, uint64_t bytes) {
  mmap(HostPointer(device, address), bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void Show(CUdevice device, uint64_t address, const Mapping& mapping,
          int flags) {
  mmap(HostPointer(device, address), mapping.bytes, Protection(flags),
       MAP_SHARED | MAP_FIXED, Get().physical.at(mapping.physical).file, 0);
}

bool IsValidAccess(const CUmemAccessDesc& access, const Mapping& mapping) {
  const CUdevice device = access.location.id;
  const CUdevice owner = Get().physical.at(mapping.physical).device;
  return access.location.type == kLocationDevice && device >= 0 &&
         device < DeviceCount() &&
         (access.flags == 0 || access.flags == kAccessRead ||
          access.flags == kAccessReadWrite) &&
         (device == owner || CanAccessPeer(device, owner));
}

bool IsVariable(CUdevice device, uint64_t address, uint64_t bytes) {
  for (const CUmodule module : Get().modules) {
    if (module->context->device == device &&
        module->loaded->Holds(address, bytes)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void* HostPointer(CUdevice device, uint64_t address) {
  return Processor::Of(device).HostPointer(address);
}

bool IsAccessible(CUdevice device, uint64_t address, uint64_t bytes) {
  if (IsVariable(device, address, bytes)) return true;
  auto& mappings = Get().mappings;
  const uint64_t end = address + bytes;
  if (end < address) return false;
  while (address < end) {
    const auto entry = EntryAt(mappings, address);
    if (entry == mappings.end()) return false;
    const auto& [start, mapping] = *entry;
    const auto access = mapping.access.find(device);
    if (address - start >= mapping.bytes || access == mapping.access.end() ||
        access->second == 0) {
      return false;
    }
    address = start + mapping.bytes;
  }
  return true;
}

CUresult MemGetInfo(size_t* free, size_t* total) {
  FAKE_ENTER("cuMemGetInfo_v2", true);
  *total = MemoryBytes();
  *free = MemoryBytes() - Used(CurrentContext()->device);
  return CUDA_SUCCESS;
}

CUresult MemGetAllocationGranularity(size_t* granularity,
                                     const CUmemAllocationProp* prop, int) {
  FAKE_ENTER("cuMemGetAllocationGranularity", false);
  if (prop->type != kAllocationPinned) {
    return Misuse("cuMemGetAllocationGranularity");
  }
  *granularity = kGranularity;
  return CUDA_SUCCESS;
}

CUresult MemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment,
                           CUdeviceptr hint, unsigned long long flags) {
  FAKE_ENTER("cuMemAddressReserve", false);
  if (Get().sticky != CUDA_SUCCESS) return Get().sticky;
  if (!IsGranular(bytes) || flags != 0) return Misuse("cuMemAddressReserve");
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = MAP_FAILED;
  if (hint != 0 && IsGranular(hint)) {
    memory = mmap(Pointer(hint), bytes, PROT_NONE,
                  kFlags | MAP_FIXED_NOREPLACE, -1, 0);
  }
  // Elsewhere: longer by a granule, to be able to align it.
  if (memory == MAP_FAILED) {
    memory = mmap(nullptr, bytes + kGranularity, PROT_NONE, kFlags, -1, 0);
  }
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto start = reinterpret_cast<uint64_t>(memory);
  *address = (start + kGranularity - 1) / kGranularity * kGranularity;
  Get().reservations[*address] = bytes;
  Processor::PlaceMemory(*address, bytes);
  return CUDA_SUCCESS;
}

CUresult MemAddressFree(CUdeviceptr address, size_t bytes) {
  FAKE_ENTER("cuMemAddressFree", false);
  const auto found = Get().reservations.find(address);
  if (found == Get().reservations.end() || found->second != bytes ||
      IsMapped(address, bytes)) {
    return Misuse("cuMemAddressFree");
  }
  munmap(Pointer(address), bytes);
  Get().reservations.erase(found);
  return CUDA_SUCCESS;
}

CUresult MemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                   const CUmemAllocationProp* prop, unsigned long long flags) {
  FAKE_ENTER("cuMemCreate", false);
  if (Get().sticky != CUDA_SUCCESS) return Get().sticky;
  const CUmemLocation& location = prop->location;
  if (!IsGranular(bytes) || bytes == 0 || flags != 0 ||
      prop->type != kAllocationPinned || location.type != kLocationDevice ||
      location.id < 0 || location.id >= DeviceCount()) {
    return Misuse("cuMemCreate");
  }
  if (bytes > MemoryBytes() - Used(location.id)) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  Physical physical;
  physical.device = location.id;
  physical.exportable = prop->requested_handle_types == kHandleFileDescriptor;
  physical.bytes = bytes;
  physical.file = memfd_create("test-gpu", 0);
  if (physical.file < 0 || ftruncate(physical.file, bytes) != 0) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *handle = Get().next_physical++;
  Get().physical[*handle] = physical;
  return CUDA_SUCCESS;
}

CUresult MemExportToShareableHandle(void* out,
                                    CUmemGenericAllocationHandle handle,
                                    int type, unsigned long long flags) {
  FAKE_ENTER("cuMemExportToShareableHandle", false);
  const auto found = Get().physical.find(handle);
  if (found == Get().physical.end() || found->second.released ||
      type != kHandleFileDescriptor || flags != 0) {
    return Misuse("cuMemExportToShareableHandle");
  }
  // Made for it, and not imported.
  if (!found->second.exportable) return CUDA_ERROR_INVALID_VALUE;
  *static_cast<int*>(out) = fcntl(found->second.file, F_DUPFD_CLOEXEC, 0);
  return CUDA_SUCCESS;
}

// The device is the one that the importing process works with.
CUresult MemImportFromShareableHandle(CUmemGenericAllocationHandle* handle,
                                      void* shared, int type) {
  FAKE_ENTER("cuMemImportFromShareableHandle", true);
  struct stat info = {};
  Physical physical;
  physical.file = fcntl(static_cast<int>(reinterpret_cast<intptr_t>(shared)),
                        F_DUPFD_CLOEXEC, 0);
  if (type != kHandleFileDescriptor || fstat(physical.file, &info) != 0) {
    return Misuse("cuMemImportFromShareableHandle");
  }
  physical.device = CurrentContext()->device;
  physical.bytes = info.st_size;
  *handle = Get().next_physical++;
  Get().physical[*handle] = physical;
  return CUDA_SUCCESS;
}

CUresult MemRelease(CUmemGenericAllocationHandle handle) {
  FAKE_ENTER("cuMemRelease", false);
  const auto found = Get().physical.find(handle);
  if (found == Get().physical.end() || found->second.released) {
    return Misuse("cuMemRelease");
  }
  found->second.released = true;
  Drop(handle);
  return CUDA_SUCCESS;
}

CUresult MemMap(CUdeviceptr address, size_t bytes, size_t offset,
                CUmemGenericAllocationHandle handle, unsigned long long flags) {
  FAKE_ENTER("cuMemMap", false);
  if (Get().sticky != CUDA_SUCCESS) return Get().sticky;
  const auto found = Get().physical.find(handle);
  if (found == Get().physical.end() || found->second.released || offset != 0 ||
      flags != 0 || bytes == 0 || !IsGranular(bytes) ||
      bytes > found->second.bytes || !IsGranular(address) ||
      !IsReserved(address, bytes) || IsMapped(address, bytes)) {
    return Misuse("cuMemMap");
  }
  ++found->second.mappings;
  Get().mappings[address] = {bytes, handle, {}};
  return CUDA_SUCCESS;
}

CUresult MemUnmap(CUdeviceptr address, size_t bytes) {
  FAKE_ENTER("cuMemUnmap", false);
  const auto found = WholeMappings(address, bytes);
  if (found.empty()) return Misuse("cuMemUnmap");
  for (const auto entry : found) {
    const auto& [start, mapping] = *entry;
    for (const auto& [device, flags] : mapping.access) {
      Hide(device, start, mapping.bytes);
    }
    const CUmemGenericAllocationHandle handle = mapping.physical;
    Get().mappings.erase(entry);
    --Get().physical.at(handle).mappings;
    Drop(handle);
  }
  return CUDA_SUCCESS;
}

CUresult MemSetAccess(CUdeviceptr address, size_t bytes,
                      const CUmemAccessDesc* access, size_t count) {
  FAKE_ENTER("cuMemSetAccess", false);
  if (Get().sticky != CUDA_SUCCESS) return Get().sticky;
  const auto found = WholeMappings(address, bytes);
  if (found.empty() || count == 0) return Misuse("cuMemSetAccess");
  for (const auto entry : found) {
    for (size_t i = 0; i < count; ++i) {
      if (!IsValidAccess(access[i], entry->second)) {
        return Misuse("cuMemSetAccess");
      }
    }
  }
  for (const auto entry : found) {
    for (size_t i = 0; i < count; ++i) {
      const CUdevice device = access[i].location.id;
      entry->second.access[device] = access[i].flags;
      Show(device, entry->first, entry->second, access[i].flags);
    }
  }
  return CUDA_SUCCESS;
}

CUresult MemHostAlloc(void** memory, size_t bytes, unsigned flags) {
  FAKE_ENTER("cuMemHostAlloc", true);
  if (bytes == 0 || (flags & ~kHostPortable) != 0) {
    return Misuse("cuMemHostAlloc");
  }
  *memory = std::aligned_alloc(kPage, (bytes + kPage - 1) / kPage * kPage);
  if (*memory == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  Get().pinned[Number(*memory)] = {bytes, CurrentContext(), true};
  return CUDA_SUCCESS;
}

CUresult MemFreeHost(void* memory) {
  FAKE_ENTER("cuMemFreeHost", true);
  const auto found = Get().pinned.find(Number(memory));
  if (found == Get().pinned.end() || !found->second.allocated) {
    return Misuse("cuMemFreeHost");
  }
  Get().pinned.erase(found);
  std::free(memory);
  return CUDA_SUCCESS;
}

CUresult MemHostRegister(void* memory, size_t bytes, unsigned flags) {
  FAKE_ENTER("cuMemHostRegister_v2", true);
  if (memory == nullptr || bytes == 0 || (flags & ~kHostPortable) != 0) {
    return Misuse("cuMemHostRegister_v2");
  }
  auto& pinned = Get().pinned;
  const auto after = pinned.lower_bound(Number(memory) + bytes);
  if (after != pinned.begin() &&
      std::prev(after)->first + std::prev(after)->second.bytes >
          Number(memory)) {
    return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  }
  pinned[Number(memory)] = {bytes, CurrentContext(), false};
  return CUDA_SUCCESS;
}

CUresult MemHostUnregister(void* memory) {
  FAKE_ENTER("cuMemHostUnregister", true);
  const auto found = Get().pinned.find(Number(memory));
  if (found == Get().pinned.end() || found->second.allocated) {
    return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  }
  Get().pinned.erase(found);
  return CUDA_SUCCESS;
}

CUresult MemHostGetFlags(unsigned* flags, void* memory) {
  FAKE_ENTER("cuMemHostGetFlags", true);
  const auto entry = EntryAt(Get().pinned, Number(memory));
  if (entry == Get().pinned.end() ||
      Number(memory) - entry->first >= entry->second.bytes) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *flags = kHostPortable;
  return CUDA_SUCCESS;
}

void DropHostMemory(CUcontext context) {
  std::erase_if(Get().pinned, [&](const auto& entry) {
    if (entry.second.context != context) return false;
    if (entry.second.allocated) std::free(Pointer(entry.first));
    return true;
  });
}

}  // namespace hetgpu::cuda::fake
