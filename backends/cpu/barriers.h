// Counting of one named barrier of a block. Who waits and wakes is the
// scheduler's business (block_run.h).
#ifndef HETGPU_BACKENDS_CPU_BARRIERS_H_
#define HETGPU_BACKENDS_CPU_BARRIERS_H_

#include <cstdint>

#include "backends/cpu/abi.h"

namespace hetgpu::cpu {

// A unit's part in a barrier.
struct BarrierArrival {
  uint32_t count = 0;     // threads the barrier waits for, 0 = all of the block
  uint32_t threads = 1;   // that arrive with this unit
  uint32_t phantoms = 0;  // lanes the last warp lacks: PTX counts whole warps
  uint32_t predicates = 0;  // of `threads`, true ones (reductions)
  bool reduces = false;
  bool waits = true;  // false: arrives and goes on
};

class Barrier {
 public:
  // False when the barrier is in use with another count.
  bool Arrive(const BarrierArrival& arrival);
  // Whether it opens. With count 0 it waits for the `live_units` units of the
  // block that have not exited, or for `warp_threads`, the block's threads in
  // whole warps, once some have arrived without waiting: those may exit.
  bool Complete(uint32_t live_units, uint32_t warp_threads) const;
  // The result of a reduction over those who arrived.
  uint32_t Reduce(BarrierOp op) const;
  void Reset() { *this = Barrier(); }

  bool active() const { return units_ != 0; }
  uint32_t count() const { return count_; }
  uint32_t threads() const { return threads_; }

 private:
  uint32_t count_ = 0;
  uint32_t threads_ = 0;
  uint32_t units_ = 0;
  uint32_t reducing_threads_ = 0;
  uint32_t true_threads_ = 0;
  bool all_wait_ = true;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_BARRIERS_H_
