// Host addresses at which CPU devices keep their memory: a reservation without
// access, over the arena's own addresses where that is possible.
//
//   arena (memory/arena.h)   base             base + bytes
//   process overlay     edge |  same addresses, delta 0  | edge
//   another overlay     edge |  elsewhere, at base + delta | edge
//
// An edge is a reservation that is never used (arena_window.h, reach).
// All CPU devices share the process's overlay. It was perhaps made before a GPU
// driver wanted to reserve the same range, which works only while nothing is
// mapped there. So it can leave for a moment: committed ranges move elsewhere
// with their contents and come back. Threads that touch them meanwhile fault,
// and the fault handler holds them until all is back.
#ifndef HETGPU_BACKENDS_CPU_OVERLAY_H_
#define HETGPU_BACKENDS_CPU_OVERLAY_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cpu/arena_window.h"
#include "memory/arena.h"

namespace hetgpu::cpu {

// Thread-safe. Addresses are the arena's unless they are called host addresses.
class Overlay final : public memory::Occupant {
 public:
  // That of the process, made at the first call and kept.
  static absl::StatusOr<Overlay*> Process();
  // Another one at `host_base`, or wherever the system puts it: for devices
  // whose memory must not be that of the process's overlay.
  static absl::StatusOr<std::unique_ptr<Overlay>> Create(uint64_t host_base);
  ~Overlay() override;
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  // Host address = address + delta.
  uint64_t delta() const { return host_base_ - base_; }
  uint64_t base() const { return base_; }
  uint64_t bytes() const { return bytes_; }
  // What code is compiled against.
  ArenaWindow window() const { return {base_, bytes_, delta(), reach_}; }
  // The address of what may be a host address of the overlay.
  uint64_t FromHost(uint64_t address) const {
    return address - host_base_ < bytes_ ? address - delta() : address;
  }
  // The host address of what may be an address of the arena; others are host
  // addresses already.
  uint64_t ToHost(uint64_t address) const {
    return address - base_ < bytes_ ? address + delta() : address;
  }

  // Zeroed, accessible pages; multiples of the page. ResourceExhausted when the
  // system refuses, or the overlay does not reach that far.
  absl::Status Commit(uint64_t start, uint64_t bytes);
  // Takes back a whole earlier Commit().
  absl::Status Decommit(uint64_t start, uint64_t bytes);

  void Leave() override;
  void Return() override;

  // For the fault handler, on any thread: whether an access to this host
  // address may have failed because the overlay was away. Then it has returned
  // when the call does, and the access is to be tried again.
  static bool HoldFault(uintptr_t host_address);

 private:
  Overlay(uint64_t base, uint64_t host_base, uint64_t bytes);

  const uint64_t base_;
  const uint64_t host_base_;
  const uint64_t bytes_;
  const uint64_t reach_;  // of the edges, kept without access; 0: there are none
  std::mutex mutex_;  // held while away
  std::map<uint64_t, uint64_t> committed_;  // start → bytes
  uint64_t refuge_ = 0;                     // host address, while away
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_OVERLAY_H_
