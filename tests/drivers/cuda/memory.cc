// The virtual-memory API over memory files, and pinned host memory.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <iterator>

#include "tests/drivers/cuda/state.h"

namespace hetgpu::cuda::fake {
namespace {

void* Pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

uint64_t Used() {
  uint64_t used = 0;
  for (const auto& [handle, physical] : Get().physical) used += physical.bytes;
  return used;
}

bool IsReserved(uint64_t address, uint64_t bytes) {
  const auto& reservations = Get().reservations;
  auto after = reservations.upper_bound(address);
  if (after == reservations.begin()) return false;
  const auto [start, size] = *std::prev(after);
  return address - start <= size && bytes <= size - (address - start);
}

bool IsMapped(uint64_t address, uint64_t bytes) {
  for (const auto& [start, mapping] : Get().mappings) {
    if (address < start + mapping.bytes && start < address + bytes) return true;
  }
  return false;
}

void Drop(CUmemGenericAllocationHandle handle) {
  Physical& physical = Get().physical.at(handle);
  if (!physical.released || physical.mappings > 0) return;
  close(physical.file);
  Get().physical.erase(handle);
}

bool IsGranular(uint64_t value) { return value % kGranularity == 0; }

}  // namespace

bool IsAccessible(uint64_t address, uint64_t bytes) {
  const auto& mappings = Get().mappings;
  auto after = mappings.upper_bound(address);
  if (after == mappings.begin()) return false;
  const auto& [start, mapping] = *std::prev(after);
  return mapping.accessible && address - start <= mapping.bytes &&
         bytes <= mapping.bytes - (address - start);
}

CUresult MemGetInfo(size_t* free, size_t* total) {
  FAKE_ENTER("cuMemGetInfo_v2", true);
  *total = kMemory;
  *free = kMemory - Used();
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
  if (!IsGranular(bytes) || flags != 0) return Misuse("cuMemAddressReserve");
  // Longer by a granule, to be able to align it.
  void* memory = mmap(Pointer(hint), bytes + kGranularity, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto start = reinterpret_cast<uint64_t>(memory);
  *address = (start + kGranularity - 1) / kGranularity * kGranularity;
  Get().reservations[*address] = bytes;
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
  if (!IsGranular(bytes) || bytes == 0 || flags != 0 ||
      prop->location.type != kLocationDevice) {
    return Misuse("cuMemCreate");
  }
  if (bytes > kMemory - Used()) return CUDA_ERROR_OUT_OF_MEMORY;
  Physical physical;
  physical.bytes = bytes;
  physical.file = memfd_create("test-gpu", 0);
  if (physical.file < 0 || ftruncate(physical.file, bytes) != 0) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
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
  const auto found = Get().physical.find(handle);
  if (found == Get().physical.end() || offset != 0 || flags != 0 ||
      found->second.bytes != bytes || !IsGranular(address) ||
      !IsReserved(address, bytes) || IsMapped(address, bytes)) {
    return Misuse("cuMemMap");
  }
  mmap(Pointer(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
       found->second.file, 0);
  ++found->second.mappings;
  Get().mappings[address] = {bytes, handle, false};
  return CUDA_SUCCESS;
}

CUresult MemUnmap(CUdeviceptr address, size_t bytes) {
  FAKE_ENTER("cuMemUnmap", false);
  const auto found = Get().mappings.find(address);
  if (found == Get().mappings.end() || found->second.bytes != bytes) {
    return Misuse("cuMemUnmap");
  }
  mmap(Pointer(address), bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  const CUmemGenericAllocationHandle handle = found->second.physical;
  Get().mappings.erase(found);
  --Get().physical.at(handle).mappings;
  Drop(handle);
  return CUDA_SUCCESS;
}

CUresult MemSetAccess(CUdeviceptr address, size_t bytes,
                      const CUmemAccessDesc* access, size_t count) {
  FAKE_ENTER("cuMemSetAccess", false);
  const auto found = Get().mappings.find(address);
  if (found == Get().mappings.end() || found->second.bytes != bytes ||
      count != 1 || access->flags != kAccessReadWrite) {
    return Misuse("cuMemSetAccess");
  }
  mprotect(Pointer(address), bytes, PROT_READ | PROT_WRITE);
  found->second.accessible = true;
  return CUDA_SUCCESS;
}

CUresult MemHostAlloc(void** memory, size_t bytes, unsigned) {
  FAKE_ENTER("cuMemHostAlloc", true);
  *memory = std::malloc(bytes);
  Get().pinned.insert(*memory);
  return CUDA_SUCCESS;
}

CUresult MemFreeHost(void* memory) {
  FAKE_ENTER("cuMemFreeHost", true);
  if (Get().pinned.erase(memory) == 0) return Misuse("cuMemFreeHost");
  std::free(memory);
  return CUDA_SUCCESS;
}

}  // namespace hetgpu::cuda::fake
