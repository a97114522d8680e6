#include "memory/arena.h"

#include <charconv>
#include <cstdlib>

namespace hetgpu::memory {
namespace {

constexpr uint64_t kBaseUnit = uint64_t{1} << 30;
constexpr uint64_t kAddressLimit = uint64_t{1} << 47;

std::optional<uint64_t> ForcedBase() {
  const char* text = std::getenv("HETGPU_ARENA_BASE");
  return text == nullptr ? std::nullopt : ParseArenaBase(text);
}

}  // namespace

std::optional<uint64_t> ParseArenaBase(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  uint64_t base = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, base, 16);
  if (error != std::errc() || rest != end || base == 0 ||
      base % kBaseUnit != 0 || base > kAddressLimit - kArenaBytes) {
    return std::nullopt;
  }
  return base;
}

Arena::Arena(std::optional<uint64_t> forced_base)
    : forced_(forced_base.has_value()),
      base_(forced_base.value_or(kPreferredArenaBase)),
      fresh_(base_) {}

Arena& Arena::Process() {
  static Arena* const arena = new Arena(ForcedBase());
  return *arena;
}

uint64_t Arena::base() const {
  std::lock_guard lock(mutex_);
  return base_;
}

uint64_t Arena::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

bool Arena::is_settled() const {
  std::lock_guard lock(mutex_);
  return settled_;
}

bool Arena::is_reserved() const {
  std::lock_guard lock(mutex_);
  return reserved_;
}

uint64_t Arena::Settle(uint64_t base, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (!settled_) {
    settled_ = true;
    bytes_ = bytes;
    if (!forced_) base_ = fresh_ = base;
  }
  if (base == base_ && bytes >= bytes_) reserved_ = true;
  return base_;
}

bool Arena::Place(uint64_t base, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  if (settled_) return base == base_ && bytes >= bytes_;
  settled_ = true;
  base_ = fresh_ = base;
  bytes_ = bytes;
  return true;
}

void Arena::SetOccupant(Occupant* occupant) {
  std::lock_guard lock(vacating_);
  occupant_ = occupant;
}

void Arena::Vacate(const std::function<void()>& reserve) {
  std::lock_guard lock(vacating_);
  if (occupant_ != nullptr) occupant_->Leave();
  reserve();
  if (occupant_ != nullptr) occupant_->Return();
}

uint64_t Arena::Allocate(uint64_t bytes, uint64_t alignment) {
  std::lock_guard lock(mutex_);
  settled_ = true;
  const uint64_t start = (fresh_ + alignment - 1) & ~(alignment - 1);
  const uint64_t end = base_ + bytes_;
  if (start > end || bytes > end - start) {
    return freed_.Allocate(bytes, alignment);
  }
  if (start > fresh_) freed_.Free(fresh_, start - fresh_);
  fresh_ = start + bytes;
  return start;
}

bool Arena::Take(uint64_t start, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  settled_ = true;
  if (start < fresh_) return freed_.Take(start, bytes);
  const uint64_t end = base_ + bytes_;
  if (start > end || bytes > end - start) return false;
  if (start > fresh_) freed_.Free(fresh_, start - fresh_);
  fresh_ = start + bytes;
  return true;
}

void Arena::Free(uint64_t start, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  freed_.Free(start, bytes);
}

bool Arena::Contains(uint64_t address) const {
  std::lock_guard lock(mutex_);
  return address - base_ < bytes_;
}

}  // namespace hetgpu::memory
