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
  // Returns at once in the beginning; later sleeps for a fiftieth of the time
  // waited so far, 200 µs at most.
  void Pause() {
    const auto waited = Clock::now() - start_;
    if (waited < std::chrono::microseconds(200)) return;
    std::this_thread::sleep_for(std::min<Clock::duration>(
        waited / 50, std::chrono::microseconds(200)));
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start_ = Clock::now();
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_BACKOFF_H_
