// The memory that all unified contexts of the process share.
//
// Every allocation has one address on every device. Which device holds which
// version of it is kept by memory::Residency; this class moves the data. Before
// a command is enqueued the data it uses is brought to its device, and after it
// an event is recorded, so that later transfers know what to wait for:
//
//   kernel on A writes X          stream of A:  launch ── record e1
//   kernel on B reads X           memory of A:  wait e1 ── copy X ── record e2
//                                 stream of B:  wait e2 ── launch ── record e3
//
// Contexts on one device wait for each other in the same way, without a copy.
// Within a context streams are ordered by events, as always.
//
// Data travels on queues of its own, one per device: those of the contexts may
// have failed and skip commands. A queue whose host functions may wait waits for
// another device's event in one; for other queues the calling thread waits. So
// devices wait for each other in one direction only, and never in a circle.
//
// Contents that no device has room for, and copies between devices that do not
// reach each other, are in the host's mirror of an allocation.
#ifndef HETGPU_RUNTIME_UNIFIED_MEMORY_H_
#define HETGPU_RUNTIME_UNIFIED_MEMORY_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "memory/read_ahead.h"
#include "memory/residency.h"
#include "memory/segment_heap.h"
#include "memory/write_combiner.h"
#include "runtime/device.h"
#include "runtime/memory.h"

namespace hetgpu::runtime {

class UnifiedMemory;

// A unified context's part in it. The device stays open while one of its members
// lives; what it alone holds goes to the host with the last one. Everything is
// freed with the last member of all.
class UnifiedMember {
 public:
  UnifiedMember(UnifiedMemory& memory, memory::Location location)
      : memory_(memory), location_(location) {}
  ~UnifiedMember();
  UnifiedMember(const UnifiedMember&) = delete;
  UnifiedMember& operator=(const UnifiedMember&) = delete;

  UnifiedMemory& memory() const { return memory_; }
  memory::Location location() const { return location_; }
  // What the members on this device work on now.
  std::shared_ptr<hetgpu::Device> device() const;
  // Called, once a loss, before another takes the place of a lost device, which
  // may be the last moment in which queues can say why. Without locks.
  void OnLoss(std::function<void()> leave);
  // Grows whenever commands of this device may have run without the data that
  // another device should have sent, because that one was lost.
  uint64_t doubts() const;

 private:
  UnifiedMemory& memory_;
  const memory::Location location_;
};

// Threads: any.
class UnifiedMemory {
 public:
  // Of the process, kept for life.
  static absl::StatusOr<UnifiedMemory*> Get();

  // UNSUPPORTED when the device cannot have memory at chosen addresses.
  absl::StatusOr<std::shared_ptr<UnifiedMember>> Join(
      const std::shared_ptr<Device>& device);

  // What took the place of a lost device, for all its members.
  struct Moved {
    std::shared_ptr<hetgpu::Device> device;
    std::string how;
    uint64_t bytes_kept = 0;  // unified ones and others
  };
  // Of a location whose device was lost; the same however often it is asked.
  absl::StatusOr<Moved> Reopen(memory::Location where);

  AllocationTable& allocations() { return allocations_; }
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);
  // Waits for the commands that use it. AllocationTable::Remove()'s errors.
  absl::Status Free(uint64_t address);
  absl::Status Advise(uint64_t address, hetgpuMemAdvice advice);
  // Bytes that may be mapped on a device; 0: all that it has.
  void SetResidentLimit(memory::Location where, uint64_t bytes);
  uint64_t ResidentLimit(memory::Location where) const;
  // Bytes of the allocation at `address` whose newest content is there.
  uint64_t ResidentBytes(memory::Location where, uint64_t address) const;

  // Brings `uses` to the member's device, enqueues a command that uses them by
  // `enqueue` on `queue`, a queue of the member's on `device`, and takes note.
  // WORKING_SET_TOO_LARGE when they cannot be there at once, the loss when
  // `device` is lost; then nothing was enqueued.
  absl::Status Run(const UnifiedMember& member, const hetgpu::Device& device,
                   hetgpu::Queue& queue,
                   std::span<const memory::Use> uses,
                   const std::function<absl::Status()>& enqueue);
  // What a launch may use of unified memory.
  std::vector<memory::Use> UsesOf(const LaunchDesc& desc) const;

  // A copy to the host on `queue`, from where the data is.
  absl::Status Read(const UnifiedMember& member, const hetgpu::Device& device,
                    hetgpu::Queue& queue, void* dst, uint64_t src,
                    uint64_t bytes);
  // Takes a small write that may be sent later; false: send it now. Nothing that
  // was enqueued before may be running.
  bool WriteLater(uint64_t dst, const void* src, uint64_t bytes);

 private:
  friend class UnifiedMember;

  // An event that was recorded, with what must outlive it.
  struct Ticket {
    std::shared_ptr<hetgpu::Device> device;
    std::unique_ptr<hetgpu::Event> event;
    std::vector<std::shared_ptr<Ticket>> awaited;
    uint64_t works = 0;  // the device's losses of work that were known
    // What a copy sends, where to, and the version that this makes.
    std::string data;
    uint64_t address = 0, version = 0;

    // Unavailable: whether what was recorded has been done, nobody knows.
    absl::Status Fate() const;
  };
  using Tickets = std::vector<std::shared_ptr<Ticket>>;

  // A command in flight that uses a copy of an allocation.
  struct InFlight {
    std::shared_ptr<Ticket> ticket;
    memory::Location device;  // whose queue it is on
    memory::Location copy;
    const hetgpu::Queue* queue;
    bool writes;
    // Whose command it is; null: a transfer. Commands of one member are ordered
    // by its streams and events.
    const UnifiedMember* owner;
  };

  struct Place {
    Device* source = nullptr;  // the runtime's
    std::string name;          // "cuda:0"; "host"
    std::shared_ptr<hetgpu::Device> device;  // null: no members
    std::unique_ptr<hetgpu::Queue> queue;    // for transfers
    uint64_t members = 0;
    uint64_t losses = 0;  // of contents, that are known
    uint64_t works = 0;   // likewise of work in flight
    bool is_lost = false;       // that is known, and was not made good
    absl::Status not_reopened;  // why not
    std::string how;            // how the last one was; "" = never
    uint64_t bytes_kept = 0;
    std::map<const UnifiedMember*, std::function<void()>> on_loss;
    std::shared_ptr<std::atomic<uint64_t>> doubts =
        std::make_shared<std::atomic<uint64_t>>(0);
  };

  // Host memory for one allocation; pages are taken when touched.
  class Mirror {
   public:
    explicit Mirror(uint64_t bytes);
    ~Mirror();
    char* data() const { return data_; }

   private:
    const uint64_t bytes_;
    char* data_;
  };

  explicit UnifiedMemory(uint64_t prefetch_threshold);
  void Leave(const UnifiedMember& member);

  // All below need mutex_; with a lock as argument they may let go of it and
  // take it again.
  using Lock = std::unique_lock<std::mutex>;

  absl::Status Prepare(Lock& lock, memory::Location where,
                       std::span<const memory::Use> uses);
  absl::Status Flush(Lock& lock, memory::Location where,
                     std::span<const memory::Use> uses);
  absl::Status Send(Lock& lock, memory::Location where, uint64_t address,
                    std::string bytes);
  Tickets Blockers(memory::Location where,
                   std::span<const memory::Step> steps);
  absl::Status Carry(const memory::Step& step,
                     std::span<const memory::Use> keep);
  absl::Status Map(const memory::Step& step, std::span<const memory::Use> keep);
  absl::Status Unmap(const memory::Step& step);
  absl::Status Take(const memory::Step& step);
  absl::Status Copy(const memory::Step& step);
  // The queue that carries out a copy.
  memory::Location CarrierOf(const memory::Step& step);
  bool CanWait(memory::Location device, memory::Location other) const;
  // That a command of `member` has to wait for one before.
  static bool Precedes(const InFlight& command, const UnifiedMember& member,
                       const memory::Use& use);
  // Makes `queue` of `device` wait. Unavailable when the command's device was
  // lost meanwhile.
  absl::Status Await(hetgpu::Queue& queue, memory::Location device,
                     const InFlight& command, Tickets& awaited);
  absl::StatusOr<std::shared_ptr<Ticket>> NewTicket(memory::Location device);
  void WaitForCopy(uint64_t allocation, memory::Location copy, bool reads_too);
  char* HostPointer(memory::Location where, uint64_t address);
  uint64_t StartOf(uint64_t address) const;
  std::vector<InFlight>& Commands(uint64_t allocation);
  void FindLosses(Lock& lock);
  void FindLostWork(memory::Location where);
  bool IsLost(memory::Location where) const;
  // One that FindLosses() has not seen yet.
  bool AnyIsLost() const;
  bool AnyLostWork() const;
  absl::Status NothingIsLost() const;
  // Puts another device with the same memory in the place of the lost one.
  absl::Status ReopenPlace(memory::Location where);
  // Of copies in flight on a device that was lost, or that lost its work,
  // nobody knows whether they were carried out: where they came from is
  // believed, and their targets are not. What the host had sent is held back once more.
  void DoubtCopies(memory::Location where);
  void SendAgain(uint64_t allocation,
                 std::span<const std::shared_ptr<Ticket>> sent);
  // Of commands that may be lost, or all.
  void EraseInFlight(memory::Location where, bool all);
  void Believe(memory::Location right, memory::Location wrong,
               uint64_t allocation);
  absl::Status UseDevice(memory::Location where,
                         std::unique_ptr<hetgpu::Device> device);
  void FreeAll();
  bool HoldsAll(memory::Location where, uint64_t address, uint64_t bytes) const;

  memory::SegmentHeap heap_;
  AllocationTable allocations_;
  mutable std::mutex mutex_;
  memory::Residency residency_;
  memory::WriteCombiner held_;
  memory::ReadAhead ahead_;
  std::vector<Place> places_;  // by location; the host's is empty
  std::map<uint64_t, std::unique_ptr<Mirror>> mirrors_;  // by allocation
  std::map<uint64_t, std::vector<InFlight>> in_flight_;  // by allocation
  uint64_t members_ = 0;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_UNIFIED_MEMORY_H_
