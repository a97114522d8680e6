// Ends launches that take longer than they may.
#ifndef HETGPU_BACKENDS_CUDA_WATCHDOG_H_
#define HETGPU_BACKENDS_CUDA_WATCHDOG_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "backends/cuda/context.h"
#include "backends/cuda/recovery.h"

namespace hetgpu::cuda {

// One thread for a device, started by the first launch with a time limit.
// Thread-safe. A Current comes before mutex_.
class Watchdog {
 public:
  Watchdog(const Context& context, Recovery& recovery)
      : context_(context), recovery_(recovery) {}
  ~Watchdog();

  // `kernel` was just launched on `stream` of the present context. Its time
  // counts from when the watched launches before it on the stream had ended.
  CUresult Watch(const Current& current, CUstream stream,
                 const std::string& kernel, uint64_t timeout_ms);

 private:
  struct Launch {
    std::string kernel;
    uint64_t generation = 0;
    uint64_t timeout_ns = 0;
    uint64_t start_ns = 0;  // when it became the first of its stream
    CUevent end = nullptr;
  };
  using Launches = std::deque<Launch>;

  void Serve();
  // True when the first launch has run past its limit. Takes those that are over
  // off the list.
  bool Check(const Current& current, Launches& launches);
  // The first launch found that has, if any.
  bool FindRunaway(Launch* runaway);

  const Context& context_;
  Recovery& recovery_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false;
  std::map<CUstream, Launches> streams_;
  std::thread thread_;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_WATCHDOG_H_
