#ifndef HETGPU_BACKENDS_CUDA_EVENT_H_
#define HETGPU_BACKENDS_CUDA_EVENT_H_

#include <mutex>

#include "backends/common/driver.h"
#include "backends/cuda/clock.h"
#include "backends/cuda/context.h"
#include "backends/cuda/recovery.h"

namespace hetgpu::cuda {

// One that was never recorded is done, and so is one whose context is gone.
class CudaEvent final : public Event {
 public:
  // All outlive the event.
  CudaEvent(const Context& context, Clock& clock, Recovery& recovery)
      : context_(context), clock_(clock), recovery_(recovery) {}
  ~CudaEvent() override;

  bool Done() const override;
  absl::Status Wait() override;
  uint64_t TimestampNs() const override;

  CUresult RecordOn(const Current& current, CUstream stream);
  // Reached now, without the device.
  void Reach();
  // Makes `stream` wait for the event on the device.
  CUresult DelayStream(const Current& current, CUstream stream) const;

 private:
  void ReachAt(uint64_t time_ns) const;
  // A failure of the context, if the event cannot be asked for.
  CUresult Poll(uint64_t* generation) const;

  const Context& context_;
  Clock& clock_;
  Recovery& recovery_;
  mutable std::mutex mutex_;  // guards all below
  CUevent event_ = nullptr;   // null: not recorded on the device
  const ClockPoint* point_ = nullptr;
  mutable bool reached_ = true;
  mutable uint64_t reached_ns_ = 0;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_EVENT_H_
