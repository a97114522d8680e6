#include "memory/write_combiner.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace hetgpu::memory {
namespace {

constexpr uint64_t kLargestRun = 256 << 10;
constexpr size_t kMostRuns = 64;

}  // namespace

bool WriteCombiner::Add(uint64_t allocation, uint64_t address,
                        std::string_view bytes) {
  auto& runs = held_[allocation];
  const uint64_t end = address + bytes.size();
  auto first = runs.upper_bound(address);
  if (first != runs.begin()) {
    const auto before = std::prev(first);
    if (before->first + before->second.size() >= address) first = before;
  }
  auto last = first;
  uint64_t start = address, stop = end;
  while (last != runs.end() && last->first <= end) {
    start = std::min(start, last->first);
    stop = std::max(stop, last->first + last->second.size());
    ++last;
  }
  if (stop - start > kLargestRun || (first == last && runs.size() >= kMostRuns)) {
    return false;
  }
  std::string merged(stop - start, '\0');
  // Usually the write goes on where a run ends: that run grows in place.
  if (first != last && first->first == start) merged = std::move(first->second);
  merged.resize(stop - start);
  for (auto run = first; run != last; ++run) {
    if (run->first == start) continue;
    std::copy(run->second.begin(), run->second.end(),
              merged.begin() + static_cast<ptrdiff_t>(run->first - start));
  }
  std::copy(bytes.begin(), bytes.end(),
            merged.begin() + static_cast<ptrdiff_t>(address - start));
  runs.erase(first, last);
  runs.emplace(start, std::move(merged));
  return true;
}

std::vector<WriteCombiner::Run> WriteCombiner::Take(uint64_t allocation) {
  std::vector<Run> taken;
  const auto held = held_.find(allocation);
  if (held == held_.end()) return taken;
  for (auto& [address, bytes] : held->second) {
    taken.push_back({address, std::move(bytes)});
  }
  held_.erase(held);
  return taken;
}

}  // namespace hetgpu::memory
