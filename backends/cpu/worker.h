// One OS thread that runs blocks: a pool thread or a queue's own thread.
//
//   root (the thread's stack)          fibers (stacks of the pool)
//   Run(launch)
//     claim a block ── Enter() ──────▶ entry(frame, unit, …)
//                                        helper ─▶ another fiber
//     look at the Outcome ◀─ Leave() ──  … done, stalled, failed, fault
//
// Only root talks to the launch, the sink and the other workers. A fiber that
// failed is dropped where it stands: helpers own nothing while they touch
// memory of the kernel.
#ifndef HETGPU_BACKENDS_CPU_WORKER_H_
#define HETGPU_BACKENDS_CPU_WORKER_H_

#include <pthread.h>

#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/common/driver.h"
#include "backends/cpu/abi.h"
#include "backends/cpu/fiber.h"
#include "backends/cpu/launch.h"
#include "backends/cpu/seen_ranges.h"
#include "backends/cpu/stack_pool.h"

namespace hetgpu::cpu {

class BlockRun;
class Worker;

// Why a fiber returned to root.
enum class Outcome {
  kDone,      // the block (fibers) or the claimed blocks (straight) are done
  kUnitExit,  // straight code called exit_unit
  kStalled,   // every unit that can run only waits for other blocks
  kDeadlock,  // no unit can run
  kFlush,     // what was printed must go out; continue the same fiber
  kRaised,    // a helper refused: Worker::raised()
  kSignal,    // a fault: Worker::fault()
  kStopped,   // the launch was stopped from outside
};

// The BlockContext that emitted code sees, and what helpers find behind it.
struct BlockFrame : BlockContext {
  Worker* owner;
  Launch* launch;
  BlockRun* run;  // null for code without fibers
};

// Fills what does not change from block to block.
void FillFrame(BlockFrame* frame, Worker* worker, Launch* launch, BlockRun* run,
               uint8_t* shared);

// Filled by the signal handler.
struct FaultRecord {
  int signal = 0;
  int code = 0;
  uintptr_t address = 0;
  uintptr_t pc = 0;
  uint32_t line = 0;
  std::optional<uint32_t> lane;  // nullopt: not known which
  bool in_helper = false;
  bool in_guard = false;  // of the running stack
};

class Worker {
 public:
  // `index` is %smid.
  explicit Worker(uint32_t index);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Makes the calling thread this worker's thread, until Detach() on the same
  // thread.
  void Attach();
  void Detach();

  // Runs blocks of `launch` until none is left or it has stopped.
  void Run(Launch* launch);

  // From any thread, while this worker is inside a launch: sends the stop
  // signal.
  void Interrupt();

  uint32_t index() const { return index_; }
  // Of the calling thread; null when it is no worker. Safe in handlers.
  static Worker* Current();

  // ---- On fibers -----------------------------------------------------------
  // Ends the running block with an error of the unit that runs. `lane` is
  // within the unit.
  [[noreturn]] void Raise(LaunchError::Kind kind, uint32_t lane, uint32_t line,
                          std::string detail);
  // kIllegalAddress of the unit that runs.
  [[noreturn]] void RaiseAddress(uint64_t address, uint32_t lane,
                                 uint32_t line, std::string detail);
  [[noreturn]] void RaiseAt(LaunchError::Kind kind, uint64_t address,
                            uint32_t lane, uint32_t line, std::string detail);
  // The launch has stopped: ends the running block without an error.
  [[noreturn]] void LeaveStopped();
  // Gives control to root; returns when root continues this fiber, which it
  // does after kFlush and kStalled only.
  void Leave(Outcome outcome, bool leaving);
  // Appends to what the sink will get; may visit root.
  void Print(std::string_view message);

  // Of kMaxPrintBytes, for one message in the making.
  char* print_buffer() { return print_buffer_.get(); }

  // The fiber that runs now; set by whoever switches.
  void SetCurrent(FiberContext* fiber, BlockFrame* frame) {
    current_ = fiber;
    frame_ = frame;
  }
  FiberContext* current() { return current_; }
  BlockFrame* frame() { return frame_; }
  StackPool& stacks() { return stacks_; }

  // ---- On root -------------------------------------------------------------
  // Switches to `current()` and returns why it came back.
  Outcome Enter();

  // ---- In signal handlers --------------------------------------------------
  bool in_kernel() const { return in_kernel_ != 0; }
  Launch* launch() const { return launch_; }
  FaultRecord& fault() { return fault_; }
  // Where the interrupted thread has to go on, and its stack.
  static void Landing();
  uintptr_t LandingStack() const;
  void SetLandingOutcome(Outcome outcome) { landing_outcome_ = outcome; }
  SeenRanges live_allocations;
  // Emitted or import code is being left: where the helper was called from.
  uintptr_t helper_caller = 0;

 private:
  void RunStraight();
  bool StartStraight();
  void FinishStraightUnit();
  static void StraightMain();
  void StraightBlocks();

  void RunFibers();
  BlockRun* NewRun();
  bool AddBlock();
  void RunResident(size_t* turn);

  void FailFrom(Outcome outcome, BlockRun* run);
  LaunchError Place(LaunchError::Kind kind, uint32_t lane, uint32_t line) const;
  LaunchError FaultError() const;
  uint64_t FromHost(uint64_t address) const;
  void Flush();

  const uint32_t index_;
  pthread_t thread_{};
  std::unique_ptr<uint8_t[]> signal_stack_;
  FiberContext root_;
  StackPool stacks_{kFiberStackGuardBytes};
  StackPool straight_stacks_{kStraightStackGuardBytes};
  std::unique_ptr<char[]> print_buffer_;
  std::string printed_;

  // Of the launch being run.
  Launch* launch_ = nullptr;
  FiberContext* current_ = nullptr;
  BlockFrame* frame_ = nullptr;
  volatile sig_atomic_t in_kernel_ = 0;
  Outcome outcome_ = Outcome::kDone;
  Outcome landing_outcome_ = Outcome::kSignal;
  FaultRecord fault_;
  LaunchError raised_;

  // Straight code: the blocks claimed and where to go on in the first.
  FiberContext straight_fiber_;
  BlockFrame straight_frame_;
  GuardedMemory straight_shared_;
  uint64_t next_block_ = 0;
  uint64_t end_block_ = 0;
  uint32_t next_unit_ = 0;

  // Fiber code: blocks in flight, and objects to reuse.
  std::vector<std::unique_ptr<BlockRun>> resident_;
  std::vector<std::unique_ptr<BlockRun>> spare_;
  uint32_t stalls_ = 0;  // visits to stalled blocks since any went on
};

// How many blocks of `units` units one of `workers` workers has in flight at most.
uint32_t ResidentBlocks(uint32_t units, uint32_t workers);

// A shared-memory area of exactly `bytes` whose end lies before a guard; keeps
// `*memory` when it fits. Null when the system refuses.
uint8_t* MapShared(uint32_t bytes, GuardedMemory* memory);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_WORKER_H_
