// How UnifiedMemory carries out what memory::Residency plans.
#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/counters.h"
#include "runtime/error.h"
#include "runtime/status_macros.h"
#include "runtime/text.h"
#include "runtime/trace_move.h"
#include "runtime/unified_memory.h"

namespace hetgpu::runtime {

using memory::Access;
using memory::kHost;
using memory::Location;
using memory::Step;
using memory::Use;

uint64_t UnifiedMemory::StartOf(uint64_t address) const {
  return residency_.AllocationAt(address).address;
}

std::vector<UnifiedMemory::InFlight>& UnifiedMemory::Commands(
    uint64_t allocation) {
  std::vector<InFlight>& commands = in_flight_[allocation];
  // Events of a device that is lost count as reached, whatever became of what
  // stands before them.
  std::erase_if(commands, [](const InFlight& command) {
    return command.ticket->event->Done() && command.ticket->Fate().ok();
  });
  return commands;
}

absl::Status UnifiedMemory::Ticket::Fate() const {
  if (device->WorkLosses() != works) {
    return absl::UnavailableError(
        "unified memory: the device has lost work in flight");
  }
  return device->Lost();
}

absl::StatusOr<std::shared_ptr<UnifiedMemory::Ticket>>
UnifiedMemory::NewTicket(Location device) {
  auto ticket = std::make_shared<Ticket>();
  ticket->device = places_[device].device;
  ticket->works = places_[device].works;
  HETGPU_ASSIGN_OR_RETURN(ticket->event, ticket->device->CreateEvent());
  return ticket;
}

bool UnifiedMemory::CanWait(Location device, Location other) const {
  return device == other ||
         places_[device].device->info().host_functions_may_wait;
}

absl::Status UnifiedMemory::Await(hetgpu::Queue& queue, Location device,
                                  const InFlight& command, Tickets& awaited) {
  if (command.queue == &queue) return absl::OkStatus();
  if (command.device == device) {
    if (places_[device].device->WorkLosses() != command.ticket->works) {
      return command.ticket->Fate();
    }
    awaited.push_back(command.ticket);
    return queue.Wait(command.ticket->event.get());
  }
  if (!CanWait(device, command.device)) {
    HETGPU_RETURN_IF_ERROR(command.ticket->event->Wait());
    return command.ticket->Fate();
  }
  return queue.HostFunction(
      [ticket = command.ticket, doubts = places_[device].doubts] {
        (void)ticket->event->Wait();
        if (!ticket->Fate().ok()) ++*doubts;
      });
}

void UnifiedMemory::WaitForCopy(uint64_t allocation, Location copy,
                                bool reads_too) {
  for (const InFlight& command : Commands(allocation)) {
    if (command.copy == copy && (reads_too || command.writes)) {
      (void)command.ticket->event->Wait();
    }
  }
}

char* UnifiedMemory::HostPointer(Location where, uint64_t address) {
  if (where != kHost) {
    const Place& place = places_[where];
    return place.device->info().has_host_pointers
               ? static_cast<char*>(place.device->HostPointer(address))
               : nullptr;
  }
  // Not from allocations_: what is being freed may still have to give way.
  const auto [start, bytes] = residency_.AllocationAt(address);
  if (bytes == 0) return nullptr;
  auto& mirror = mirrors_[start];
  if (mirror == nullptr) mirror = std::make_unique<Mirror>(bytes);
  return mirror->data() == nullptr ? nullptr
                                   : mirror->data() + (address - start);
}

Location UnifiedMemory::CarrierOf(const Step& step) {
  const bool from_host =
      step.from == kHost ||
      places_[step.from].device->info().has_host_pointers;
  return step.to != kHost && from_host ? step.to : step.from;
}

void UnifiedMemory::FindLosses(Lock& lock) {
  for (Location where = 1; where < places_.size(); ++where) {
    // Asking the device takes longer than all else that a launch needs here.
    bool is_lost = IsLost(where);
    if (is_lost && !places_[where].is_lost) {
      const auto kept = places_[where].device;
      const auto on_loss = places_[where].on_loss;
      lock.unlock();
      for (const auto& [member, leave] : on_loss) leave();
      lock.lock();
      is_lost = IsLost(where);
    }
    Place& place = places_[where];
    if (place.device == nullptr) continue;
    if (is_lost && !place.is_lost) {
      place.not_reopened = ReopenPlace(where);
      if (place.not_reopened.ok()) continue;
      EraseInFlight(where, /*all=*/true);
    }
    FindLostWork(where);
    const uint64_t losses = place.device->ContentLosses();
    const bool is_known = place.losses == losses && place.is_lost == is_lost;
    place.losses = losses;
    place.is_lost = is_lost;
    if (is_known) continue;
    for (const auto& piece : residency_.Lose(where)) {
      Count(HETGPU_COUNTER_BYTES_LOST, piece.bytes);
    }
  }
}

void UnifiedMemory::Believe(Location right, Location wrong,
                            uint64_t allocation) {
  const auto [start, bytes] = residency_.AllocationAt(allocation);
  const auto pieces = residency_.Find(start, bytes);
  if (!pieces.ok()) return;
  const uint64_t both = uint64_t{1} << right | uint64_t{1} << wrong;
  for (const auto& piece : *pieces) {
    if ((piece.holders & both) != both) continue;
    residency_.Wrote(right, piece.address, piece.bytes);
  }
}

void UnifiedMemory::DoubtCopies(Location where) {
  for (const auto& [allocation, commands] : in_flight_) {
    Tickets sent;
    for (const InFlight& command : commands) {
      const bool is_copy = command.device == where && command.owner == nullptr;
      if (!is_copy || !command.writes || command.ticket->Fate().ok()) continue;
      if (!command.ticket->data.empty()) {
        sent.push_back(command.ticket);
      } else if (command.copy == where) {
        Believe(kHost, where, allocation);
      } else {
        Believe(where, command.copy, allocation);
      }
    }
    SendAgain(allocation, sent);
  }
}

// Unless somebody else has written there since: a command that found it, or was
// lost with it.
void UnifiedMemory::SendAgain(uint64_t allocation,
                              std::span<const std::shared_ptr<Ticket>> sent) {
  std::set<uint64_t> versions;
  Tickets again;
  for (auto ticket = sent.rbegin(); ticket != sent.rend(); ++ticket) {
    versions.insert((*ticket)->version);
    const auto pieces =
        residency_.Find((*ticket)->address, (*ticket)->data.size());
    const bool is_newest =
        pieces.ok() &&
        std::all_of(pieces->begin(), pieces->end(), [&](const auto& piece) {
          return versions.count(piece.version) != 0;
        });
    if (is_newest) again.push_back(*ticket);
  }
  for (auto ticket = again.rbegin(); ticket != again.rend(); ++ticket) {
    held_.Add(allocation, (*ticket)->address, (*ticket)->data);
  }
}

void UnifiedMemory::EraseInFlight(Location where, bool all) {
  for (auto& [allocation, commands] : in_flight_) {
    std::erase_if(commands, [&](const InFlight& command) {
      return command.device == where && (all || !command.ticket->Fate().ok());
    });
  }
}

// The memory is as it was, with all that had been done to it.
void UnifiedMemory::FindLostWork(Location where) {
  Place& place = places_[where];
  if (place.device == nullptr) return;
  const uint64_t works = place.device->WorkLosses();
  if (works == place.works) return;
  DoubtCopies(where);
  EraseInFlight(where, /*all=*/false);
  place.works = works;
  // It skips commands until it has reported its loss.
  (void)place.queue->Synchronize(nullptr);
}

// The device's memory was exported with its mappings and all that is in them,
// so nothing changes for residency_.
absl::Status UnifiedMemory::ReopenPlace(Location where) {
  Place& place = places_[where];
  HETGPU_ASSIGN_OR_RETURN(auto reopened, place.source->Reopen(*place.device));
  DoubtCopies(where);
  EraseInFlight(where, /*all=*/true);
  HETGPU_RETURN_IF_ERROR(UseDevice(where, std::move(reopened.device)));
  place.how = reopened.how;
  place.bytes_kept = reopened.bytes_kept + residency_.MappedBytes(where);
  return absl::OkStatus();
}

absl::StatusOr<UnifiedMemory::Moved> UnifiedMemory::Reopen(Location where) {
  Lock lock(mutex_);
  FindLosses(lock);
  const Place& place = places_[where];
  if (place.is_lost) return place.not_reopened;
  return Moved{place.device, place.how, place.bytes_kept};
}

bool UnifiedMemory::IsLost(Location where) const {
  const Place& place = places_[where];
  return place.device != nullptr && !place.device->Lost().ok();
}

bool UnifiedMemory::AnyIsLost() const {
  return AnyLostWork() ||
         std::any_of(places_.begin(), places_.end(), [](const Place& place) {
           return place.device != nullptr && !place.is_lost &&
                  !place.device->Lost().ok();
         });
}

bool UnifiedMemory::AnyLostWork() const {
  return std::any_of(places_.begin(), places_.end(), [](const Place& place) {
    return place.device != nullptr &&
           place.device->WorkLosses() != place.works;
  });
}

UnifiedMemory::Tickets UnifiedMemory::Blockers(Location where,
                                               std::span<const Step> steps) {
  Tickets blockers;
  const auto add = [&](uint64_t allocation, auto matters) {
    for (const InFlight& command : Commands(allocation)) {
      if (matters(command)) blockers.push_back(command.ticket);
    }
  };
  for (const Step& step : steps) {
    if (step.kind == Step::Kind::kMap) continue;
    if (step.kind == Step::Kind::kCopy) {
      const Location carrier = CarrierOf(step);
      // The host, and a device that gets the data from it, wait for the end.
      const bool through_host =
          step.to == kHost && (where == kHost || !CanWait(where, step.from));
      add(StartOf(step.address), [&](const InFlight& command) {
        const bool reads_it = command.copy == step.from && command.writes;
        if (through_host && reads_it) return true;
        return (reads_it || command.copy == step.to) &&
               !CanWait(carrier, command.device);
      });
      continue;
    }
    const Location leaves =
        step.kind == Step::Kind::kTake ? step.from : step.to;
    for (const uint64_t allocation : residency_.AllocationsIn(step.address)) {
      add(allocation, [&](const InFlight& command) {
        return command.copy == leaves;
      });
    }
  }
  return blockers;
}

absl::Status UnifiedMemory::Prepare(Lock& lock, Location where,
                                    std::span<const Use> uses) {
  HETGPU_RETURN_IF_ERROR(Flush(lock, where, uses));
  std::vector<Step> steps;
  while (true) {
    FindLosses(lock);
    // What was lost on its way is held back again.
    const bool is_held =
        std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
          return held_.Has(StartOf(use.address));
        });
    if (is_held) return Prepare(lock, where, uses);
    auto planned = residency_.Plan(where, uses);
    if (absl::IsResourceExhausted(planned.status())) {
      return Annotate(HETGPU_ERROR_WORKING_SET_TOO_LARGE, "unified memory",
                      planned.status());
    }
    if (!planned.ok()) {
      return Annotate(HETGPU_ERROR_INVALID_ADDRESS, "unified memory",
                      planned.status());
    }
    steps = *std::move(planned);
    if (steps.empty()) return absl::OkStatus();
    const Tickets blockers = Blockers(where, steps);
    if (blockers.empty()) break;
    lock.unlock();
    for (const auto& ticket : blockers) (void)ticket->event->Wait();
    lock.lock();
  }
  for (const Step& step : steps) {
    const absl::Status carried = Carry(step, uses);
    if (carried.ok()) continue;
    // By what takes the lost device's place.
    if (AnyIsLost()) return Prepare(lock, where, uses);
    return carried;
  }
  return absl::OkStatus();
}

absl::Status UnifiedMemory::Flush(Lock& lock, Location where,
                                  std::span<const Use> uses) {
  for (const Use& use : uses) {
    const uint64_t allocation = StartOf(use.address);
    std::vector<memory::WriteCombiner::Run> runs = held_.Take(allocation);
    for (size_t i = 0; i < runs.size(); ++i) {
      absl::Status sent = Send(lock, where, runs[i].address, runs[i].bytes);
      if (sent.ok()) continue;
      for (; i < runs.size(); ++i) {
        held_.Add(allocation, runs[i].address, runs[i].bytes);
      }
      return sent;
    }
  }
  return absl::OkStatus();
}

absl::Status UnifiedMemory::Send(Lock& lock, Location where, uint64_t address,
                                 std::string bytes) {
  const Use use = {address, bytes.size(), Access::kOverwrite};
  HETGPU_RETURN_IF_ERROR(Prepare(lock, where, {&use, 1}));
  const uint64_t allocation = StartOf(address);
  if (where == kHost) {
    WaitForCopy(allocation, kHost, /*reads_too=*/true);
    char* const to = HostPointer(kHost, address);
    if (to == nullptr) {
      return Error(HETGPU_ERROR_OUT_OF_MEMORY, "no host memory for a mirror");
    }
    std::memcpy(to, bytes.data(), bytes.size());
    residency_.Wrote(kHost, address, bytes.size());
    return absl::OkStatus();
  }
  HETGPU_ASSIGN_OR_RETURN(auto ticket, NewTicket(where));
  ticket->data = std::move(bytes);
  ticket->address = address;
  hetgpu::Queue& queue = *places_[where].queue;
  for (const InFlight& command : Commands(allocation)) {
    if (command.copy != where) continue;
    HETGPU_RETURN_IF_ERROR(Await(queue, where, command, ticket->awaited));
  }
  HETGPU_RETURN_IF_ERROR(
      queue.CopyToDevice(address, ticket->data.data(), ticket->data.size()));
  HETGPU_RETURN_IF_ERROR(queue.Record(ticket->event.get()));
  in_flight_[allocation].push_back(
      {ticket, where, where, &queue, /*writes=*/true, /*owner=*/nullptr});
  residency_.Wrote(where, address, use.bytes);
  if (const auto written = residency_.Find(address, use.bytes); written.ok()) {
    ticket->version = written->front().version;
  }
  return absl::OkStatus();
}

absl::Status UnifiedMemory::Carry(const Step& step,
                                  std::span<const Use> keep) {
  absl::Status done;
  switch (step.kind) {
    case Step::Kind::kMap:
      done = Map(step, keep);
      break;
    case Step::Kind::kUnmap:
      done = Unmap(step);
      break;
    case Step::Kind::kTake:
      done = Take(step);
      break;
    case Step::Kind::kCopy:
      done = Copy(step);
      break;
  }
  if (done.ok()) residency_.Done(step);
  return done;
}

absl::Status UnifiedMemory::Map(const Step& step, std::span<const Use> keep) {
  hetgpu::Device& device = *places_[step.to].device;
  absl::Status mapped = device.Map(step.address, step.bytes);
  if (!absl::IsResourceExhausted(mapped)) return mapped;
  // Others have memory of this device too.
  const auto steps = residency_.MakeRoom(step.to, step.bytes, keep);
  if (!steps.ok()) {
    return Annotate(HETGPU_ERROR_WORKING_SET_TOO_LARGE, "unified memory",
                    mapped);
  }
  for (const Step& first : *steps) HETGPU_RETURN_IF_ERROR(Carry(first, keep));
  return device.Map(step.address, step.bytes);
}

// After waiting for copies: what was waited for has been done.
absl::Status UnifiedMemory::NothingIsLost() const {
  if (!AnyLostWork()) return absl::OkStatus();
  return absl::UnavailableError(
      "unified memory: a device has lost work in flight");
}

absl::Status UnifiedMemory::Unmap(const Step& step) {
  for (const uint64_t allocation : residency_.AllocationsIn(step.address)) {
    WaitForCopy(allocation, step.to, /*reads_too=*/true);
  }
  HETGPU_RETURN_IF_ERROR(NothingIsLost());
  return places_[step.to].device->Unmap(step.address, step.bytes);
}

absl::Status UnifiedMemory::Take(const Step& step) {
  for (const uint64_t allocation : residency_.AllocationsIn(step.address)) {
    WaitForCopy(allocation, step.from, /*reads_too=*/true);
  }
  HETGPU_RETURN_IF_ERROR(NothingIsLost());
  const Place& from = places_[step.from];
  const Place& to = places_[step.to];
  HostSpan span("move", Cat(from.name, " to ", to.name));
  return to.device->TakeMapping(*from.device, step.address, step.bytes);
}

absl::Status UnifiedMemory::Copy(const Step& step) {
  const Location carrier = CarrierOf(step);
  const bool pulls = carrier == step.to;
  char* const host = HostPointer(pulls ? step.from : step.to, step.address);
  if (host == nullptr) {
    return Error(HETGPU_ERROR_OUT_OF_MEMORY, "no host memory for a copy of ",
                 step.bytes, " bytes");
  }
  HETGPU_ASSIGN_OR_RETURN(auto ticket, NewTicket(carrier));
  hetgpu::Queue& queue = *places_[carrier].queue;
  const uint64_t allocation = StartOf(step.address);
  for (const InFlight& command : Commands(allocation)) {
    const bool matters = (command.copy == step.from && command.writes) ||
                         command.copy == step.to;
    if (!matters) continue;
    HETGPU_RETURN_IF_ERROR(Await(queue, carrier, command, ticket->awaited));
  }
  {
    const TraceMove move(places_[step.from].name, places_[step.to].name,
                         step.bytes);
    HETGPU_RETURN_IF_ERROR(
        pulls ? queue.CopyToDevice(step.address, host, step.bytes)
              : queue.CopyFromDevice(host, step.address, step.bytes));
  }
  HETGPU_RETURN_IF_ERROR(queue.Record(ticket->event.get()));
  auto& commands = in_flight_[allocation];
  commands.push_back({ticket, carrier, step.from, &queue, /*writes=*/false,
                      /*owner=*/nullptr});
  commands.push_back({ticket, carrier, step.to, &queue, /*writes=*/true,
                      /*owner=*/nullptr});
  Count(HETGPU_COUNTER_BYTES_MOVED, step.bytes);
  return absl::OkStatus();
}

}  // namespace hetgpu::runtime
