#include "backends/cpu/arena.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "backends/cpu/guarded_memory.h"

namespace hetgpu::cpu {
namespace {

constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
constexpr uint64_t kGranule = 256;
// Of freed allocations that messages can tell of.
constexpr size_t kMaxFreed = 4096;
constexpr uint64_t kArenaGuardBytes = 16 * kPageBytes;

absl::Status OutOfMemory(uint64_t bytes, uint64_t free,
                         std::string_view reason) {
  return absl::ResourceExhaustedError(
      absl::StrCat("cpu: out of memory: ", bytes, " bytes asked for, ", free,
                   " free", std::string(reason)));
}

// A large allocation starts at a huge page, behind its guard.
uint64_t LeadOf(uint64_t size) {
  return size >= kHugePageBytes ? kHugePageBytes : kArenaGuardBytes;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Arena>> Arena::Create(uint64_t limit) {
  const absl::StatusOr<Overlay*> overlay = Overlay::Process();
  if (!overlay.ok()) return overlay.status();
  return std::make_unique<Arena>(**overlay, limit);
}

absl::StatusOr<std::unique_ptr<Arena>> Arena::CreateElsewhere(
    uint64_t host_base, uint64_t limit) {
  absl::StatusOr<std::unique_ptr<Overlay>> overlay =
      Overlay::Create(host_base);
  if (!overlay.ok()) return overlay.status();
  auto arena = std::make_unique<Arena>(**overlay, limit);
  arena->own_overlay_ = *std::move(overlay);
  return arena;
}

Arena::Arena(Overlay& overlay, uint64_t limit)
    : addresses_(memory::Arena::Process()), overlay_(overlay), limit_(limit) {}

Arena::~Arena() {
  for (const auto& [address, live] : live_) {
    (void)Release(address, live.pages);
  }
  for (const auto& [start, size] : mapped_) {
    (void)overlay_.Decommit(start, size);
  }
}

absl::StatusOr<uint64_t> Arena::Allocate(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t free = limit_ - used_;
  if (bytes > free || RoundUp(bytes, kPageBytes) > free) {
    return OutOfMemory(bytes, free, "");
  }
  const uint64_t size = RoundUp(std::max<uint64_t>(bytes, 1), kPageBytes);
  const uint64_t lead = LeadOf(size);
  const uint64_t taken = lead + size + kArenaGuardBytes;
  const bool huge = size >= kHugePageBytes;
  const uint64_t block =
      addresses_.Allocate(taken, huge ? kHugePageBytes : kPageBytes);
  if (block == 0) return OutOfMemory(bytes, free, ": no addresses left");
  const uint64_t start = block + lead;
  const absl::Status committed = overlay_.Commit(start, size);
  if (!committed.ok()) {
    addresses_.Free(block, taken);
    return OutOfMemory(bytes, free,
                       absl::StrCat(": ", committed.message()));
  }
  const uint64_t address =
      start + size - RoundUp(std::max<uint64_t>(bytes, 1), kGranule);
  Forget(start, size);
  live_[address] = {size, bytes};
  generation_.fetch_add(1, std::memory_order_release);
  used_ += size;
  return address;
}

absl::Status Arena::Release(uint64_t address, uint64_t size) {
  const uint64_t start = address / kPageBytes * kPageBytes;
  const absl::Status decommitted = overlay_.Decommit(start, size);
  if (!decommitted.ok()) return decommitted;
  const uint64_t lead = LeadOf(size);
  addresses_.Free(start - lead, lead + size + kArenaGuardBytes);
  return absl::OkStatus();
}

absl::Status Arena::Free(uint64_t address) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = live_.find(address);
  if (found == live_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("cpu: address 0x", absl::Hex(address),
                     " is not the start of an allocation"));
  }
  const auto [pages, bytes] = found->second;
  const absl::Status released = Release(address, pages);
  if (!released.ok()) return released;
  live_.erase(found);
  if (freed_.size() == kMaxFreed) freed_.erase(freed_.begin());
  freed_[address] = bytes;
  generation_.fetch_add(1, std::memory_order_release);
  used_ -= pages;
  return absl::OkStatus();
}

absl::Status Arena::Map(uint64_t start, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t free = limit_ - used_;
  if (bytes > free) return OutOfMemory(bytes, free, "");
  const absl::Status committed = overlay_.Commit(start, bytes);
  if (!committed.ok()) return committed;
  Forget(start, bytes);
  mapped_[start] = bytes;
  generation_.fetch_add(1, std::memory_order_release);
  used_ += bytes;
  return absl::OkStatus();
}

absl::Status Arena::Unmap(uint64_t start, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = mapped_.find(start);
  if (found == mapped_.end() || found->second != bytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("cpu: ", bytes, " bytes at 0x", absl::Hex(start),
                     " are not a mapping"));
  }
  const absl::Status decommitted = overlay_.Decommit(start, bytes);
  if (!decommitted.ok()) return decommitted;
  mapped_.erase(found);
  generation_.fetch_add(1, std::memory_order_release);
  used_ -= bytes;
  return absl::OkStatus();
}

// Addresses that are in use again tell of no freed allocation.
void Arena::Forget(uint64_t start, uint64_t bytes) {
  auto freed = freed_.lower_bound(start);
  if (freed != freed_.begin()) {
    const auto before = std::prev(freed);
    if (before->second > start - before->first) freed = before;
  }
  while (freed != freed_.end() && freed->first < start + bytes) {
    freed = freed_.erase(freed);
  }
}

Arena::Neighbours Arena::Near(uint64_t address) const {
  std::lock_guard<std::mutex> lock(mutex_);
  Neighbours near;
  const auto look = [&](const auto& ranges, auto bytes_of) {
    const auto above = ranges.upper_bound(address);
    if (above != ranges.end() &&
        (!near.above || above->first < near.above->start)) {
      near.above = {above->first, bytes_of(above->second)};
    }
    if (above == ranges.begin()) return;
    const auto below = std::prev(above);
    if (!near.below || below->first > near.below->start) {
      near.below = {below->first, bytes_of(below->second)};
    }
  };
  look(live_, [](const Live& live) { return live.bytes; });
  look(mapped_, [](uint64_t bytes) { return bytes; });
  return near;
}

std::optional<Arena::Range> Arena::FreedAt(uint64_t address) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto above = freed_.upper_bound(address);
  if (above == freed_.begin()) return std::nullopt;
  const auto freed = std::prev(above);
  const Range range = {freed->first, freed->second};
  if (!range.Holds(address, 1)) return std::nullopt;
  return range;
}

uint64_t Arena::FreeBytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return limit_ - used_;
}

}  // namespace hetgpu::cpu
