// Ctrl-C and progress, both on one thread that watches the run.
//
// SIGINT and SIGTERM are blocked in every thread and taken by the watcher:
//   a kernel may be running   the stream is cancelled; the run ends by itself
//   anything else             the process ends at once
//   a second signal           the process ends at once
#ifndef HETGPU_TOOLS_HETGPU_RUN_INTERRUPT_H_
#define HETGPU_TOOLS_HETGPU_RUN_INTERRUPT_H_

#include <atomic>
#include <cstdint>
#include <thread>

#include "hetgpu/hetgpu.h"

namespace hetgpu::tools {

// What the run has done so far; written by the runner, read by the watcher.
struct Progress {
  std::atomic<uint64_t> launches_done{0};
  std::atomic<uint64_t> launches_total{0};  // 0 = unknown
  std::atomic<bool> interrupted{false};
};

// Blocks the signals; call before any thread exists.
void BlockSignals();

class Watcher {
 public:
  // With `show_progress` a bar is drawn on stderr after a second.
  Watcher(Progress* progress, bool show_progress);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // From now on a signal cancels this stream; null: it ends the process.
  void SetStream(hetgpuStream stream) { stream_.store(stream); }

 private:
  void Loop();
  void OnSignal();
  void Draw(double seconds);
  void Erase();

  Progress* progress_;
  const bool show_progress_;
  bool drawn_ = false;  // only the watcher's thread
  std::atomic<hetgpuStream> stream_{nullptr};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_INTERRUPT_H_
