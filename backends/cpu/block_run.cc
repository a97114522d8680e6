#include "backends/cpu/block_run.h"

#include <algorithm>
#include <bit>

namespace hetgpu::cpu {
namespace {

// Tops of neighbouring stacks differ by this, over a page, so that the same
// frames of different units lie in different cache sets.
constexpr size_t kColorBytes = 192;
constexpr size_t kColors = 21;
constexpr size_t kLineBytes = 64;

// Yields that a unit makes before it gives up its turn: most loops that could
// wait for others do not, and a switch costs more than a poll.
constexpr uint32_t kPollsPerTurn = 8;

// Fetches the top of a stack that will run soon: a switch is cheap, but its
// working set, hundreds of stacks, does not stay in the nearest cache.
void Prefetch(const FiberContext& fiber) {
  const char* top = static_cast<const char*>(fiber.resume_point);
  for (size_t line = 0; line < 6; ++line) {
    __builtin_prefetch(top + line * kLineBytes, 1);
  }
}

}  // namespace

BlockRun::BlockRun(Worker* worker) : worker_(worker) {}

BlockRun::~BlockRun() {
  for (Unit& unit : units_) ForgetFiber(&unit.fiber);
}

bool BlockRun::Bind(Launch* launch) {
  const uint32_t count = launch->unit_count();
  const size_t stack_bytes =
      launch->services().stack_bytes + launch->code().stack_bytes;
  uint8_t* shared = MapShared(launch->config().shared_bytes, &shared_);
  if (shared == nullptr) return false;
  if (!worker_->stacks().Acquire(count, stack_bytes, &stacks_)) return false;
  launch_ = launch;
  lanes_per_unit_ = launch->code().lanes_per_unit;
  if (units_.size() < count) units_.resize(count);
  warps_.resize((launch->thread_count() + kWarpSize - 1) / kWarpSize);
  warp_threads_ = static_cast<uint32_t>(warps_.size()) * kWarpSize;
  last_unit_ = count - 1;
  FillFrame(&frame_, worker_, launch, this, shared);
  return true;
}

void BlockRun::Unbind() {
  worker_->stacks().Release(stacks_);
  stacks_.clear();
  launch_ = nullptr;
}

void BlockRun::StartWarps() {
  for (Warp& warp : warps_) {
    warp.exited = warp.waiting = warp.parked = warp.yielded = 0;
    warp.open.clear();
  }
  const uint32_t rest = launch_->thread_count() % kWarpSize;
  if (rest != 0) warps_.back().exited = ~0u << rest;
}

void BlockRun::Start(uint64_t block) {
  const Dim3 ctaid = launch_->BlockOf(block);
  frame_.ctaid[0] = ctaid.x;
  frame_.ctaid[1] = ctaid.y;
  frame_.ctaid[2] = ctaid.z;
  for (Barrier& barrier : barriers_) barrier.Reset();
  for (UnitList& list : waiting_) list = {};
  StartWarps();
  ready_ = {};
  ready_count_ = open_barriers_ = 0;
  live_units_ = launch_->unit_count();
  for (uint32_t i = 0; i < live_units_; ++i) {
    Unit& unit = units_[i];
    unit.wait = Wait::kNothing;
    unit.exited = false;
    PrepareFiber(&unit.fiber, stacks_[i], UnitMain, i % kColors * kColorBytes);
    MakeReady(i, 0);
  }
}

Outcome BlockRun::Continue() {
  idle_yields_ = 0;
  SetRunning(PopReady());
  return worker_->Enter();
}

void BlockRun::UnitMain() {
  BlockFrame* frame = Worker::Current()->frame();
  BlockRun* run = frame->run;
  run->launch_->code().entry(frame, frame->current_unit, 1);
  run->ExitUnit();
}

// ---- Scheduling -------------------------------------------------------------

void BlockRun::Append(UnitList* list, uint32_t unit) {
  units_[unit].next = kNone;
  if (list->head == kNone) {
    list->head = unit;
  } else {
    units_[list->tail].next = unit;
  }
  list->tail = unit;
}

uint32_t BlockRun::PopReady() {
  const uint32_t unit = ready_.head;
  if (unit == kNone) return kNone;
  ready_.head = units_[unit].next;
  --ready_count_;
  return unit;
}

void BlockRun::MakeReady(uint32_t unit, uint64_t result) {
  Unit& woken = units_[unit];
  if (woken.wait != Wait::kNothing && thread_units()) {
    Warp& warp = warps_[unit / kWarpSize];
    const uint32_t bit = 1u << unit % kWarpSize;
    warp.waiting &= ~bit;
    warp.parked &= ~bit;
  }
  woken.wait = Wait::kNothing;
  woken.result = result;
  Append(&ready_, unit);
  ++ready_count_;
}

void BlockRun::SetRunning(uint32_t unit) {
  running_ = unit;
  Unit& next = units_[unit];
  frame_.current_unit = unit;
  frame_.stack_low = next.fiber.stack.low;
  frame_.stack_high = next.fiber.stack.high;
  worker_->SetCurrent(&next.fiber, &frame_);
}

void BlockRun::CheckNotStopped() {
  if (launch_->stopped()) worker_->LeaveStopped();
}

void BlockRun::SwitchToNext(bool leaving) {
  FiberContext* self = &running().fiber;
  const uint32_t next = PopReady();
  if (next == kNone) {
    worker_->Leave(live_units_ == 0 ? Outcome::kDone : Outcome::kDeadlock,
                   leaving);
    return;
  }
  if (next == running_) return;
  if (ready_.head != kNone) Prefetch(units_[ready_.head].fiber);
  SetRunning(next);
  SwitchFiber(self, &units_[next].fiber, leaving);
}

uint64_t BlockRun::Suspend() {
  CheckNotStopped();
  const uint32_t self = running_;
  idle_yields_ = 0;
  if (thread_units()) {
    warps_[self / kWarpSize].waiting |= 1u << self % kWarpSize;
    ReleaseParked(self / kWarpSize);
  }
  SwitchToNext(/*leaving=*/false);
  return units_[self].result;
}

void BlockRun::Yield() {
  CheckNotStopped();
  const uint32_t self = running_;
  if (thread_units()) {
    Warp& warp = warps_[self / kWarpSize];
    if (warp.parked != 0) {
      warp.yielded |= 1u << self % kWarpSize;
      ReleaseParked(self / kWarpSize);
    }
  }
  if (++units_[self].polls % kPollsPerTurn != 0) return;
  Append(&ready_, self);
  ++ready_count_;
  if (++idle_yields_ > ready_count_) {
    worker_->Leave(Outcome::kStalled, /*leaving=*/false);
  } else {
    SwitchToNext(/*leaving=*/false);
  }
}

void BlockRun::ExitUnit() {
  const uint32_t self = running_;
  idle_yields_ = 0;
  units_[self].exited = true;
  --live_units_;
  if (open_barriers_ != 0) OpenBarriersAfterExit();
  if (thread_units()) {
    const uint32_t warp = self / kWarpSize;
    warps_[warp].exited |= 1u << self % kWarpSize;
    FinishRendezvousAfterExit(warp);
    ReleaseParked(warp);
  }
  if (launch_->stopped()) worker_->LeaveStopped();
  SwitchToNext(/*leaving=*/true);
  __builtin_unreachable();
}

// ---- Barriers ---------------------------------------------------------------

bool BlockRun::AddToBarrier(uint32_t id, const BarrierArrival& arrival,
                            uint32_t line) {
  if (id >= kNumBarriers) {
    worker_->Raise(
        LaunchError::Kind::kInvalidInstruction, 0, line,
        "barrier " + std::to_string(id) + " does not exist, expected 0 to 15");
  }
  Barrier& barrier = barriers_[id];
  // Naming every thread of the block is the same as naming no count.
  BarrierArrival normal = arrival;
  if (arrival.count == launch_->thread_count() ||
      arrival.count == warp_threads_) {
    normal.count = 0;
  }
  if (!barrier.Arrive(normal)) {
    worker_->Raise(LaunchError::Kind::kInvalidInstruction, 0, line,
                   "barrier " + std::to_string(id) + " is used with count " +
                       std::to_string(normal.count) + " while threads wait " +
                       "at it with count " + std::to_string(barrier.count()) +
                       " (0: all)");
  }
  open_barriers_ |= 1u << id;
  return barrier.Complete(live_units_, warp_threads_);
}

void BlockRun::OpenBarrier(uint32_t id) {
  const Barrier barrier = barriers_[id];
  UnitList waiters = waiting_[id];
  barriers_[id].Reset();
  waiting_[id] = {};
  open_barriers_ &= ~(1u << id);
  while (waiters.head != kNone) {
    const uint32_t unit = waiters.head;
    waiters.head = units_[unit].next;
    MakeReady(unit, barrier.Reduce(units_[unit].op));
  }
}

void BlockRun::OpenBarriersAfterExit() {
  for (uint32_t open = open_barriers_; open != 0; open &= open - 1) {
    const uint32_t id = static_cast<uint32_t>(std::countr_zero(open));
    if (barriers_[id].Complete(live_units_, warp_threads_)) {
      OpenBarrier(id);
    }
  }
}

uint32_t BlockRun::WaitAtBarrier(uint32_t id, const BarrierArrival& arrival,
                                 BarrierOp op, uint32_t line) {
  idle_yields_ = 0;
  if (AddToBarrier(id, arrival, line)) {
    const uint32_t result = barriers_[id].Reduce(op);
    OpenBarrier(id);
    CheckNotStopped();
    return result;
  }
  Unit& self = running();
  self.wait = Wait::kBarrier;
  self.barrier = static_cast<uint8_t>(id);
  self.op = op;
  self.line = line;
  Append(&waiting_[id], running_);
  return static_cast<uint32_t>(Suspend());
}

void BlockRun::ArriveAtBarrier(uint32_t id, const BarrierArrival& arrival,
                               uint32_t line) {
  CheckNotStopped();
  idle_yields_ = 0;
  if (AddToBarrier(id, arrival, line)) OpenBarrier(id);
}

// ---- Warp collectives -------------------------------------------------------

BlockRun::Rendezvous* BlockRun::FindRendezvous(Warp* warp, CollectiveOp op,
                                               uint32_t mask) {
  for (Rendezvous& meeting : warp->open) {
    if (meeting.op == op && meeting.mask == mask) return &meeting;
  }
  warp->open.push_back({op, mask, 0});
  return &warp->open.back();
}

bool BlockRun::IsComplete(const Warp& warp, const Rendezvous& meeting) const {
  return (meeting.mask & ~warp.exited & ~meeting.arrived) == 0;
}

uint64_t BlockRun::FinishRendezvous(uint32_t warp_index, Rendezvous* meeting,
                                    uint32_t self) {
  Warp& warp = warps_[warp_index];
  const Rendezvous done = *meeting;
  *meeting = warp.open.back();
  warp.open.pop_back();
  uint64_t own = 0;
  for (uint32_t rest = done.arrived; rest != 0; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
    const uint64_t result =
        CollectiveResult(done.op, lane, done.arrived, warp.inputs);
    const uint32_t unit = warp_index * kWarpSize + lane;
    if (unit == self) {
      own = result;
    } else {
      MakeReady(unit, result);
    }
  }
  return own;
}

void BlockRun::FinishRendezvousAfterExit(uint32_t warp_index) {
  std::vector<Rendezvous>& open = warps_[warp_index].open;
  for (size_t i = 0; i < open.size();) {
    if (IsComplete(warps_[warp_index], open[i])) {
      FinishRendezvous(warp_index, &open[i], kNone);  // takes open[i] out
    } else {
      ++i;
    }
  }
}

void BlockRun::CheckInMask(CollectiveOp op, uint32_t mask, uint32_t line) {
  if (mask >> lane() & 1) return;
  char text[96];
  std::snprintf(text, sizeof(text),
                "lane %u runs a %s whose member mask 0x%08x leaves it out",
                lane(), NameOf(op), mask);
  worker_->Raise(LaunchError::Kind::kInvalidInstruction, 0, line, text);
}

uint64_t BlockRun::Collective(CollectiveOp op, const LaneInput& input,
                              uint32_t mask, uint32_t line) {
  CheckInMask(op, mask, line);
  CheckNotStopped();
  idle_yields_ = 0;
  const uint32_t warp_index = running_ / kWarpSize;
  Warp& warp = warps_[warp_index];
  Rendezvous* meeting = FindRendezvous(&warp, op, mask);
  meeting->arrived |= 1u << lane();
  warp.inputs[lane()] = input;
  if (IsComplete(warp, *meeting)) {
    return FinishRendezvous(warp_index, meeting, running_);
  }
  Unit& self = running();
  self.wait = Wait::kCollective;
  self.collective = op;
  self.mask = mask;
  self.line = line;
  return Suspend();
}

// ---- Active mask ------------------------------------------------------------

uint32_t BlockRun::ActiveMask(uint32_t line) {
  Warp& warp = warps_[running_ / kWarpSize];
  warp.parked |= 1u << lane();
  warp.yielded = 0;
  Unit& self = running();
  self.wait = Wait::kActiveMask;
  self.line = line;
  return static_cast<uint32_t>(Suspend());
}

void BlockRun::ReleaseParked(uint32_t warp_index) {
  Warp& warp = warps_[warp_index];
  if (warp.parked == 0) return;
  if (~(warp.exited | warp.waiting | warp.yielded) != 0) return;
  while (warp.parked != 0) {
    const uint32_t first = warp_index * kWarpSize +
                           static_cast<uint32_t>(std::countr_zero(warp.parked));
    uint32_t group = 0;
    for (uint32_t rest = warp.parked; rest != 0; rest &= rest - 1) {
      const uint32_t other = static_cast<uint32_t>(std::countr_zero(rest));
      if (units_[warp_index * kWarpSize + other].line == units_[first].line) {
        group |= 1u << other;
      }
    }
    ReleaseGroup(warp_index, group);
  }
  warp.yielded = 0;
}

void BlockRun::ReleaseGroup(uint32_t warp_index, uint32_t lanes) {
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
    MakeReady(warp_index * kWarpSize + lane, lanes);
  }
}

}  // namespace hetgpu::cpu
