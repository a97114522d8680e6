// What BlockRun says of a block in which no unit can go on.
#include <cstdio>
#include <map>

#include "backends/cpu/block_run.h"

namespace hetgpu::cpu {
namespace {

constexpr size_t kMaxPlaces = 8;

}  // namespace

std::string BlockRun::WhereUnitWaits(const Unit& unit) const {
  char text[96];
  switch (unit.wait) {
    case Wait::kBarrier:
      std::snprintf(text, sizeof(text), "barrier %u (line %u)", unit.barrier,
                    unit.line);
      break;
    case Wait::kCollective:
      std::snprintf(text, sizeof(text), "a %s of lanes 0x%08x (line %u)",
                    NameOf(unit.collective), unit.mask, unit.line);
      break;
    default:
      std::snprintf(text, sizeof(text), "active mask (line %u)", unit.line);
  }
  return text;
}

LaunchError BlockRun::DescribeDeadlock() const {
  std::map<std::string, uint32_t> places;
  uint32_t first = kNone;
  for (uint32_t i = 0; i < launch_->unit_count(); ++i) {
    if (units_[i].exited) continue;
    if (first == kNone) first = i;
    ++places[WhereUnitWaits(units_[i])];
  }
  LaunchError error;
  error.kind = LaunchError::Kind::kDeadlock;
  error.block = {frame_.ctaid[0], frame_.ctaid[1], frame_.ctaid[2]};
  if (first != kNone) {
    error.has_thread = true;
    error.thread = launch_->ThreadOf(first * lanes_per_unit_);
    error.line = units_[first].line;
  }
  const char* units = thread_units() ? " threads wait at " : " warps wait at ";
  size_t listed = 0;
  for (const auto& [place, count] : places) {
    if (listed != 0) error.detail += "; ";
    if (listed++ == kMaxPlaces) {
      error.detail += "and elsewhere";
      break;
    }
    error.detail += std::to_string(count) + units + place;
  }
  const uint32_t exited = launch_->unit_count() - live_units_;
  if (exited != 0) error.detail += "; " + std::to_string(exited) + " exited";
  return error;
}

}  // namespace hetgpu::cpu
