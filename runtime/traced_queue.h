// A queue that writes what its device did into the trace: two events around each
// command give its span in the device's own time.
#ifndef HETGPU_RUNTIME_TRACED_QUEUE_H_
#define HETGPU_RUNTIME_TRACED_QUEUE_H_

#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "backends/common/driver.h"
#include "runtime/trace.h"

namespace hetgpu::runtime {

// Threads: any. `device` made `queue` and outlives it.
class TracedQueue : public hetgpu::Queue {
 public:
  TracedQueue(Trace& trace, Trace::Track track, hetgpu::Device& device,
              std::unique_ptr<hetgpu::Queue> queue);
  ~TracedQueue() override;

  absl::Status Launch(const LaunchDesc& desc) override;
  absl::Status Copy(uint64_t dst, uint64_t src, uint64_t bytes) override;
  absl::Status CopyToDevice(uint64_t dst, const void* src,
                            uint64_t bytes) override;
  absl::Status CopyFromDevice(void* dst, uint64_t src,
                              uint64_t bytes) override;
  absl::Status CopyToDeviceNow(uint64_t dst, const void* src,
                               uint64_t bytes) override;
  absl::Status CopyFromDeviceNow(void* dst, uint64_t src,
                                 uint64_t bytes) override;
  absl::Status CopyPeer(uint64_t dst, hetgpu::Device& source, uint64_t src,
                        uint64_t bytes) override;
  absl::Status Fill(uint64_t dst, uint64_t pattern, uint32_t pattern_bytes,
                    uint64_t count) override;
  absl::Status HostFunction(std::function<void()> function) override;
  absl::Status Record(hetgpu::Event* event) override;
  absl::Status Wait(hetgpu::Event* event) override;
  bool Idle() const override;
  absl::Status Synchronize(LaunchError* error) override;
  void Cancel() override;

 private:
  struct Pending {
    std::string category, name;
    TraceArgs args;
    std::unique_ptr<hetgpu::Event> begin, end;
  };

  // Enqueues by `enqueue`, between two events.
  template <typename Enqueue>
  absl::Status Traced(std::string_view category, std::string_view name,
                      const TraceArgs& args, Enqueue&& enqueue);
  // Writes the spans of the commands that are done.
  void Drain();

  Trace& trace_;
  const Trace::Track track_;
  hetgpu::Device& device_;
  const std::unique_ptr<hetgpu::Queue> queue_;
  uint64_t drain_;
  std::mutex order_;  // held while a command and its events are enqueued
  std::mutex mutex_;  // of pending_
  std::deque<Pending> pending_;
};

// The process of a new context on device "cpu:0"; 0 when there is no trace.
uint32_t TraceContext(std::string_view device);

// `queue` itself when there is no trace. `process` is the context's.
std::unique_ptr<hetgpu::Queue> WithTrace(uint32_t process,
                                         hetgpu::Device& device,
                                         std::unique_ptr<hetgpu::Queue> queue);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_TRACED_QUEUE_H_
