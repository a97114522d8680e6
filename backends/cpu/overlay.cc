#include "backends/cpu/overlay.h"

#include <sched.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/cpu/faults.h"
#include "backends/cpu/guarded_memory.h"

namespace hetgpu::cpu {
namespace {

constexpr uint64_t kSmallestReservation = uint64_t{1} << 30;
constexpr uint64_t kHugePageBytes = uint64_t{2} << 20;
constexpr uint64_t kLowestBias = uint64_t{4} << 30;

// Of the process's overlay, for the fault handler.
std::atomic<uint64_t> watched_base = 0;
std::atomic<uint64_t> watched_bytes = 0;
std::atomic<bool> away = false;
std::atomic<uint64_t> departures = 0;

void* Pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

// 0 when refused. With MAP_FIXED in place of whatever is there.
uint64_t Reserve(uint64_t where, uint64_t bytes, int flags) {
  void* const memory =
      mmap(Pointer(where), bytes, PROT_NONE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  return memory == MAP_FAILED ? 0 : reinterpret_cast<uint64_t>(memory);
}

struct Reservation {
  uint64_t base = 0;
  uint64_t bytes = 0;
};

// The largest that the system grants, at the hint if that is free.
Reservation ReserveNear(uint64_t hint, uint64_t largest) {
  for (uint64_t bytes = largest; bytes >= kSmallestReservation; bytes /= 2) {
    if (const uint64_t base = Reserve(hint, bytes, 0)) return {base, bytes};
  }
  return {};
}

// Keeps `reach` addresses on either side from being used; false when they are.
bool ReserveEdges(uint64_t host_base, uint64_t bytes, uint64_t reach) {
  const uint64_t places[] = {host_base - reach, host_base + bytes};
  uint64_t held[2];
  for (int i : {0, 1}) held[i] = Reserve(places[i], reach, MAP_FIXED_NOREPLACE);
  if (held[0] == places[0] && held[1] == places[1]) return true;
  for (uint64_t edge : held) {
    if (edge != 0) munmap(Pointer(edge), reach);
  }
  return false;
}

absl::Status NoAddresses() {
  return absl::ResourceExhaustedError(
      absl::StrCat("cpu: cannot reserve ", kSmallestReservation,
                   " bytes of address space: ", std::strerror(errno)));
}

// A failure here leaves memory that kernels use unmapped: nothing can go on.
void Move(uint64_t from, uint64_t to, uint64_t bytes) {
  if (mremap(Pointer(from), bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
             Pointer(to)) == MAP_FAILED) {
    std::abort();
  }
}

}  // namespace

absl::StatusOr<Overlay*> Overlay::Process() {
  static std::mutex mutex;
  static Overlay* overlay = nullptr;
  std::lock_guard lock(mutex);
  if (overlay != nullptr) return overlay;
  memory::Arena& arena = memory::Arena::Process();
  Reservation held;
  if (arena.is_reserved()) {
    held = {Reserve(arena.base(), arena.bytes(), MAP_FIXED), arena.bytes()};
  }
  if (held.base == 0) held = ReserveNear(arena.base(), arena.bytes());
  if (held.base == 0) return NoAddresses();
  const uint64_t base = arena.Settle(held.base, held.bytes);
  overlay = new Overlay(base, held.base, held.bytes);
  watched_base = held.base;
  watched_bytes = held.bytes;
  InstallFaultHandlers();
  if (base == held.base) arena.SetOccupant(overlay);
  // Pointers that are used with positive indices only may start below what they
  // point into, and still lie in the window.
  if (held.bytes == memory::kArenaBytes) arena.Allocate(kLowestBias, kPageBytes);
  return overlay;
}

absl::StatusOr<std::unique_ptr<Overlay>> Overlay::Create(uint64_t host_base) {
  memory::Arena& arena = memory::Arena::Process();
  if (!arena.is_settled()) {
    const absl::StatusOr<Overlay*> process = Process();
    if (!process.ok()) return process.status();
  }
  const Reservation held = ReserveNear(host_base, arena.bytes());
  if (held.base == 0) return NoAddresses();
  return std::unique_ptr<Overlay>(
      new Overlay(arena.base(), held.base, held.bytes));
}

Overlay::Overlay(uint64_t base, uint64_t host_base, uint64_t bytes)
    : base_(base),
      host_base_(host_base),
      bytes_(bytes),
      reach_(ReserveEdges(host_base, bytes, kArenaReach) ? kArenaReach : 0) {}

Overlay::~Overlay() {
  munmap(Pointer(host_base_), bytes_);
  if (reach_ == 0) return;
  munmap(Pointer(host_base_ - reach_), reach_);
  munmap(Pointer(host_base_ + bytes_), reach_);
}

absl::Status Overlay::Commit(uint64_t start, uint64_t bytes) {
  if (start - base_ >= bytes_ || bytes > bytes_ - (start - base_)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "cpu: ", bytes, " bytes at 0x", absl::Hex(start),
        " lie outside of the ", bytes_, " addresses that could be reserved"));
  }
  std::lock_guard lock(mutex_);
  void* const pages = Pointer(start + delta());
  if (mprotect(pages, bytes, PROT_READ | PROT_WRITE) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("cpu: the system refuses to commit ", bytes,
                     " bytes (vm.max_map_count or overcommit limit)"));
  }
  if (bytes >= kHugePageBytes) madvise(pages, bytes, MADV_HUGEPAGE);
  committed_.emplace(start, bytes);
  return absl::OkStatus();
}

absl::Status Overlay::Decommit(uint64_t start, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  // A new mapping in place of the old one also gives back its page tables.
  if (Reserve(start + delta(), bytes, MAP_FIXED) == 0) {
    return absl::InternalError(
        absl::StrCat("cpu: cannot decommit memory: ", std::strerror(errno)));
  }
  committed_.erase(start);
  return absl::OkStatus();
}

void Overlay::Leave() {
  mutex_.lock();
  refuge_ = Reserve(0, bytes_, 0);
  // Without a place to go it stays, and the other device finds no room.
  if (refuge_ == 0) return;
  away = true;
  ++departures;
  for (const auto& [start, bytes] : committed_) {
    Move(start + delta(), refuge_ + (start - base_), bytes);
  }
  // With the edges: drivers may look at what is next to a range.
  munmap(Pointer(host_base_ - reach_), reach_ + bytes_ + reach_);
}

void Overlay::Return() {
  if (refuge_ != 0) {
    if (Reserve(host_base_, bytes_, MAP_FIXED) == 0) std::abort();
    // Whoever took an edge meanwhile did not make it accessible.
    if (reach_ != 0) ReserveEdges(host_base_, bytes_, reach_);
    for (const auto& [start, bytes] : committed_) {
      Move(refuge_ + (start - base_), start + delta(), bytes);
    }
    munmap(Pointer(refuge_), bytes_);
    refuge_ = 0;
    away = false;
  }
  mutex_.unlock();
}

bool Overlay::HoldFault(uintptr_t host_address) {
  if (host_address - watched_base >= watched_bytes) return false;
  // The overlay may have come back between the fault and this call: one more
  // try for each time it was away.
  static thread_local uint64_t tried = 0;
  const uint64_t now = departures;
  if (!away && tried == now) return false;
  tried = now;
  while (away) sched_yield();
  return true;
}

}  // namespace hetgpu::cpu
