// Special registers. Grids are launched without clusters, which PTX defines as
// clusters of one block, and outside of device-side graphs. %envreg1 and 2 are
// where cooperative_groups looks for the memory of its grid barrier.
#include "frontend/ptx/lowering/special_registers.h"

#include <optional>

#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

using S = SpecialRegister;
using H = hetir::SpecialRegister;

std::optional<H> HetirRegister(S reg) {
  switch (reg) {
    case S::kTidX: return H::tid_x;
    case S::kTidY: return H::tid_y;
    case S::kTidZ: return H::tid_z;
    case S::kNtidX: return H::ntid_x;
    case S::kNtidY: return H::ntid_y;
    case S::kNtidZ: return H::ntid_z;
    case S::kCtaidX: case S::kClusteridX: return H::ctaid_x;
    case S::kCtaidY: case S::kClusteridY: return H::ctaid_y;
    case S::kCtaidZ: case S::kClusteridZ: return H::ctaid_z;
    case S::kNctaidX: case S::kNclusteridX: return H::nctaid_x;
    case S::kNctaidY: case S::kNclusteridY: return H::nctaid_y;
    case S::kNctaidZ: case S::kNclusteridZ: return H::nctaid_z;
    case S::kLaneid: return H::laneid;
    case S::kWarpid: return H::warpid;
    case S::kNwarpid: return H::nwarpid;
    case S::kSmid: return H::smid;
    case S::kNsmid: return H::nsmid;
    case S::kGridid: return H::gridid;
    case S::kLanemaskEq: return H::lanemask_eq;
    case S::kLanemaskLt: return H::lanemask_lt;
    case S::kLanemaskLe: return H::lanemask_le;
    case S::kLanemaskGt: return H::lanemask_gt;
    case S::kLanemaskGe: return H::lanemask_ge;
    case S::kDynamicSmemSize: return H::dynamic_smem_size;
    case S::kTotalSmemSize: return H::total_smem_size;
    case S::kEnvreg1: return H::grid_workspace_hi;
    case S::kEnvreg2: return H::grid_workspace_lo;
    default: return std::nullopt;
  }
}

std::optional<hetir::Timer> HetirTimer(S reg) {
  switch (reg) {
    case S::kClock: return hetir::Timer::clock;
    case S::kClockHi: return hetir::Timer::clock_hi;
    case S::kClock64: return hetir::Timer::clock64;
    case S::kGlobaltimer: return hetir::Timer::globaltimer;
    case S::kGlobaltimerLo: return hetir::Timer::globaltimer_lo;
    case S::kGlobaltimerHi: return hetir::Timer::globaltimer_hi;
    default: return std::nullopt;
  }
}

std::optional<uint64_t> ConstantRegister(S reg) {
  // What drivers leave in the others is for their own code.
  if (reg >= S::kEnvreg0 && reg <= S::kEnvreg31) return 0;
  switch (reg) {
    // The unused fourth components, and a cluster of one block.
    case S::kTidW: case S::kNtidW: case S::kCtaidW: case S::kNctaidW:
    case S::kClusteridW: case S::kNclusteridW:
    case S::kClusterCtaidX: case S::kClusterCtaidY: case S::kClusterCtaidZ:
    case S::kClusterCtaidW: case S::kClusterNctaidW:
    case S::kClusterCtarank: case S::kIsExplicitCluster:
    case S::kCurrentGraphExec:
      return 0;
    case S::kClusterNctaidX: case S::kClusterNctaidY:
    case S::kClusterNctaidZ: case S::kClusterNctarank:
      return 1;
    default:
      return std::nullopt;
  }
}

}  // namespace

Value ReadSpecialRegister(Lowering& l, SpecialRegister reg) {
  mlir::Type type = l.TypeOf(SpecialRegisterType(reg));
  if (auto hetir = HetirRegister(reg)) {
    return l.Create<hetir::SpecialRegisterOp>(type, *hetir);
  }
  if (auto timer = HetirTimer(reg)) {
    return l.Create<hetir::TimerOp>(type, *timer);
  }
  if (auto constant = ConstantRegister(reg)) {
    return l.Constant(type, *constant);
  }
  l.Refuse(Cat("special register '%", SpecialRegisterName(reg), "'"));
  return {};
}

}  // namespace hetgpu::ptx
