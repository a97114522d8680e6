// Which device holds which version of unified memory, and what has to be done
// before a device may use some of it.
//
// Content is tracked in granules of 64 KiB from the start of each allocation.
// For each stretch of granules with the same history there is a set of holders
// (locations whose copy is the newest) and the number of the write that made it:
//
//   holders of a granule           state at location L
//   L is not among them            invalid
//   L and other devices            shared
//   L and the host alone           owned-clean: may be dropped at once
//   L alone                        owned-dirty: must be saved before it is dropped
//   nobody                         never written: content is undefined
//
// Memory is mapped in segments: a large allocation, or a block of many small
// ones. A location holds a limited number of bytes of segments; what is least
// recently used makes room. The host has room for everything.
//
// Nothing here moves data. Plan() says what to do, step by step; the caller does
// one step after the other and tells with Done(). Each step leaves a state that
// is true, so a failure in between loses nothing: what was done stays done, and
// the next plan starts from there.
#ifndef HETGPU_MEMORY_RESIDENCY_H_
#define HETGPU_MEMORY_RESIDENCY_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hetgpu::memory {

inline constexpr uint64_t kGranuleBytes = uint64_t{64} << 10;

using Location = uint8_t;
inline constexpr Location kHost = 0;
inline constexpr Location kMaxLocations = 64;

enum class Access : uint8_t {
  kRead,
  kWrite,      // some of it; the rest keeps its content
  kOverwrite,  // all of it, before any of it is read
};

enum class State : uint8_t {
  kInvalid,
  kShared,
  kOwnedClean,
  kOwnedDirty,
  kUndefined,
};

// What is going to be used; inside one allocation.
struct Use {
  uint64_t address = 0;
  uint64_t bytes = 0;
  Access access = Access::kRead;
};

struct Step {
  enum class Kind : uint8_t {
    kMap,    // the segment at `to`, content undefined
    kCopy,   // contents from → to
    kUnmap,  // the segment from `to`
    kTake,   // the segment's mapping and contents from → to
  } kind = Kind::kMap;
  Location from = kHost;
  Location to = kHost;
  uint64_t address = 0;
  uint64_t bytes = 0;
  friend bool operator==(const Step&, const Step&) = default;
};

// How readily a segment gives way to another.
enum class Preference : uint8_t { kHost, kNone, kDevice };

struct LocationTraits {
  std::string name;             // "cuda:0", for messages
  uint64_t capacity = 0;        // bytes of segments it may hold
  bool host_addressable = false;  // copies from and to it need no host buffer
  uint32_t domain = 0;  // of two with the same number other than 0, only one
                        // can have a segment mapped
  bool can_take = false;  // kTake works within its domain
};

// Thread-safe; but a plan is true only until the next Done(), Wrote() or
// Remove(): callers that plan and carry out at once take turns.
class Residency {
 public:
  Residency();

  Location AddLocation(LocationTraits traits);
  void SetCapacity(Location location, uint64_t bytes);
  uint64_t Capacity(Location location) const;

  // An allocation inside a segment; both are new addresses, except that a
  // segment may hold several allocations and is then given with each.
  void Add(uint64_t address, uint64_t bytes, uint64_t segment,
           uint64_t segment_bytes);
  struct Removal {
    uint64_t bytes = 0;  // of the allocation; 0: there was none
    uint64_t segment = 0;
    uint64_t segment_bytes = 0;
    bool segment_is_empty = false;  // and forgotten too
    std::vector<Step> unmap;        // then; to be done, but not to be told
  };
  // Forgets the allocation that starts at `address`.
  Removal Remove(uint64_t address);
  void SetPreference(uint64_t address, Preference preference);

  // The steps after which `where` may use all of `uses`. InvalidArgument: a
  // range that lies in no allocation. ResourceExhausted: more than `where` can
  // hold at once, whatever gives way. No state changes.
  absl::StatusOr<std::vector<Step>> Plan(Location where,
                                         std::span<const Use> uses) const;
  // The steps after which `where` has `bytes` more to map than it has now,
  // without touching the segments of `keep`: for when it has less room than its
  // capacity says. ResourceExhausted when nothing is left to give way.
  absl::StatusOr<std::vector<Step>> MakeRoom(Location where, uint64_t bytes,
                                             std::span<const Use> keep) const;
  struct Extent {
    uint64_t address = 0;
    uint64_t bytes = 0;  // 0: none
  };
  // The allocation that holds the address.
  Extent AllocationAt(uint64_t address) const;
  // Starts of the allocations in a segment.
  std::vector<uint64_t> AllocationsIn(uint64_t segment) const;
  // A step has been carried out.
  void Done(const Step& step);
  // `where` writes these granules now: it has the only copy. What is used is
  // recently used.
  void Wrote(Location where, uint64_t address, uint64_t bytes);
  void Touch(Location where, std::span<const Use> uses);

  // Where the newest content of a stretch is: pieces in order of address that
  // cover it. `holders` has bit L set for each location L that holds it.
  struct Piece {
    uint64_t address = 0;
    uint64_t bytes = 0;
    uint64_t holders = 0;
    uint64_t version = 0;  // of the last write; 0: never written
  };
  absl::StatusOr<std::vector<Piece>> Find(uint64_t address,
                                          uint64_t bytes) const;
  // InvalidArgument when the address is in no allocation.
  absl::StatusOr<State> StateAt(Location where, uint64_t address) const;
  bool IsMapped(Location where, uint64_t address) const;
  // Bytes of segments mapped there.
  uint64_t MappedBytes(Location where) const;
  // Bytes of the allocation of which `where` holds the newest content.
  uint64_t ResidentBytes(Location where, uint64_t address) const;

  // The location lost all contents, but keeps its mappings. The stretches of
  // which nobody has a copy any more; they count as never written.
  std::vector<Piece> Lose(Location where);

 private:
  // Of granules from the key of the map on, up to the next key.
  struct Run {
    uint64_t holders = 0;
    uint64_t version = 0;
    friend bool operator==(const Run&, const Run&) = default;
  };
  struct Allocation {
    uint64_t bytes = 0;
    uint64_t segment = 0;
    std::map<uint64_t, Run> runs;  // offset → run; one at 0 always
  };
  struct Segment {
    uint64_t bytes = 0;
    uint64_t mapped = 0;  // bit per location
    Preference preference = Preference::kNone;
    std::map<Location, uint64_t> used;  // time of the last use
    std::vector<uint64_t> allocations;  // starts
  };
  struct Place {
    LocationTraits traits;
    uint64_t mapped_bytes = 0;
  };
  using Allocations = std::map<uint64_t, Allocation>;

  // All below need mutex_.
  const Allocations::value_type* Holder(uint64_t address,
                                        uint64_t bytes) const;
  absl::StatusOr<std::vector<uint64_t>> SegmentsOf(
      std::span<const Use> uses) const;
  // Calls visit(address, bytes, run) for the runs of [begin, end) of an
  // allocation, cut at both ends.
  template <typename Visit>
  static void ForEachRun(const Allocations::value_type& allocation,
                         uint64_t begin, uint64_t end, Visit visit);
  static void SetRuns(Allocation& allocation, uint64_t begin, uint64_t end,
                      auto change);
  void PlanEviction(Location where, uint64_t segment,
                    std::vector<Step>& steps) const;
  absl::Status PlanRoom(Location where, uint64_t bytes,
                        const std::vector<uint64_t>& keep,
                        std::vector<Step>& steps) const;
  // Steps that map the segment at `where`; it may take it from another.
  void PlanMapping(Location where, uint64_t segment,
                   std::vector<Step>& steps) const;
  void PlanCopies(Location where, const Use& use,
                  std::vector<Step>& steps) const;
  // Of a domain, the other location that has the segment mapped; kHost: none.
  Location Rival(Location where, const Segment& segment) const;

  mutable std::mutex mutex_;
  std::vector<Place> places_;
  Allocations allocations_;
  std::map<uint64_t, Segment> segments_;
  uint64_t clock_ = 0;
};

}  // namespace hetgpu::memory

#endif  // HETGPU_MEMORY_RESIDENCY_H_
