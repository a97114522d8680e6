#include "backends/cpu/faulting_lane.h"

#include <bit>

#include "backends/cpu/access_site.h"
#include "backends/cpu/guarded_memory.h"
#include "backends/cpu/x86_access.h"

namespace hetgpu::cpu {
namespace {

bool InPage(uint64_t start, uint32_t bytes, uintptr_t address) {
  const uint64_t page = address & ~uint64_t{kPageBytes - 1};
  return start + bytes > page && start < page + kPageBytes;
}

std::optional<uint32_t> LowestActing(const BlockContext& block,
                                     uint32_t first) {
  const uint32_t lanes = block.acting_lanes >> first << first;
  if (lanes == 0) return std::nullopt;
  return static_cast<uint32_t>(std::countr_zero(lanes));
}

}  // namespace

std::optional<uint32_t> FaultingLane(const KernelCode& code,
                                     const BlockContext& block, uintptr_t pc,
                                     uintptr_t address,
                                     const ucontext_t& context) {
  if (code.lanes_per_unit == 1) return 0;
  const AccessSite site = UnpackSite(code.SiteOf(pc));
  if (site.kind == SiteKind::kNone) return std::nullopt;
  if (site.kind == SiteKind::kOne) return site.first;
  if (site.kind == SiteKind::kActing) return block.acting_lane;
  if (site.kind == SiteKind::kActingLanes) {
    return LowestActing(block, site.first);
  }
  const VectorAccess access = DecodeVectorAccess(
      reinterpret_cast<const uint8_t*>(pc), code.end - pc, context, site.bytes,
      site.kind == SiteKind::kGather);
  // What is folded into arithmetic is a scalar for all lanes, or a run of which
  // only the arithmetic's place is known.
  if (site.kind == SiteKind::kOther) {
    if (access.count != 0) return std::nullopt;
    if (site.first == 0) return 0;
    return LowestActing(block, 0);
  }
  for (uint32_t i = 0; i < access.count && site.first + i < kWarpSize; ++i) {
    if ((access.active >> i & 1) != 0 &&
        InPage(access.addresses[i], site.bytes, address)) {
      return site.first + i;
    }
  }
  return std::nullopt;
}

}  // namespace hetgpu::cpu
