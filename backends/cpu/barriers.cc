#include "backends/cpu/barriers.h"

namespace hetgpu::cpu {

bool Barrier::Arrive(const BarrierArrival& arrival) {
  if (active() && arrival.count != count_) return false;
  count_ = arrival.count;
  threads_ += arrival.threads + arrival.phantoms;
  ++units_;
  all_wait_ = all_wait_ && arrival.waits;
  if (arrival.reduces) {
    reducing_threads_ += arrival.threads;
    true_threads_ += arrival.predicates;
  }
  return true;
}

bool Barrier::Complete(uint32_t live_units, uint32_t warp_threads) const {
  if (!active()) return false;
  if (count_ == 0 && all_wait_) return units_ >= live_units;
  return threads_ >= (count_ == 0 ? warp_threads : count_);
}

uint32_t Barrier::Reduce(BarrierOp op) const {
  switch (op) {
    case BarrierOp::kPopc:
      return true_threads_;
    case BarrierOp::kAnd:
      return true_threads_ == reducing_threads_;
    case BarrierOp::kOr:
      return true_threads_ != 0;
  }
  return 0;
}

}  // namespace hetgpu::cpu
