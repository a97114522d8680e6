#include "runtime/unified_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/counters.h"
#include "runtime/error.h"
#include "runtime/platform.h"
#include "runtime/status_macros.h"
#include "runtime/trace.h"
#include "runtime/traced_queue.h"

namespace hetgpu::runtime {

using memory::Access;
using memory::kHost;
using memory::Location;
using memory::Step;
using memory::Use;

UnifiedMember::~UnifiedMember() { memory_.Leave(*this); }

void UnifiedMember::OnLoss(std::function<void()> leave) {
  std::lock_guard lock(memory_.mutex_);
  memory_.places_[location_].on_loss[this] = std::move(leave);
}

uint64_t UnifiedMember::doubts() const {
  std::lock_guard lock(memory_.mutex_);
  return *memory_.places_[location_].doubts;
}

std::shared_ptr<hetgpu::Device> UnifiedMember::device() const {
  std::lock_guard lock(memory_.mutex_);
  return memory_.places_[location_].device;
}

UnifiedMemory::Mirror::Mirror(uint64_t bytes) : bytes_(bytes) {
  void* const pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  data_ = pages == MAP_FAILED ? nullptr : static_cast<char*>(pages);
}

UnifiedMemory::Mirror::~Mirror() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

UnifiedMemory::UnifiedMemory(uint64_t prefetch_threshold)
    : heap_(memory::Arena::Process()), ahead_(prefetch_threshold), places_(1) {
  places_[kHost].name = "host";
}

absl::StatusOr<UnifiedMemory*> UnifiedMemory::Get() {
  HETGPU_ASSIGN_OR_RETURN(Platform* const platform, Platform::Get());
  static auto* const memory =
      new UnifiedMemory(platform->environment().prefetch_threshold);
  return memory;
}

absl::StatusOr<std::shared_ptr<UnifiedMember>> UnifiedMemory::Join(
    const std::shared_ptr<Device>& device) {
  HETGPU_ASSIGN_OR_RETURN(Platform* const platform, Platform::Get());
  Lock lock(mutex_);
  Location where = 1;
  while (where < places_.size() && places_[where].source != device.get()) {
    ++where;
  }
  if (where == places_.size() || places_[where].device == nullptr) {
    HETGPU_ASSIGN_OR_RETURN(auto opened, device->Open(/*unified=*/true));
    const std::string name =
        Cat(device->info().backend, ":", device->backend_ordinal());
    const uint64_t granularity = opened->MapGranularity();
    if (granularity == 0 || memory::kSegmentUnit % granularity != 0) {
      return Error(HETGPU_ERROR_UNSUPPORTED, "unified context on ", name,
                   ": the device cannot have memory at the addresses of the "
                   "process");
    }
    if (where == places_.size()) {
      if (where >= memory::kMaxLocations) {
        return Error(HETGPU_ERROR_UNSUPPORTED, "unified context on ", name,
                     ": more than ", memory::kMaxLocations - 1, " devices");
      }
      const uint64_t limit = platform->environment().resident_limit;
      memory::LocationTraits traits;
      traits.name = name;
      traits.capacity = limit != 0 ? limit : device->info().total_memory;
      traits.host_addressable = opened->info().has_host_pointers;
      traits.domain = device->info().address_domain;
      traits.can_take = traits.domain != 0;
      residency_.AddLocation(std::move(traits));
      places_.emplace_back();
      places_[where].source = device.get();
      places_[where].name = name;
    }
    HETGPU_RETURN_IF_ERROR(UseDevice(where, std::move(opened)));
  }
  ++places_[where].members;
  ++members_;
  return std::make_shared<UnifiedMember>(*this, where);
}

absl::Status UnifiedMemory::UseDevice(Location where,
                                      std::unique_ptr<hetgpu::Device> device) {
  Place& place = places_[where];
  HETGPU_ASSIGN_OR_RETURN(auto queue, device->CreateQueue());
  place.queue = WithTrace(TraceContext(Cat("unified memory of ", place.name)),
                          *device, std::move(queue));
  place.losses = device->ContentLosses();
  place.works = device->WorkLosses();
  place.is_lost = false;
  place.device = std::move(device);
  return absl::OkStatus();
}

void UnifiedMemory::Leave(const UnifiedMember& member) {
  Lock lock(mutex_);
  --members_;
  const Location where = member.location();
  Place& place = places_[where];
  place.on_loss.erase(&member);
  if (--place.members != 0) return;
  const auto concerns = [&](const InFlight& command) {
    return command.copy == where || command.device == where;
  };
  for (auto& [allocation, commands] : in_flight_) {
    for (const InFlight& command : commands) {
      if (concerns(command)) (void)command.ticket->event->Wait();
    }
  }
  for (Location other = 1; other < places_.size(); ++other) {
    FindLostWork(other);
  }
  for (auto& [allocation, commands] : in_flight_) {
    std::erase_if(commands, concerns);
  }
  if (members_ == 0) {
    FreeAll();
  } else if (const auto steps = residency_.MakeRoom(
                 where, residency_.MappedBytes(where), {});
             steps.ok()) {
    for (const Step& step : *steps) {
      if (Carry(step, {}).ok()) continue;
      // The device fails: what it alone had is lost.
      residency_.Lose(where);
      if (step.kind == Step::Kind::kUnmap) residency_.Done(step);
    }
  }
  place.queue.reset();
  place.device.reset();
}

void UnifiedMemory::FreeAll() {
  for (const Allocation& allocation : allocations_.All()) {
    (void)allocations_.Remove(allocation.base);
    const auto removal = residency_.Remove(allocation.base);
    for (const Step& step : removal.unmap) {
      if (places_[step.to].device != nullptr) {
        (void)places_[step.to].device->Unmap(step.address, step.bytes);
      }
    }
    heap_.Free({allocation.base, removal.segment, removal.segment_bytes},
               removal.bytes, removal.segment_is_empty);
    (void)held_.Take(allocation.base);
    ahead_.Forget(allocation.base);
  }
  mirrors_.clear();
  in_flight_.clear();
}

absl::StatusOr<uint64_t> UnifiedMemory::Allocate(uint64_t bytes) {
  HETGPU_ASSIGN_OR_RETURN(const auto placement, heap_.Allocate(bytes));
  residency_.Add(placement.address, bytes, placement.segment,
                 placement.segment_bytes);
  allocations_.Add({placement.address, bytes});
  return placement.address;
}

absl::Status UnifiedMemory::Free(uint64_t address) {
  HETGPU_RETURN_IF_ERROR(allocations_.Remove(address));
  Lock lock(mutex_);
  while (true) {
    Tickets running;
    for (const InFlight& command : Commands(address)) {
      running.push_back(command.ticket);
    }
    if (running.empty()) break;
    lock.unlock();
    for (const auto& ticket : running) (void)ticket->event->Wait();
    lock.lock();
  }
  (void)held_.Take(address);
  ahead_.Forget(address);
  mirrors_.erase(address);
  in_flight_.erase(address);
  const auto removal = residency_.Remove(address);
  absl::Status unmapped;
  for (const Step& step : removal.unmap) {
    unmapped.Update(places_[step.to].device->Unmap(step.address, step.bytes));
  }
  heap_.Free({address, removal.segment, removal.segment_bytes}, removal.bytes,
             removal.segment_is_empty);
  return unmapped;
}

absl::Status UnifiedMemory::Advise(uint64_t address, hetgpuMemAdvice advice) {
  HETGPU_RETURN_IF_ERROR(allocations_.SetAdvice(address, advice));
  residency_.SetPreference(
      address, advice == HETGPU_MEM_ADVICE_PREFER_DEVICE
                   ? memory::Preference::kDevice
                   : advice == HETGPU_MEM_ADVICE_PREFER_HOST
                         ? memory::Preference::kHost
                         : memory::Preference::kNone);
  return absl::OkStatus();
}

void UnifiedMemory::SetResidentLimit(Location where, uint64_t bytes) {
  Lock lock(mutex_);
  const uint64_t all = places_[where].source->info().total_memory;
  residency_.SetCapacity(where, bytes == 0 ? all : std::min(bytes, all));
}

uint64_t UnifiedMemory::ResidentLimit(Location where) const {
  return residency_.Capacity(where);
}

uint64_t UnifiedMemory::ResidentBytes(Location where, uint64_t address) const {
  return residency_.ResidentBytes(where, address);
}

std::vector<Use> UnifiedMemory::UsesOf(const LaunchDesc& desc) const {
  struct Touched {
    Allocation allocation;
    bool writes = false;
  };
  std::map<uint64_t, Touched> touched;
  const auto touch = [&](const Allocation& allocation, bool writes) {
    Touched& entry = touched[allocation.base];
    entry.allocation = allocation;
    entry.writes = entry.writes || writes;
  };
  const AccessSummary& access =
      desc.access != nullptr ? *desc.access : desc.info->access;
  for (const PointerAccess& pointer : access.pointers) {
    uint64_t address = 0;
    if (pointer.offset + sizeof(address) > desc.params.size()) continue;
    std::memcpy(&address, desc.params.data() + pointer.offset, sizeof(address));
    // An end that a kernel walks back from lies just behind its allocation.
    for (const uint64_t near : {address, address - 1}) {
      if (auto holder = allocations_.Holding(near)) {
        touch(*holder, pointer.writes);
      }
    }
  }
  if (!access.is_known || access.reads_unknown || access.writes_unknown) {
    const bool writes = !access.is_known || access.writes_unknown;
    for (const Allocation& allocation : allocations_.All()) {
      touch(allocation,
            writes && allocation.advice != HETGPU_MEM_ADVICE_READ_ONLY);
    }
  }
  std::vector<Use> uses;
  for (const auto& [base, entry] : touched) {
    const bool first = entry.allocation.advice == HETGPU_MEM_ADVICE_WRITE_FIRST;
    uses.push_back({base, entry.allocation.size,
                    !entry.writes ? Access::kRead
                    : first       ? Access::kOverwrite
                                  : Access::kWrite});
  }
  return uses;
}

bool UnifiedMemory::Precedes(const InFlight& command,
                             const UnifiedMember& member, const Use& use) {
  return command.copy == member.location() && command.owner != &member &&
         (command.writes || use.access != Access::kRead);
}

absl::Status UnifiedMemory::Run(const UnifiedMember& member,
                                const hetgpu::Device& device,
                                hetgpu::Queue& queue,
                                std::span<const Use> uses,
                                const std::function<absl::Status()>& enqueue) {
  const Location where = member.location();
  Lock lock(mutex_);
  std::shared_ptr<Ticket> ticket;
  absl::Status ready;
  do {
    HETGPU_RETURN_IF_ERROR(Prepare(lock, where, uses));
    HETGPU_RETURN_IF_ERROR(device.Lost());
    HETGPU_ASSIGN_OR_RETURN(ticket, NewTicket(where));
    ready = absl::OkStatus();
    for (const Use& use : uses) {
      for (const InFlight& command : Commands(StartOf(use.address))) {
        if (!ready.ok() || !Precedes(command, member, use)) continue;
        ready = Await(queue, where, command, ticket->awaited);
      }
    }
  } while (AnyLostWork() || (!ready.ok() && AnyIsLost()));
  HETGPU_RETURN_IF_ERROR(ready);
  HETGPU_RETURN_IF_ERROR(enqueue());
  // What the command was to use may have been among it.
  if (AnyLostWork()) ++*places_[where].doubts;
  if (uses.empty()) return absl::OkStatus();
  HETGPU_RETURN_IF_ERROR(queue.Record(ticket->event.get()));
  residency_.Touch(where, uses);
  for (const Use& use : uses) {
    const bool writes = use.access != Access::kRead;
    in_flight_[StartOf(use.address)].push_back(
        {ticket, where, where, &queue, writes, &member});
    if (writes) residency_.Wrote(where, use.address, use.bytes);
  }
  return absl::OkStatus();
}

bool UnifiedMemory::HoldsAll(Location where, uint64_t address,
                             uint64_t bytes) const {
  const auto pieces = residency_.Find(address, bytes);
  if (!pieces.ok() || !residency_.IsMapped(where, address)) return false;
  return std::all_of(pieces->begin(), pieces->end(), [&](const auto& piece) {
    return piece.holders == 0 || (piece.holders >> where & 1) != 0;
  });
}

absl::Status UnifiedMemory::Read(const UnifiedMember& member,
                                 const hetgpu::Device& device,
                                 hetgpu::Queue& queue, void* dst, uint64_t src,
                                 uint64_t bytes) {
  const Location where = member.location();
  const Use use = {src, bytes, Access::kRead};
  Lock lock(mutex_);
  HETGPU_RETURN_IF_ERROR(Flush(lock, where, {&use, 1}));
  if (HoldsAll(where, src, bytes)) {
    lock.unlock();
    return Run(member, device, queue, {&use, 1},
               [&] { return queue.CopyFromDevice(dst, src, bytes); });
  }
  const auto holder = allocations_.Holding(src);
  if (!holder) return allocations_.Find(src).status();
  const Use fetched = {src,
                       ahead_.Fetch(holder->base, src - holder->base, bytes,
                                    holder->size),
                       Access::kRead};
  do {
    HETGPU_RETURN_IF_ERROR(Prepare(lock, kHost, {&fetched, 1}));
    WaitForCopy(holder->base, kHost, /*reads_too=*/false);
  } while (AnyIsLost());
  const char* const from = HostPointer(kHost, src);
  if (from == nullptr) {
    return Error(HETGPU_ERROR_OUT_OF_MEMORY, "no host memory for a mirror of ",
                 holder->size, " bytes");
  }
  HETGPU_RETURN_IF_ERROR(device.Lost());
  if (queue.Idle()) {
    std::memcpy(dst, from, bytes);
    return absl::OkStatus();
  }
  HETGPU_ASSIGN_OR_RETURN(auto ticket, NewTicket(where));
  HETGPU_RETURN_IF_ERROR(
      queue.HostFunction([=] { std::memcpy(dst, from, bytes); }));
  HETGPU_RETURN_IF_ERROR(queue.Record(ticket->event.get()));
  in_flight_[holder->base].push_back(
      {ticket, where, kHost, &queue, /*writes=*/false, /*owner=*/nullptr});
  return absl::OkStatus();
}

bool UnifiedMemory::WriteLater(uint64_t dst, const void* src, uint64_t bytes) {
  if (bytes > memory::kCombinedWriteBytes) return false;
  Lock lock(mutex_);
  const auto holder = allocations_.Holding(dst);
  // A kernel that runs may be waiting for this very write.
  if (!holder || !Commands(holder->base).empty()) return false;
  return held_.Add(holder->base, dst,
                   {static_cast<const char*>(src), bytes});
}

}  // namespace hetgpu::runtime
