#include "backends/cpu/exact_check.h"

#include <bit>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "backends/cpu/arena.h"
#include "backends/cpu/heap.h"
#include "backends/cpu/helpers.h"
#include "backends/cpu/overlay.h"
#include "backends/cpu/reachable.h"

namespace hetgpu::cpu {
namespace {

using Range = Arena::Range;

std::string Bytes(uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

std::string Hex(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%" PRIx64, address);
  return text;
}

// "write of 4 bytes".
std::string What(const ExactAccess& access) {
  static constexpr const char* kKinds[] = {"read", "write", "atomic access"};
  return std::string(kKinds[static_cast<uint32_t>(access.kind)]) + " of " +
         Bytes(access.bytes);
}

// Where the access lies that is not wholly in `range`: "0 bytes past the end of
// the 1000-byte allocation at 0x…".
std::string Relation(uint64_t address, uint64_t bytes, const Range& range,
                     const std::string& what) {
  const std::string object = "the " + std::to_string(range.bytes) + "-byte " +
                             what + " at " + Hex(range.start);
  const uint64_t end = range.start + range.bytes;
  if (address >= end) {
    return Bytes(address - end) + " past the end of " + object;
  }
  if (address >= range.start) {
    return "its last " + Bytes(address + bytes - end) + " past the end of " +
           object;
  }
  const uint64_t before = range.start - address;
  if (before < bytes) {
    return "its first " + Bytes(before) + " before the start of " + object;
  }
  return Bytes(before) + " before the start of " + object;
}

// The one of two ranges that is nearer.
std::string NearestOf(const BlockFrame& frame, const ExactAccess& access,
                      const Arena::Neighbours& near) {
  const Range* nearest = near.below ? &*near.below : nullptr;
  if (near.above) {
    const uint64_t below_end =
        nearest ? nearest->start + nearest->bytes : 0;
    const uint64_t past =
        access.address < below_end ? 0 : access.address - below_end;
    if (!nearest || near.above->start - access.address < past) {
      nearest = &*near.above;
    }
  }
  if (!nearest) return "with no allocation anywhere";
  const bool data =
      nearest->start == frame.launch->config().module_data;
  return Relation(access.address, access.bytes, *nearest,
                  data ? "module data" : "allocation");
}

// The checks say what is wrong, "" when nothing is. They do not raise it
// themselves: that would leave their strings behind.

// Of what kernels allocated; nullopt when the address is not the heap's.
std::optional<std::string> CheckHeap(const BlockFrame& frame,
                                     const ExactAccess& access) {
  DeviceHeap* heap = frame.launch->services().heap;
  Range live;
  if (heap == nullptr || !heap->Find(access.address, &live)) {
    return std::nullopt;
  }
  if (live.Holds(access.address, access.bytes)) return "";
  if (live.bytes == 0) return "in the kernels' heap where nothing is allocated";
  return Relation(access.address, access.bytes, live,
                  "allocation made by a kernel");
}

std::string CheckArena(BlockFrame& frame, const ExactAccess& access) {
  const Arena* arena = frame.launch->services().arena;
  if (arena == nullptr) return "";
  const uint64_t generation = arena->generation();
  if (auto found = CheckHeap(frame, access)) return *std::move(found);
  const Arena::Neighbours near = arena->Near(access.address);
  if (near.below && near.below->Holds(access.address, access.bytes)) {
    frame.owner->live_allocations.Add(generation, *near.below);
    return "";
  }
  if (const std::optional<Range> freed = arena->FreedAt(access.address)) {
    return Bytes(access.address - freed->start) + " into the " +
           std::to_string(freed->bytes) + "-byte allocation at " +
           Hex(freed->start) + ", which was freed";
  }
  return NearestOf(frame, access, near);
}

std::string CheckShared(const BlockFrame& frame, const ExactAccess& access,
                        uint64_t offset) {
  const uint64_t size = frame.shared_size;
  if (offset < size && access.bytes <= size - offset) return "";
  const std::string object =
      "the block's " + Bytes(size) + " of shared memory";
  return (offset < size ? "its last " + Bytes(offset + access.bytes - size)
                        : Bytes(offset - size)) +
         " past the end of " + object;
}

bool InShared(const BlockFrame& frame, uint64_t address) {
  return address - reinterpret_cast<uint64_t>(frame.shared) <
         frame.shared_size;
}

// Of the variable that the code names: its address is that of the host.
std::string CheckVariable(const BlockFrame& frame, const ExactAccess& access) {
  const Range variable = {access.low, access.size};
  if (variable.Holds(access.address, access.bytes)) return "";
  const bool local = access.space == TestedSpace::kLocal ||
                     access.low - reinterpret_cast<uint64_t>(frame.stack_low) <
                         static_cast<uint64_t>(frame.stack_high -
                                               frame.stack_low);
  return Relation(access.address, access.bytes, variable,
                  local ? "local array" : "variable");
}

// With how far from its address the memory lies.
std::string CheckPlace(BlockFrame& frame, const ExactAccess& access,
                       uint64_t* displacement) {
  const std::optional<uint64_t> found =
      DisplacementOf(frame, access.space, access.address, access.bytes);
  if (access.size != 0) {
    *displacement = found.value_or(0);
    return CheckVariable(frame, access);
  }
  *displacement = 0;
  if (access.space == TestedSpace::kShared) {
    return CheckShared(frame, access, access.address);
  }
  if (access.space == TestedSpace::kGeneric &&
      InShared(frame, access.address)) {
    return CheckShared(
        frame, access,
        access.address - reinterpret_cast<uint64_t>(frame.shared));
  }
  if (!found.has_value()) {
    const Arena* arena = frame.launch->services().arena;
    if (access.space == TestedSpace::kLocal) {
      return "outside the thread's stack";
    }
    if (arena == nullptr) return "no memory of kernels";
    return NearestOf(frame, access, arena->Near(access.address));
  }
  *displacement = *found;
  const Overlay* overlay = frame.launch->services().overlay;
  if (overlay != nullptr && overlay->window().Contains(access.address)) {
    return CheckArena(frame, access);
  }
  return "";
}

// The usual case, without a lock: in an allocation that was seen before.
bool IsInLiveAllocation(const BlockFrame& frame, const ExactAccess& access) {
  const bool arena = access.space == TestedSpace::kGlobal ||
                     access.space == TestedSpace::kGeneric;
  return arena && access.size == 0 && std::has_single_bit(access.bytes) &&
         (access.address & (access.bytes - 1)) == 0 &&
         frame.launch->services().arena != nullptr &&
         frame.owner->live_allocations.Hold(
             frame.launch->services().arena->generation(), access.address,
             access.bytes);
}

// What is wrong with an access; kNone when nothing is.
LaunchError::Kind Judge(BlockFrame& frame, const ExactAccess& access,
                        uint64_t* displacement, std::string* detail) {
  const std::string where = CheckPlace(frame, access, displacement);
  if (!where.empty()) {
    *detail = What(access) + ", " + where;
    return LaunchError::Kind::kIllegalAddress;
  }
  const uint64_t address =
      AddressForPeople(frame, access.space, access.address);
  if (access.bytes != 0 && address % access.bytes != 0) {
    *detail = What(access) + ", expected a multiple of " +
              std::to_string(access.bytes);
    return LaunchError::Kind::kMisalignedAddress;
  }
  return LaunchError::Kind::kNone;
}

}  // namespace

uint64_t CheckExact(BlockFrame& frame, const ExactAccess& access,
                    uint32_t line) {
  if (IsInLiveAllocation(frame, access)) {
    return frame.launch->services().overlay->delta();
  }
  uint64_t displacement = 0;
  std::string detail;
  const LaunchError::Kind kind = Judge(frame, access, &displacement, &detail);
  if (kind != LaunchError::Kind::kNone) {
    frame.owner->RaiseAt(kind,
                         AddressForPeople(frame, access.space, access.address),
                         0, line, std::move(detail));
  }
  return displacement;
}

uint64_t helper::check_exact(BlockContext* block, uint64_t address,
                             uint64_t low, uint64_t size, uint32_t access,
                             uint32_t line) {
  ExactAccess exact;
  exact.space = static_cast<TestedSpace>(access >> 16 & 0xff);
  exact.kind = static_cast<AccessKind>(access >> 24);
  exact.bytes = access & 0xffff;
  exact.address = address;
  exact.low = low;
  exact.size = size;
  return CheckExact(*static_cast<BlockFrame*>(block), exact, line);
}

}  // namespace hetgpu::cpu
