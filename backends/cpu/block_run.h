// One block that runs on fibers, and the scheduler of its units.
//
// Units that can run form a queue, served in turn. A unit leaves it when it
// waits (barrier, collective, active mask) or exits, and comes back when the
// last one it waits for arrives. Control goes straight from unit to unit; root
// (worker.h) gets it back when the block is done, cannot go on, or only spins.
#ifndef HETGPU_BACKENDS_CPU_BLOCK_RUN_H_
#define HETGPU_BACKENDS_CPU_BLOCK_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "backends/cpu/barriers.h"
#include "backends/cpu/collectives.h"
#include "backends/cpu/worker.h"

namespace hetgpu::cpu {

class BlockRun {
 public:
  explicit BlockRun(Worker* worker);
  ~BlockRun();
  BlockRun(const BlockRun&) = delete;
  BlockRun& operator=(const BlockRun&) = delete;

  // Takes stacks and shared memory for blocks of `launch`; false when the
  // system refuses.
  bool Bind(Launch* launch);
  void Unbind();

  // ---- On root -------------------------------------------------------------
  void Start(uint64_t block);
  Outcome Continue();
  // After kDeadlock: where the units wait.
  LaunchError DescribeDeadlock() const;

  // ---- On fibers, for the unit that runs -----------------------------------
  // Waits; returns the reduction of those who arrived.
  uint32_t WaitAtBarrier(uint32_t id, const BarrierArrival& arrival,
                         BarrierOp op, uint32_t line);
  void ArriveAtBarrier(uint32_t id, const BarrierArrival& arrival,
                       uint32_t line);
  uint64_t Collective(CollectiveOp op, const LaneInput& input, uint32_t mask,
                      uint32_t line);
  uint32_t ActiveMask(uint32_t line);
  void Yield();
  [[noreturn]] void ExitUnit();
  // Lanes that PTX counts with this unit but the block does not have.
  uint32_t PhantomsOf(uint32_t unit) const {
    return unit == last_unit_ ? warp_threads_ - launch_->thread_count() : 0;
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  enum class Wait : uint8_t { kNothing, kBarrier, kCollective, kActiveMask };

  struct Unit {
    FiberContext fiber;
    uint32_t next = kNone;  // in whichever list the unit is
    Wait wait = Wait::kNothing;
    bool exited = false;
    uint8_t barrier = 0;
    BarrierOp op = BarrierOp::kPopc;
    CollectiveOp collective = CollectiveOp::kSync;
    uint32_t mask = 0;
    uint32_t line = 0;
    uint32_t polls = 0;  // calls of Yield()
    uint64_t result = 0;
  };

  struct UnitList {
    uint32_t head = kNone;
    uint32_t tail = kNone;
  };

  struct Rendezvous {
    CollectiveOp op;
    uint32_t mask;
    uint32_t arrived;
  };

  // Lane masks of one warp; used when units are threads.
  struct Warp {
    uint32_t exited = 0;  // or not in the block
    uint32_t waiting = 0;
    uint32_t parked = 0;   // of `waiting`: in ActiveMask()
    uint32_t yielded = 0;  // since the last lane parked
    std::vector<Rendezvous> open;
    LaneInput inputs[kWarpSize];
  };

  static void UnitMain();

  void StartWarps();
  void CheckNotStopped();
  void CheckBarrierArguments(uint32_t id, uint32_t line);
  void CheckInMask(CollectiveOp op, uint32_t mask, uint32_t line);

  void Append(UnitList* list, uint32_t unit);
  uint32_t PopReady();
  void MakeReady(uint32_t unit, uint64_t result);
  // The unit that runs waits (its `wait` is set) until it is made ready;
  // returns its result.
  uint64_t Suspend();
  void SwitchToNext(bool leaving);
  void SetRunning(uint32_t unit);

  bool AddToBarrier(uint32_t id, const BarrierArrival& arrival, uint32_t line);
  void OpenBarrier(uint32_t id);
  void OpenBarriersAfterExit();

  Rendezvous* FindRendezvous(Warp* warp, CollectiveOp op, uint32_t mask);
  bool IsComplete(const Warp& warp, const Rendezvous& meeting) const;
  // Computes all results, wakes all lanes but `self`, whose result it returns.
  uint64_t FinishRendezvous(uint32_t warp, Rendezvous* meeting, uint32_t self);
  void FinishRendezvousAfterExit(uint32_t warp);

  // Lets parked lanes go on once no other lane of the warp can join them.
  void ReleaseParked(uint32_t warp);
  void ReleaseGroup(uint32_t warp, uint32_t lanes);

  Unit& running() { return units_[running_]; }
  uint32_t lane() const { return running_ % kWarpSize; }
  bool thread_units() const { return lanes_per_unit_ == 1; }
  std::string WhereUnitWaits(const Unit& unit) const;

  Worker* const worker_;
  Launch* launch_ = nullptr;
  BlockFrame frame_;
  GuardedMemory shared_;
  std::vector<Stack> stacks_;
  std::vector<Unit> units_;
  std::vector<Warp> warps_;
  Barrier barriers_[kNumBarriers];
  UnitList waiting_[kNumBarriers];
  UnitList ready_;
  uint32_t ready_count_ = 0;
  uint32_t running_ = kNone;
  uint32_t live_units_ = 0;
  uint32_t lanes_per_unit_ = 1;
  uint32_t warp_threads_ = 0;   // of the block, in whole warps
  uint32_t last_unit_ = 0;
  uint32_t open_barriers_ = 0;  // bit per barrier in use
  uint32_t idle_yields_ = 0;    // since a unit last did anything else
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_BLOCK_RUN_H_
