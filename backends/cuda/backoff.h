// Waiting by asking again. The driver's own blocking calls cannot be ended, so
// they would never return from behind a kernel that does not end.
#ifndef HETGPU_BACKENDS_CUDA_BACKOFF_H_
#define HETGPU_BACKENDS_CUDA_BACKOFF_H_

#include <algorithm>
#include <chrono>
#include <thread>

namespace hetgpu::cuda {

class Backoff {
 public:
  // Returns at once in the beginning and leaves the core to others for the
  // first milliseconds, as the driver's own waits do; later sleeps for a
  // five-hundredth of the time waited so far, 200 µs at most. A sleep that
  // outlasts the work is time lost to whoever waits: timers are 50 µs late.
  void Pause() {
    const auto waited = Clock::now() - start_;
    if (waited < std::chrono::microseconds(200)) return;
    if (waited < std::chrono::milliseconds(20)) {
      std::this_thread::yield();
      return;
    }
    std::this_thread::sleep_for(std::min<Clock::duration>(
        waited / 500, std::chrono::microseconds(200)));
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_BACKOFF_H_
