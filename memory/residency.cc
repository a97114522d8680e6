#include "memory/residency.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace hetgpu::memory {
namespace {

uint64_t Bit(Location location) { return uint64_t{1} << location; }

uint64_t RoundDown(uint64_t offset) {
  return offset / kGranuleBytes * kGranuleBytes;
}

uint64_t RoundUp(uint64_t offset, uint64_t limit) {
  const uint64_t up = (offset + kGranuleBytes - 1) / kGranuleBytes;
  return std::min(up * kGranuleBytes, limit);
}

Location LowestOf(uint64_t holders) {
  return static_cast<Location>(__builtin_ctzll(holders));
}

absl::Status NoAllocation(uint64_t address, uint64_t bytes) {
  return absl::InvalidArgumentError(
      absl::StrCat("memory: ", bytes, " bytes at 0x", absl::Hex(address),
                   " lie in no allocation"));
}

void AddStep(std::vector<Step>& steps, const Step& step) {
  if (std::find(steps.begin(), steps.end(), step) == steps.end()) {
    steps.push_back(step);
  }
}

}  // namespace

Residency::Residency() {
  LocationTraits host;
  host.name = "host";
  host.capacity = UINT64_MAX;
  host.host_addressable = true;
  places_.push_back({host});
}

Location Residency::AddLocation(LocationTraits traits) {
  std::lock_guard lock(mutex_);
  places_.push_back({std::move(traits)});
  return static_cast<Location>(places_.size() - 1);
}

void Residency::SetCapacity(Location location, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  places_[location].traits.capacity = bytes;
}

uint64_t Residency::Capacity(Location location) const {
  std::lock_guard lock(mutex_);
  return places_[location].traits.capacity;
}

void Residency::Add(uint64_t address, uint64_t bytes, uint64_t segment,
                    uint64_t segment_bytes) {
  std::lock_guard lock(mutex_);
  Allocation& allocation = allocations_[address];
  allocation.bytes = bytes;
  allocation.segment = segment;
  allocation.runs[0] = Run();
  Segment& holder = segments_[segment];
  holder.bytes = segment_bytes;
  holder.allocations.push_back(address);
}

Residency::Removal Residency::Remove(uint64_t address) {
  std::lock_guard lock(mutex_);
  Removal removal;
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return removal;
  const auto segment = segments_.find(found->second.segment);
  removal.bytes = found->second.bytes;
  removal.segment = segment->first;
  removal.segment_bytes = segment->second.bytes;
  allocations_.erase(found);
  std::erase(segment->second.allocations, address);
  if (!segment->second.allocations.empty()) return removal;
  removal.segment_is_empty = true;
  for (Location at = 1; at < places_.size(); ++at) {
    if ((segment->second.mapped & Bit(at)) == 0) continue;
    places_[at].mapped_bytes -= segment->second.bytes;
    removal.unmap.push_back({Step::Kind::kUnmap, kHost, at, segment->first,
                             segment->second.bytes});
  }
  segments_.erase(segment);
  return removal;
}

void Residency::SetPreference(uint64_t address, Preference preference) {
  std::lock_guard lock(mutex_);
  const auto* holder = Holder(address, 1);
  if (holder == nullptr) return;
  segments_.at(holder->second.segment).preference = preference;
}

const Residency::Allocations::value_type* Residency::Holder(
    uint64_t address, uint64_t bytes) const {
  const auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return nullptr;
  const auto holder = std::prev(next);
  const uint64_t offset = address - holder->first;
  const uint64_t size = holder->second.bytes;
  return offset < size && bytes <= size - offset ? &*holder : nullptr;
}

absl::StatusOr<std::vector<uint64_t>> Residency::SegmentsOf(
    std::span<const Use> uses) const {
  std::vector<uint64_t> found;
  for (const Use& use : uses) {
    const auto* holder = Holder(use.address, use.bytes);
    if (holder == nullptr) return NoAllocation(use.address, use.bytes);
    found.push_back(holder->second.segment);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

template <typename Visit>
void Residency::ForEachRun(const Allocations::value_type& allocation,
                           uint64_t begin, uint64_t end, Visit visit) {
  const auto& runs = allocation.second.runs;
  for (auto run = std::prev(runs.upper_bound(begin));
       run != runs.end() && run->first < end; ++run) {
    const auto next = std::next(run);
    const uint64_t from = std::max(begin, run->first);
    const uint64_t to = next == runs.end() ? end : std::min(end, next->first);
    visit(allocation.first + from, to - from, run->second);
  }
}

void Residency::SetRuns(Allocation& allocation, uint64_t begin, uint64_t end,
                        auto change) {
  auto& runs = allocation.runs;
  for (const uint64_t cut : {begin, end}) {
    if (cut < allocation.bytes) {
      runs.emplace(cut, std::prev(runs.upper_bound(cut))->second);
    }
  }
  const auto first = runs.lower_bound(begin);
  const auto last = runs.lower_bound(end);
  for (auto run = first; run != last; ++run) change(run->second);
  // Neighbours that became equal are one run.
  auto run = first == runs.begin() ? first : std::prev(first);
  while (std::next(run) != runs.end() && run->first < end) {
    const auto next = std::next(run);
    if (next->second == run->second) {
      runs.erase(next);
    } else {
      run = next;
    }
  }
}

Location Residency::Rival(Location where, const Segment& segment) const {
  const uint32_t domain = places_[where].traits.domain;
  if (domain == 0) return kHost;
  for (Location other = 1; other < places_.size(); ++other) {
    if (other != where && (segment.mapped & Bit(other)) != 0 &&
        places_[other].traits.domain == domain) {
      return other;
    }
  }
  return kHost;
}

void Residency::PlanEviction(Location where, uint64_t segment,
                             std::vector<Step>& steps) const {
  const Segment& victim = segments_.at(segment);
  for (const uint64_t address : victim.allocations) {
    const auto& holder = *allocations_.find(address);
    ForEachRun(holder, 0, holder.second.bytes,
               [&](uint64_t start, uint64_t bytes, const Run& run) {
                 if (run.holders != Bit(where)) return;
                 AddStep(steps, {Step::Kind::kCopy, where, kHost, start, bytes});
               });
  }
  AddStep(steps, {Step::Kind::kUnmap, kHost, where, segment, victim.bytes});
}

absl::Status Residency::PlanRoom(Location where, uint64_t bytes,
                                 const std::vector<uint64_t>& keep,
                                 std::vector<Step>& steps) const {
  using Rank = std::tuple<Preference, uint64_t, uint64_t>;
  std::vector<Rank> candidates;
  for (const auto& [address, segment] : segments_) {
    if ((segment.mapped & Bit(where)) == 0 ||
        std::binary_search(keep.begin(), keep.end(), address)) {
      continue;
    }
    const auto used = segment.used.find(where);
    candidates.emplace_back(segment.preference,
                            used == segment.used.end() ? 0 : used->second,
                            address);
  }
  std::sort(candidates.begin(), candidates.end());
  uint64_t room = 0;
  for (const auto& [preference, used, address] : candidates) {
    if (room >= bytes) break;
    room += segments_.at(address).bytes;
    PlanEviction(where, address, steps);
  }
  if (room >= bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "memory: ", places_[where].traits.name, " lacks ", bytes,
      " bytes, and only ", room, " of what it holds can give way"));
}

void Residency::PlanMapping(Location where, uint64_t address,
                            std::vector<Step>& steps) const {
  const Segment& segment = segments_.at(address);
  if ((segment.mapped & Bit(where)) != 0) return;
  const Location rival = Rival(where, segment);
  if (rival != kHost && places_[where].traits.can_take) {
    AddStep(steps, {Step::Kind::kTake, rival, where, address, segment.bytes});
    return;
  }
  if (rival != kHost) PlanEviction(rival, address, steps);
  AddStep(steps, {Step::Kind::kMap, kHost, where, address, segment.bytes});
}

void Residency::PlanCopies(Location where, const Use& use,
                           std::vector<Step>& steps) const {
  const auto& holder = *Holder(use.address, use.bytes);
  const Segment& segment = segments_.at(holder.second.segment);
  const Location rival = Rival(where, segment);
  const bool taken = rival != kHost && places_[where].traits.can_take;
  const auto copy = [&](uint64_t start, uint64_t bytes, const Run& run) {
    uint64_t holders = run.holders;
    if (holders == 0 || (holders & Bit(where)) != 0) return;
    if (rival != kHost && (holders & Bit(rival)) != 0) {
      if (taken) return;
      // By now it has been saved.
      holders = (holders & ~Bit(rival)) == 0 ? Bit(kHost)
                                             : holders & ~Bit(rival);
    }
    Location from = LowestOf(holders);
    for (Location other = from; other < places_.size(); ++other) {
      if ((holders & Bit(other)) != 0 &&
          places_[other].traits.host_addressable) {
        from = other;
        break;
      }
    }
    if (!places_[from].traits.host_addressable &&
        !places_[where].traits.host_addressable) {
      AddStep(steps, {Step::Kind::kCopy, from, kHost, start, bytes});
      from = kHost;
    }
    AddStep(steps, {Step::Kind::kCopy, from, where, start, bytes});
  };
  const uint64_t size = holder.second.bytes;
  const uint64_t begin = use.address - holder.first;
  const uint64_t end = begin + use.bytes;
  const uint64_t first = RoundDown(begin);
  const uint64_t last = RoundUp(end, size);
  if (use.access != Access::kOverwrite) {
    return ForEachRun(holder, first, last, copy);
  }
  // Granules that are overwritten in part.
  const uint64_t whole_first = RoundUp(begin, size);
  const uint64_t whole_last = end == size ? size : RoundDown(end);
  if (whole_first >= whole_last) {
    return ForEachRun(holder, first, last, copy);
  }
  if (first < whole_first) ForEachRun(holder, first, whole_first, copy);
  if (whole_last < last) ForEachRun(holder, whole_last, last, copy);
}

absl::StatusOr<std::vector<Step>> Residency::Plan(
    Location where, std::span<const Use> uses) const {
  std::lock_guard lock(mutex_);
  const absl::StatusOr<std::vector<uint64_t>> segments = SegmentsOf(uses);
  if (!segments.ok()) return segments.status();
  std::vector<Step> steps;
  if (where != kHost) {
    const Place& place = places_[where];
    uint64_t needed = 0, missing = 0;
    for (const uint64_t address : *segments) {
      const Segment& segment = segments_.at(address);
      needed += segment.bytes;
      if ((segment.mapped & Bit(where)) == 0) missing += segment.bytes;
    }
    if (needed > place.traits.capacity) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "memory: ", needed, " bytes are to be used at once, ",
          place.traits.name, " holds at most ", place.traits.capacity));
    }
    const uint64_t free =
        place.traits.capacity - std::min(place.traits.capacity,
                                         place.mapped_bytes);
    if (missing > free) {
      absl::Status room = PlanRoom(where, missing - free, *segments, steps);
      if (!room.ok()) return room;
    }
    for (const uint64_t address : *segments) PlanMapping(where, address, steps);
  }
  for (const Use& use : uses) PlanCopies(where, use, steps);
  return steps;
}

absl::StatusOr<std::vector<Step>> Residency::MakeRoom(
    Location where, uint64_t bytes, std::span<const Use> keep) const {
  std::lock_guard lock(mutex_);
  const absl::StatusOr<std::vector<uint64_t>> segments = SegmentsOf(keep);
  if (!segments.ok()) return segments.status();
  std::vector<Step> steps;
  absl::Status room = PlanRoom(where, bytes, *segments, steps);
  if (!room.ok()) return room;
  return steps;
}

Residency::Extent Residency::AllocationAt(uint64_t address) const {
  std::lock_guard lock(mutex_);
  const auto* holder = Holder(address, 1);
  if (holder == nullptr) return {};
  return {holder->first, holder->second.bytes};
}

std::vector<uint64_t> Residency::AllocationsIn(uint64_t segment) const {
  std::lock_guard lock(mutex_);
  const auto found = segments_.find(segment);
  if (found == segments_.end()) return {};
  return found->second.allocations;
}

void Residency::Done(const Step& step) {
  std::lock_guard lock(mutex_);
  if (step.kind == Step::Kind::kCopy) {
    const auto* holder = Holder(step.address, step.bytes);
    if (holder == nullptr) return;
    const uint64_t begin = step.address - holder->first;
    SetRuns(allocations_.at(holder->first), begin, begin + step.bytes,
            [&](Run& run) {
              if ((run.holders & Bit(step.from)) != 0) {
                run.holders |= Bit(step.to);
              }
            });
    return;
  }
  Segment& segment = segments_.at(step.address);
  if (step.kind == Step::Kind::kMap) {
    segment.mapped |= Bit(step.to);
    segment.used[step.to] = ++clock_;
    places_[step.to].mapped_bytes += segment.bytes;
    return;
  }
  const bool take = step.kind == Step::Kind::kTake;
  const Location leaves = take ? step.from : step.to;
  segment.mapped &= ~Bit(leaves);
  segment.used.erase(leaves);
  places_[leaves].mapped_bytes -= segment.bytes;
  if (take) {
    segment.mapped |= Bit(step.to);
    segment.used[step.to] = ++clock_;
    places_[step.to].mapped_bytes += segment.bytes;
  }
  for (const uint64_t address : segment.allocations) {
    Allocation& allocation = allocations_.at(address);
    SetRuns(allocation, 0, allocation.bytes, [&](Run& run) {
      if ((run.holders & Bit(leaves)) == 0) return;
      run.holders &= ~Bit(leaves);
      if (take) run.holders |= Bit(step.to);
    });
  }
}

void Residency::Wrote(Location where, uint64_t address, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const auto* holder = Holder(address, bytes);
  if (holder == nullptr) return;
  const uint64_t begin = address - holder->first;
  const Run written = {Bit(where), ++clock_};
  SetRuns(allocations_.at(holder->first), RoundDown(begin),
          RoundUp(begin + bytes, holder->second.bytes),
          [&](Run& run) { run = written; });
}

void Residency::Touch(Location where, std::span<const Use> uses) {
  std::lock_guard lock(mutex_);
  ++clock_;
  for (const Use& use : uses) {
    const auto* holder = Holder(use.address, use.bytes);
    if (holder == nullptr) continue;
    segments_.at(holder->second.segment).used[where] = clock_;
  }
}

absl::StatusOr<std::vector<Residency::Piece>> Residency::Find(
    uint64_t address, uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  const auto* holder = Holder(address, bytes);
  if (holder == nullptr) return NoAllocation(address, bytes);
  std::vector<Piece> pieces;
  const uint64_t begin = address - holder->first;
  ForEachRun(*holder, begin, begin + bytes,
             [&](uint64_t start, uint64_t length, const Run& run) {
               pieces.push_back({start, length, run.holders, run.version});
             });
  return pieces;
}

absl::StatusOr<State> Residency::StateAt(Location where,
                                         uint64_t address) const {
  absl::StatusOr<std::vector<Piece>> pieces = Find(address, 1);
  if (!pieces.ok()) return pieces.status();
  const uint64_t holders = pieces->front().holders;
  if (holders == 0) return State::kUndefined;
  if ((holders & Bit(where)) == 0) return State::kInvalid;
  if (holders == Bit(where)) return State::kOwnedDirty;
  if (holders == (Bit(where) | Bit(kHost))) return State::kOwnedClean;
  return State::kShared;
}

bool Residency::IsMapped(Location where, uint64_t address) const {
  std::lock_guard lock(mutex_);
  const auto* holder = Holder(address, 1);
  return holder != nullptr &&
         (segments_.at(holder->second.segment).mapped & Bit(where)) != 0;
}

uint64_t Residency::MappedBytes(Location where) const {
  std::lock_guard lock(mutex_);
  return places_[where].mapped_bytes;
}

uint64_t Residency::ResidentBytes(Location where, uint64_t address) const {
  std::lock_guard lock(mutex_);
  const auto* holder = Holder(address, 1);
  if (holder == nullptr) return 0;
  uint64_t resident = 0;
  ForEachRun(*holder, 0, holder->second.bytes,
             [&](uint64_t, uint64_t bytes, const Run& run) {
               if ((run.holders & Bit(where)) != 0) resident += bytes;
             });
  return resident;
}

std::vector<Residency::Piece> Residency::Lose(Location where) {
  std::lock_guard lock(mutex_);
  std::vector<Piece> lost;
  for (auto& [address, allocation] : allocations_) {
    ForEachRun(*allocations_.find(address), 0, allocation.bytes,
               [&](uint64_t start, uint64_t bytes, const Run& run) {
                 if (run.holders != Bit(where)) return;
                 lost.push_back({start, bytes, 0, run.version});
               });
    SetRuns(allocation, 0, allocation.bytes, [&](Run& run) {
      if ((run.holders & Bit(where)) == 0) return;
      run.holders &= ~Bit(where);
      if (run.holders == 0) run.version = 0;
    });
  }
  return lost;
}

}  // namespace hetgpu::memory
