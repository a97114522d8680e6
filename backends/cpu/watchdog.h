// Ends launches that do not end by themselves: interrupts their workers again
// and again, as code in a helper cannot be left at once, and watches timeouts.
#ifndef HETGPU_BACKENDS_CPU_WATCHDOG_H_
#define HETGPU_BACKENDS_CPU_WATCHDOG_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace hetgpu::cpu {

class Launch;

// Its thread starts with the first launch that needs it.
class Watchdog {
 public:
  Watchdog() = default;
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Fails `launch` with kTimeout after `timeout_ms`.
  void Arm(Launch* launch, uint64_t timeout_ms);
  // Interrupts the workers of `launch`, which has stopped(), until Forget().
  void Stop(Launch* launch);
  // The launch has ended; the watchdog does not touch it afterwards.
  void Forget(Launch* launch);

 private:
  using Clock = std::chrono::steady_clock;
  struct Watched {
    Launch* launch;
    bool stopping;
    uint64_t timeout_ms;
    Clock::time_point deadline;  // of the timeout, or of the next interrupt
  };

  Watched* Find(Launch* launch);
  void StartThread();
  void Run();
  void Act(Watched* watched);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Watched> watched_;
  std::thread thread_;
  bool ending_ = false;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_WATCHDOG_H_
