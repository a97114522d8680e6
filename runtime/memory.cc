#include "runtime/memory.h"

#include <iterator>

#include "absl/strings/str_format.h"
#include "runtime/error.h"
#include "runtime/status_macros.h"

namespace hetgpu::runtime {
namespace {

constexpr size_t kMaxFreedRanges = 4096;

std::string Hex(uint64_t address) { return absl::StrFormat("0x%x", address); }

std::string Text(const Allocation& allocation) {
  return absl::StrFormat(
      "%s [0x%x, 0x%x) of %d bytes",
      allocation.is_module_data ? "module data" : "allocation", allocation.base,
      allocation.base + allocation.size, allocation.size);
}

}  // namespace

AllocationTable::Map::const_iterator AllocationTable::Holder(const Map& map,
                                                             uint64_t address) {
  auto next = map.upper_bound(address);
  if (next == map.begin()) return map.end();
  auto holder = std::prev(next);
  return address - holder->first < holder->second.size ? holder : map.end();
}

void AllocationTable::Add(const Allocation& allocation) {
  std::lock_guard lock(mutex_);
  ForgetFreed(allocation);
  live_[allocation.base] = allocation;
}

void AllocationTable::ForgetFreed(const Allocation& allocation) {
  auto range = freed_.lower_bound(allocation.base);
  if (range != freed_.begin()) {
    auto before = std::prev(range);
    if (before->first + before->second.size > allocation.base) range = before;
  }
  while (range != freed_.end() &&
         range->first < allocation.base + allocation.size) {
    range = freed_.erase(range);
  }
}

void AllocationTable::RememberFreed(const Allocation& allocation) {
  if (freed_.size() >= kMaxFreedRanges) freed_.erase(freed_.begin());
  freed_[allocation.base] = allocation;
}

absl::Status AllocationTable::NotFound(uint64_t address) const {
  const auto freed = Holder(freed_, address);
  if (freed != freed_.end()) {
    return Error(HETGPU_ERROR_USE_AFTER_FREE, "address ", Hex(address),
                 " lies in freed ", Text(freed->second));
  }
  return Error(HETGPU_ERROR_INVALID_ADDRESS, "address ", Hex(address),
               " is in no allocation of this context");
}

absl::Status AllocationTable::Remove(uint64_t address) {
  std::lock_guard lock(mutex_);
  const auto holder = Holder(live_, address);
  if (holder == live_.end()) {
    if (freed_.count(address) != 0) {
      return Error(HETGPU_ERROR_DOUBLE_FREE, "address ", Hex(address),
                   " was freed before: ", Text(freed_.at(address)));
    }
    return NotFound(address);
  }
  if (holder->second.is_module_data) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "address ", Hex(address),
                 " belongs to ", Text(holder->second),
                 ": unload the module instead");
  }
  if (holder->first != address) {
    return Error(HETGPU_ERROR_INTERIOR_POINTER, "address ", Hex(address),
                 " is not the start of its ", Text(holder->second));
  }
  RememberFreed(holder->second);
  live_.erase(holder);
  return absl::OkStatus();
}

void AllocationTable::RemoveModuleData(uint64_t address) {
  std::lock_guard lock(mutex_);
  const auto entry = live_.find(address);
  if (entry == live_.end()) return;
  RememberFreed(entry->second);
  live_.erase(entry);
}

absl::StatusOr<Allocation> AllocationTable::Find(uint64_t address) const {
  std::unique_lock lock(mutex_);
  const auto holder = Holder(live_, address);
  if (holder != live_.end()) return holder->second;
  if (shared_ == nullptr || Holder(freed_, address) != freed_.end()) {
    return NotFound(address);
  }
  lock.unlock();
  return shared_->Find(address);
}

std::optional<Allocation> AllocationTable::Holding(uint64_t address) const {
  std::lock_guard lock(mutex_);
  const auto holder = Holder(live_, address);
  if (holder == live_.end()) return std::nullopt;
  return holder->second;
}

std::vector<Allocation> AllocationTable::All() const {
  std::lock_guard lock(mutex_);
  std::vector<Allocation> all;
  for (const auto& [base, allocation] : live_) all.push_back(allocation);
  return all;
}

absl::Status AllocationTable::CheckRange(std::string_view what,
                                         uint64_t address,
                                         uint64_t bytes) const {
  auto allocation = Find(address);
  if (!allocation.ok()) {
    return Annotate(ResultOf(allocation.status()), what, allocation.status());
  }
  const uint64_t room = allocation->size - (address - allocation->base);
  if (bytes <= room) return absl::OkStatus();
  return Error(HETGPU_ERROR_OUT_OF_RANGE, what, ": ", bytes, " bytes from ",
               Hex(address), " run past the end of ", Text(*allocation),
               ", expected at most ", room);
}

absl::Status AllocationTable::SetAdvice(uint64_t address,
                                        hetgpuMemAdvice advice) {
  std::lock_guard lock(mutex_);
  const auto holder = Holder(live_, address);
  if (holder == live_.end()) return NotFound(address);
  live_[holder->first].advice = advice;
  return absl::OkStatus();
}

}  // namespace hetgpu::runtime
