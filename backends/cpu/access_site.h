// Which lanes an instruction of warp code accesses memory for. The compiler puts
// it next to the line of each instruction; the fault handler finds the lane with
// it and the state of the instruction.
//
//   one     one access for the lanes from `first` on: that one is named
//   acting  the lane in BlockContext::acting_lane
//   acting lanes  the lowest from `first` on in BlockContext::acting_lanes
//   run     adjacent lanes from `first` on, in ascending addresses
//   gather  adjacent lanes from `first` on, each with an address of its own
//   other   not known to be an access: one for all lanes (for the acting lanes
//           if `first` is 1) may have been folded into arithmetic
#ifndef HETGPU_BACKENDS_CPU_ACCESS_SITE_H_
#define HETGPU_BACKENDS_CPU_ACCESS_SITE_H_

#include <cstdint>

namespace hetgpu::cpu {

enum class SiteKind : uint32_t {
  kNone,
  kOne,
  kActing,
  kActingLanes,
  kRun,
  kGather,
  kOther,
};

struct AccessSite {
  SiteKind kind = SiteKind::kNone;
  uint32_t first = 0;  // lane, below 32
  uint32_t bytes = 0;  // of a lane's element: 1, 2, 4 or 8; of run and gather
};

// 0 for kNone. Fits the column of a debug location, which carries it.
inline constexpr uint16_t PackSite(const AccessSite& site) {
  uint32_t log = 0;
  while (1u << log < site.bytes) ++log;
  return static_cast<uint16_t>(static_cast<uint32_t>(site.kind) << 8 |
                               log << 5 | site.first);
}

inline constexpr AccessSite UnpackSite(uint16_t packed) {
  return {static_cast<SiteKind>(packed >> 8 & 7),
          static_cast<uint32_t>(packed & 31), 1u << (packed >> 5 & 7)};
}

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_ACCESS_SITE_H_
