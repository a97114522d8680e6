// Where device memory lies, for code that is compiled against it.
//
//   reach   | no access        | device memory          | no access        |
//                              base          base + bytes
//
// Programs hold the arena's addresses (memory/arena.h), the same on every device;
// the memory of this device is mapped at those addresses plus a delta. The window
// is part of the target string of a device when it is not the usual one.
#ifndef HETGPU_BACKENDS_CPU_ARENA_WINDOW_H_
#define HETGPU_BACKENDS_CPU_ARENA_WINDOW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hetgpu::cpu {

// How far an index of 32 bits times 16 bytes leads.
inline constexpr uint64_t kArenaReach = uint64_t{1} << 36;

struct ArenaWindow {
  uint64_t base = 0x600000000000;
  uint64_t bytes = uint64_t{1} << 40;
  uint64_t delta = 0;
  // Inaccessible addresses on either side: what lies no further from an address
  // in the window is device memory or faults. No allocation is reached from
  // outside either, but for bases below the first one (Overlay, edges).
  uint64_t reach = kArenaReach;

  bool operator==(const ArenaWindow&) const = default;

  bool Contains(uint64_t address) const { return address - base < bytes; }
  // Whether a shift tells that an address lies in the window.
  bool IsAligned() const {
    return (bytes & (bytes - 1)) == 0 && (base & (bytes - 1)) == 0;
  }
};

// "" for the usual window, else "/arena=<base>:<bytes>:<delta>:<reach>", in hex.
std::string TargetSuffix(const ArenaWindow& window);

// Part of the target string of a device that checks accesses exactly.
inline constexpr std::string_view kMemcheckPart = "/memcheck";
bool ChecksExactly(std::string_view target);

// The window that a target string names; nullopt when what it names is none.
std::optional<ArenaWindow> WindowOf(std::string_view target);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_ARENA_WINDOW_H_
