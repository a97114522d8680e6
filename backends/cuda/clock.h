// The device's clock as host time.
#ifndef HETGPU_BACKENDS_CUDA_CLOCK_H_
#define HETGPU_BACKENDS_CUDA_CLOCK_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/context.h"

namespace hetgpu::cuda {

// A point of a context whose host time is known. The driver measures the time
// between two events in floating-point milliseconds, so a near point is needed.
struct ClockPoint {
  CUevent event = nullptr;
  uint64_t time_ns = 0;  // steady clock
  uint64_t generation = 0;
};

// Thread-safe.
class Clock {
 public:
  // A point of the present context, about a second old at most. It lives as
  // long as the clock.
  CUresult Near(const Current& current, const ClockPoint** point);

  // Steady-clock time of `event`, completed, in the context of `point`.
  static uint64_t TimeOf(const Current& current, CUevent event,
                         const ClockPoint& point);
  static uint64_t NowNs();

 private:
  CUresult Add(const Current& current);

  std::mutex mutex_;
  CUstream stream_ = nullptr;  // of the last point's context
  std::vector<std::unique_ptr<const ClockPoint>> points_;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_CLOCK_H_
