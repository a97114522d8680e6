#include "backends/cpu/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "backends/cpu/guarded_memory.h"

namespace hetgpu::cpu {
namespace {

constexpr uint64_t kPreferredBase = 0x600000000000;
constexpr uint64_t kLargestReservation = uint64_t{1} << 40;
constexpr uint64_t kSmallestReservation = uint64_t{1} << 30;
constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
constexpr uint64_t kGranule = 256;
constexpr uint64_t kArenaGuardBytes = 16 * kPageBytes;

void* Reserve(void* hint, uint64_t bytes, int flags) {
  return mmap(hint, bytes, PROT_NONE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

absl::Status OutOfMemory(uint64_t bytes, uint64_t free, const char* reason) {
  return absl::ResourceExhaustedError(
      absl::StrCat("cpu: out of memory: ", bytes, " bytes asked for, ", free,
                   " free", reason));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Arena>> Arena::Create(uint64_t limit) {
  void* hint = reinterpret_cast<void*>(kPreferredBase);
  for (uint64_t size = kLargestReservation; size >= kSmallestReservation;
       size /= 2) {
    // Without MAP_FIXED the hint is taken when free, else another place.
    void* base = Reserve(hint, size, 0);
    if (base == MAP_FAILED) continue;
    return std::unique_ptr<Arena>(
        new Arena(reinterpret_cast<uint64_t>(base), size, limit));
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("cpu: cannot reserve ", kSmallestReservation,
                   " bytes of address space: ", std::strerror(errno)));
}

Arena::Arena(uint64_t base, uint64_t size, uint64_t limit)
    : base_(base), size_(size), limit_(limit), fresh_(base) {}

Arena::~Arena() { munmap(reinterpret_cast<void*>(base_), size_); }

uint64_t Arena::TakeAddresses(uint64_t bytes, uint64_t alignment) {
  const uint64_t start = RoundUp(fresh_, alignment);
  const uint64_t end = base_ + size_;
  if (start <= end && bytes <= end - start) {
    if (start > fresh_) ReturnAddresses(fresh_, start - fresh_);
    fresh_ = start + bytes;
    return start;
  }
  // The smallest freed range that holds the bytes wherever alignment puts them.
  auto range = freed_by_size_.lower_bound({bytes + alignment - kPageBytes, 0});
  if (range == freed_by_size_.end()) return 0;
  const auto [range_bytes, range_start] = *range;
  freed_by_size_.erase(range);
  freed_.erase(range_start);
  const uint64_t aligned = RoundUp(range_start, alignment);
  const uint64_t tail = range_start + range_bytes - (aligned + bytes);
  if (aligned > range_start) {
    ReturnAddresses(range_start, aligned - range_start);
  }
  if (tail > 0) ReturnAddresses(aligned + bytes, tail);
  return aligned;
}

void Arena::ReturnAddresses(uint64_t start, uint64_t bytes) {
  auto next = freed_.lower_bound(start);
  if (next != freed_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      start = before->first;
      bytes += before->second;
      freed_by_size_.erase({before->second, before->first});
      freed_.erase(before);
    }
  }
  if (next != freed_.end() && start + bytes == next->first) {
    bytes += next->second;
    freed_by_size_.erase({next->second, next->first});
    freed_.erase(next);
  }
  freed_[start] = bytes;
  freed_by_size_.insert({bytes, start});
}

absl::StatusOr<uint64_t> Arena::Allocate(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t free = limit_ - used_;
  if (bytes > free || RoundUp(bytes, kPageBytes) > free) {
    return OutOfMemory(bytes, free, "");
  }
  const uint64_t size = RoundUp(std::max<uint64_t>(bytes, 1), kPageBytes);
  const bool huge = size >= kHugePageBytes;
  const uint64_t taken = size + 2 * kArenaGuardBytes;
  // A large allocation starts at a huge page, behind its guard.
  const uint64_t alignment = huge ? kHugePageBytes : kPageBytes;
  const uint64_t lead = huge ? kHugePageBytes : kArenaGuardBytes;
  const uint64_t block =
      TakeAddresses(taken - kArenaGuardBytes + lead, alignment);
  if (block == 0) return OutOfMemory(bytes, free, ": no addresses left");
  const uint64_t start = block + lead;
  void* pages = reinterpret_cast<void*>(start);
  if (mprotect(pages, size, PROT_READ | PROT_WRITE) != 0) {
    ReturnAddresses(block, taken - kArenaGuardBytes + lead);
    return OutOfMemory(bytes, free,
                       ": the system refuses to commit them (vm.max_map_count "
                       "or overcommit limit)");
  }
  if (huge) madvise(pages, size, MADV_HUGEPAGE);
  const uint64_t address =
      start + size - RoundUp(std::max<uint64_t>(bytes, 1), kGranule);
  live_[address] = size;
  used_ += size;
  return address;
}

absl::Status Arena::Free(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("cpu: address 0x", absl::Hex(address),
                     " is not the start of an allocation"));
  }
  const uint64_t size = found->second;
  const uint64_t start = address / kPageBytes * kPageBytes;
  const uint64_t lead =
      size >= kHugePageBytes ? kHugePageBytes : kArenaGuardBytes;
  // A new mapping in place of the old one also gives back its page tables.
  if (Reserve(reinterpret_cast<void*>(start), size, MAP_FIXED) == MAP_FAILED) {
    return absl::InternalError(
        absl::StrCat("cpu: cannot decommit memory: ", std::strerror(errno)));
  }
  live_.erase(found);
  used_ -= size;
  ReturnAddresses(start - lead, lead + size + kArenaGuardBytes);
  return absl::OkStatus();
}

uint64_t Arena::FreeBytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return limit_ - used_;
}

}  // namespace hetgpu::cpu
