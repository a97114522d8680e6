#include "backends/cpu/worker.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "backends/cpu/block_run.h"
#include "backends/cpu/faults.h"
#include "backends/cpu/helpers.h"
#include "backends/cpu/overlay.h"
#include "backends/cpu/print_format.h"
#include "backends/cpu/print_sink.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace hetgpu::cpu {
namespace {

constexpr size_t kStraightStackBytes = 8u << 20;
constexpr size_t kSignalStackBytes = 64u << 10;
constexpr size_t kMaxUnflushed = 16u << 10;
// Units of blocks in flight, of all workers together and of one at least, and
// blocks of one: what a GPU would keep resident, within the system's limit on
// mappings.
constexpr uint32_t kResidentUnits = 24576;
constexpr uint32_t kMinResidentUnits = 2048;
constexpr uint32_t kMaxResidentBlocks = 64;
// Rounds over stalled blocks before another block is started.
constexpr uint32_t kPatience = 4;
constexpr uint32_t kSharedAlignment = 1024;

// Initial-exec: the fault handler may read it without allocating.
thread_local Worker* current_worker __attribute__((tls_model("initial-exec"))) =
    nullptr;

// Emitted code expects the default rounding and no flushing, whatever the host
// program set for its own threads.
void ResetFloatControl() {
#if defined(__x86_64__)
  _mm_setcsr(0x1f80);
#endif
}

}  // namespace

uint8_t* MapShared(uint32_t bytes, GuardedMemory* memory) {
  const size_t used = RoundUp(bytes, kSharedAlignment);
  const size_t mapped = RoundUp(used, kPageBytes);
  // Without shared memory its base is the guard of what there is.
  const bool fits = *memory && (mapped == 0 || memory->bytes() == mapped);
  if (!fits) *memory = GuardedMemory::Map(mapped, kSharedGuardBytes);
  return *memory ? memory->high() - used : nullptr;
}

void FillFrame(BlockFrame* frame, Worker* worker, Launch* launch, BlockRun* run,
               uint8_t* shared) {
  const LaunchConfig& config = launch->config();
  frame->helpers = &kHelpers;
  frame->params = launch->params();
  frame->data = reinterpret_cast<uint8_t*>(config.module_data);
  frame->shared = shared;
  frame->shared_size = config.shared_bytes;
  frame->dynamic_shared_size = config.dynamic_shared_bytes;
  frame->ntid[0] = config.block.x;
  frame->ntid[1] = config.block.y;
  frame->ntid[2] = config.block.z;
  frame->nctaid[0] = config.grid.x;
  frame->nctaid[1] = config.grid.y;
  frame->nctaid[2] = config.grid.z;
  frame->thread_count = launch->thread_count();
  frame->current_unit = 0;
  frame->acting_lane = 0;
  frame->acting_lanes = ~0u;
  frame->worker = worker->index();
  frame->grid_id = launch->grid_id();
  frame->grid_workspace = reinterpret_cast<uint64_t>(launch->workspace());
  frame->owner = worker;
  frame->launch = launch;
  frame->run = run;
}

Worker::Worker(uint32_t index)
    : index_(index),
      signal_stack_(std::make_unique<uint8_t[]>(kSignalStackBytes)),
      print_buffer_(std::make_unique<char[]>(kMaxPrintBytes)) {}

Worker::~Worker() { ForgetFiber(&straight_fiber_); }

Worker* Worker::Current() { return current_worker; }

void Worker::Attach() {
  InstallFaultHandlers();
  thread_ = pthread_self();
  current_worker = this;
  stack_t stack{};
  stack.ss_sp = signal_stack_.get();
  stack.ss_size = kSignalStackBytes;
  sigaltstack(&stack, nullptr);
  DescribeThreadStack(&root_);
  ResetFloatControl();
}

void Worker::Detach() {
  stack_t stack{};
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, nullptr);
  current_worker = nullptr;
}

void Worker::Interrupt() { pthread_kill(thread_, StopSignal()); }

// ---- On fibers --------------------------------------------------------------

void Worker::Leave(Outcome outcome, bool leaving) {
  outcome_ = outcome;
  SwitchFiber(current_, &root_, leaving);
}

LaunchError Worker::Place(LaunchError::Kind kind, uint32_t lane,
                          uint32_t line) const {
  LaunchError error;
  error.kind = kind;
  error.line = line;
  error.block = {frame_->ctaid[0], frame_->ctaid[1], frame_->ctaid[2]};
  const uint64_t thread =
      uint64_t{frame_->current_unit} * launch_->code().lanes_per_unit + lane;
  if (thread < launch_->thread_count()) {
    error.has_thread = true;
    error.thread = launch_->ThreadOf(static_cast<uint32_t>(thread));
  }
  return error;
}

void Worker::Raise(LaunchError::Kind kind, uint32_t lane, uint32_t line,
                   std::string detail) {
  raised_ = Place(kind, lane, line);
  raised_.detail = std::move(detail);
  Leave(Outcome::kRaised, /*leaving=*/true);
  __builtin_unreachable();
}

void Worker::RaiseAddress(uint64_t address, uint32_t lane, uint32_t line,
                          std::string detail) {
  RaiseAt(LaunchError::Kind::kIllegalAddress, address, lane, line,
          std::move(detail));
}

void Worker::RaiseAt(LaunchError::Kind kind, uint64_t address, uint32_t lane,
                     uint32_t line, std::string detail) {
  raised_ = Place(kind, lane, line);
  raised_.has_address = true;
  raised_.address = address;
  raised_.detail = std::move(detail);
  Leave(Outcome::kRaised, /*leaving=*/true);
  __builtin_unreachable();
}

void Worker::LeaveStopped() {
  Leave(Outcome::kStopped, /*leaving=*/true);
  __builtin_unreachable();
}

void Worker::Print(std::string_view message) {
  printed_ += message;
  if (printed_.size() > kMaxUnflushed) Leave(Outcome::kFlush, false);
}

void Worker::Landing() {
  Worker* worker = current_worker;
  worker->Leave(worker->landing_outcome_, /*leaving=*/true);
  __builtin_unreachable();
}

uintptr_t Worker::LandingStack() const {
  // As after a call: 8 bytes below a multiple of 16.
  return (reinterpret_cast<uintptr_t>(current_->stack.high) & ~uintptr_t{15}) -
         72;
}

// ---- On root ----------------------------------------------------------------

Outcome Worker::Enter() {
  for (;;) {
    in_kernel_ = 1;
    SwitchFiber(&root_, current_);
    in_kernel_ = 0;
    helper_caller = 0;
    ResetFloatControl();  // a fiber may have been left anywhere
    if (outcome_ != Outcome::kFlush) return outcome_;
    Flush();
  }
}

void Worker::Flush() {
  PrintSink* sink = launch_->services().sink;
  if (!printed_.empty() && sink != nullptr) sink->Write(printed_);
  printed_.clear();
}

// The address that a program knows memory by.
uint64_t Worker::FromHost(uint64_t address) const {
  const Overlay* overlay = launch_->services().overlay;
  return overlay == nullptr ? address : overlay->FromHost(address);
}

LaunchError Worker::FaultError() const {
  using Kind = LaunchError::Kind;
  const bool canonical =
      fault_.signal != SIGSEGV || fault_.code != SI_KERNEL;
  Kind kind = Kind::kIllegalAddress;
  std::string detail;
  if (fault_.in_guard) {
    kind = Kind::kStackOverflow;
  } else if (fault_.signal == SIGILL) {
    kind = Kind::kInvalidInstruction;
  } else if (fault_.signal == SIGFPE) {
    kind = Kind::kInvalidInstruction;
    detail = "arithmetic exception";
  } else if (fault_.signal == SIGBUS && fault_.code == BUS_ADRALN) {
    kind = Kind::kMisalignedAddress;
  } else if (!canonical) {
    detail = "the address is not canonical and not known";
  }
  if (fault_.in_helper && kind == Kind::kIllegalAddress) {
    detail = detail.empty() ? "in a library function the kernel called"
                            : detail + ", in a library function";
  }
  LaunchError error = Place(kind, fault_.lane.value_or(0), fault_.line);
  error.has_address =
      (fault_.signal == SIGSEGV || fault_.signal == SIGBUS) && canonical;
  if (error.has_address) error.address = FromHost(fault_.address);
  if (!fault_.lane.has_value()) {
    if (!detail.empty()) detail += "; ";
    detail += "in the warp that starts with this thread";
  }
  error.detail = std::move(detail);
  return error;
}

void Worker::FailFrom(Outcome outcome, BlockRun* run) {
  switch (outcome) {
    case Outcome::kRaised:
      return launch_->Fail(std::move(raised_));
    case Outcome::kSignal:
      return launch_->Fail(FaultError());
    case Outcome::kDeadlock:
      return launch_->Fail(run->DescribeDeadlock());
    default:
      return;
  }
}

void Worker::Run(Launch* launch) {
  launch_ = launch;
  launch->Join(this);
  if (!launch->stopped()) {
    launch->code().needs_fibers ? RunFibers() : RunStraight();
  }
  Flush();
  launch->Leave(this);
  launch_ = nullptr;
}

// ---- Straight code ----------------------------------------------------------

bool Worker::StartStraight() {
  uint8_t* shared =
      MapShared(launch_->config().shared_bytes, &straight_shared_);
  std::vector<Stack> stack;
  const size_t bytes = kStraightStackBytes + launch_->code().stack_bytes;
  if (shared == nullptr || !straight_stacks_.Acquire(1, bytes, &stack)) {
    return false;
  }
  straight_stacks_.Release(stack);  // nobody else takes it
  FillFrame(&straight_frame_, this, launch_, nullptr, shared);
  straight_frame_.stack_low = stack[0].low;
  straight_frame_.stack_high = stack[0].high;
  straight_fiber_.stack = stack[0];
  next_unit_ = 0;
  return true;
}

void Worker::StraightMain() {
  current_worker->StraightBlocks();
  current_worker->Leave(Outcome::kDone, /*leaving=*/true);
}

void Worker::StraightBlocks() {
  BlockFrame* frame = &straight_frame_;
  const Entry entry = launch_->code().entry;
  const uint32_t units = launch_->unit_count();
  const Dim3 first = launch_->BlockOf(next_block_);
  const uint32_t* size = frame->nctaid;
  frame->ctaid[0] = first.x;
  frame->ctaid[1] = first.y;
  frame->ctaid[2] = first.z;
  while (next_block_ < end_block_ && !launch_->stopped()) {
    entry(frame, next_unit_, units - next_unit_);
    next_unit_ = 0;
    ++next_block_;
    if (++frame->ctaid[0] < size[0]) continue;
    frame->ctaid[0] = 0;
    if (++frame->ctaid[1] < size[1]) continue;
    frame->ctaid[1] = 0;
    ++frame->ctaid[2];
  }
}

// Units are independent and run in ascending order: those after the one that
// exited remain.
void Worker::FinishStraightUnit() {
  next_unit_ = straight_frame_.current_unit + 1;
  if (next_unit_ >= launch_->unit_count()) {
    next_unit_ = 0;
    ++next_block_;
  }
}

void Worker::RunStraight() {
  if (!StartStraight()) return;
  while (!launch_->stopped()) {
    if (next_unit_ == 0 && next_block_ >= end_block_ &&
        !launch_->ClaimBlocks(&next_block_, &end_block_)) {
      break;
    }
    PrepareFiber(&straight_fiber_, straight_fiber_.stack, StraightMain);
    SetCurrent(&straight_fiber_, &straight_frame_);
    const Outcome outcome = Enter();
    if (outcome == Outcome::kUnitExit) {
      FinishStraightUnit();
    } else {
      FailFrom(outcome, nullptr);
    }
    if (!printed_.empty()) Flush();
  }
  next_block_ = end_block_ = 0;
}

// ---- Fiber code -------------------------------------------------------------

uint32_t ResidentBlocks(uint32_t units, uint32_t workers) {
  const uint32_t most = std::max(kResidentUnits / workers, kMinResidentUnits);
  return std::clamp(most / units, 2u, kMaxResidentBlocks);
}

BlockRun* Worker::NewRun() {
  if (spare_.empty()) spare_.push_back(std::make_unique<BlockRun>(this));
  if (!spare_.back()->Bind(launch_)) return nullptr;
  resident_.push_back(std::move(spare_.back()));
  spare_.pop_back();
  return resident_.back().get();
}

// Starts one more block; false when there is none or no memory for it. Memory
// is taken before the block: a worker without leaves its blocks to others, and
// Launch::FinishUp() notices when all workers had to.
bool Worker::AddBlock() {
  if (!launch_->HasUnclaimedBlocks()) return false;
  BlockRun* run = NewRun();
  uint64_t first, last;
  if (run != nullptr && launch_->ClaimBlocks(&first, &last)) {
    run->Start(first);
    return true;
  }
  if (run != nullptr) {
    run->Unbind();
    spare_.push_back(std::move(resident_.back()));
    resident_.pop_back();
  }
  return false;
}

// Lets one block in flight go on. A finished one takes the next block itself.
void Worker::RunResident(size_t* turn) {
  *turn %= resident_.size();
  BlockRun* run = resident_[*turn].get();
  const Outcome outcome = run->Continue();
  if (!printed_.empty()) Flush();
  if (outcome == Outcome::kStalled) {
    ++*turn;
    ++stalls_;
    return;
  }
  stalls_ = 0;
  uint64_t first, last;
  if (outcome != Outcome::kDone) return FailFrom(outcome, run);
  if (resident_.size() == 1 && launch_->ClaimBlocks(&first, &last)) {
    run->Start(first);
    return;
  }
  run->Unbind();
  spare_.push_back(std::move(resident_[*turn]));
  resident_.erase(resident_.begin() + static_cast<ptrdiff_t>(*turn));
}

void Worker::RunFibers() {
  size_t turn = 0;
  const uint32_t limit =
      ResidentBlocks(launch_->unit_count(), launch_->config().workers);
  stalls_ = 0;
  while (!launch_->stopped()) {
    if (resident_.empty() && !AddBlock()) break;
    RunResident(&turn);
    if (resident_.empty() || stalls_ < resident_.size()) continue;
    // All blocks here wait for blocks that are not: those of other workers, or
    // blocks that have not begun.
    const bool patient = stalls_ < kPatience * resident_.size();
    if (patient || resident_.size() >= limit || !AddBlock()) {
      sched_yield();
    } else {
      stalls_ = 0;
    }
  }
  for (auto& run : resident_) {
    run->Unbind();
    spare_.push_back(std::move(run));
  }
  resident_.clear();
}

}  // namespace hetgpu::cpu
