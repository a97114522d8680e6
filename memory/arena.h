// The addresses of the process: one range out of which every allocation of every
// device gets addresses of its own, for life.
//
//   base                                                  base + 2^40
//   | used before, some free again …    | fresh_: never used …      |
//
// Where it lies is settled by the first device that reserves addresses: at the
// preferred base if the system grants that, else wherever the system put that
// device. A later device that cannot reserve the same range works at a distance
// ("delta") from it, which its code adds to addresses. HETGPU_ARENA_BASE forces
// a base, so that devices with a delta can be tested.
#ifndef HETGPU_MEMORY_ARENA_H_
#define HETGPU_MEMORY_ARENA_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>

#include "memory/range_allocator.h"

namespace hetgpu::memory {

inline constexpr uint64_t kPreferredArenaBase = 0x600000000000;
inline constexpr uint64_t kArenaBytes = uint64_t{1} << 40;

// A base as HETGPU_ARENA_BASE takes it: a hexadecimal multiple of 2^30 below
// 2^47, with room for the arena.
std::optional<uint64_t> ParseArenaBase(std::string_view text);

// What occupies the range in host memory, and can leave it for a moment so that
// another device can reserve it.
class Occupant {
 public:
  virtual ~Occupant() = default;
  virtual void Leave() = 0;
  virtual void Return() = 0;
};

// Thread-safe.
class Arena {
 public:
  explicit Arena(std::optional<uint64_t> forced_base = std::nullopt);

  // That of the process. A HETGPU_ARENA_BASE that does not parse counts as not
  // given: the runtime refuses to start with it.
  static Arena& Process();

  // Where a device should try to reserve addresses.
  uint64_t base() const;
  // A device reserved [base, base + bytes), bytes <= kArenaBytes. The first call
  // decides unless a base was forced. Returns base() as settled.
  uint64_t Settle(uint64_t base, uint64_t bytes);
  // The range is given, wherever one was forced: by the process that this one
  // works for. False when it was settled elsewhere before.
  bool Place(uint64_t base, uint64_t bytes);
  uint64_t bytes() const;
  bool is_settled() const;
  // That a device of this process holds a reservation of the whole range: host
  // memory can be mapped over it, which the driver of that device does not mind.
  bool is_reserved() const;

  // Lives as long as the process.
  void SetOccupant(Occupant* occupant);
  // Runs `reserve` while the occupant, if there is one, is elsewhere.
  void Vacate(const std::function<void()>& reserve);

  // `bytes` > 0 addresses from a multiple of `alignment`, a power of two; 0 when
  // none are left. Freed addresses come back into use as late as possible.
  uint64_t Allocate(uint64_t bytes, uint64_t alignment);
  // These addresses; false when not all of them are free.
  bool Take(uint64_t start, uint64_t bytes);
  // Gives back what Allocate or Take gave, or a part of it.
  void Free(uint64_t start, uint64_t bytes);

  // That the address belongs to the arena, wherever in it.
  bool Contains(uint64_t address) const;

 private:
  const bool forced_;
  std::mutex vacating_;       // guards occupant_
  Occupant* occupant_ = nullptr;
  mutable std::mutex mutex_;  // guards all below
  bool settled_ = false;
  bool reserved_ = false;
  uint64_t base_;
  uint64_t bytes_ = kArenaBytes;
  uint64_t fresh_;        // addresses from here on were never used
  RangeAllocator freed_;  // used before
};

}  // namespace hetgpu::memory

#endif  // HETGPU_MEMORY_ARENA_H_
