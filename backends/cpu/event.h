#ifndef HETGPU_BACKENDS_CPU_EVENT_H_
#define HETGPU_BACKENDS_CPU_EVENT_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "backends/common/driver.h"

namespace hetgpu::cpu {

// A point of a queue. One that was never recorded is done. Queues share the
// state, so an event may be destroyed while they still refer to it.
class CpuEvent final : public Event {
 public:
  class State {
   public:
    bool Done() const { return done_.load(std::memory_order_acquire); }
    uint64_t TimestampNs() const { return Done() ? timestamp_ns_ : 0; }
    void Reset();  // recorded, not reached
    void Reach();  // now
    void Wait();

   private:
    std::atomic<bool> done_{true};
    uint64_t timestamp_ns_ = 0;
    std::mutex mutex_;
    std::condition_variable reached_;
  };

  bool Done() const override { return state_->Done(); }
  absl::Status Wait() override;
  uint64_t TimestampNs() const override { return state_->TimestampNs(); }
  const std::shared_ptr<State>& state() { return state_; }

 private:
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_EVENT_H_
