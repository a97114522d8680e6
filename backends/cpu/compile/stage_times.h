// Times of the steps of a compilation, to stderr when HETGPU_COMPILE_TIMES=1.
#ifndef HETGPU_BACKENDS_CPU_COMPILE_STAGE_TIMES_H_
#define HETGPU_BACKENDS_CPU_COMPILE_STAGE_TIMES_H_

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hetgpu::cpu {

class StageTimes {
 public:
  explicit StageTimes(const char* what) : what_(what) {
    const char* asked = std::getenv("HETGPU_COMPILE_TIMES");
    enabled_ = asked && std::strcmp(asked, "1") == 0;
  }
  // The step that just ended.
  void Mark(const char* step) {
    Clock::time_point now = Clock::now();
    if (enabled_) {
      std::fprintf(stderr, "%s: %s %.2f ms\n", what_, step,
                   std::chrono::duration<double, std::milli>(now - last_)
                       .count());
    }
    last_ = now;
  }

 private:
  using Clock = std::chrono::steady_clock;

  const char* what_;
  bool enabled_ = false;
  Clock::time_point last_ = Clock::now();
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_STAGE_TIMES_H_
