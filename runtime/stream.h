// An in-order queue of a context, and the failure it has yet to report.
#ifndef HETGPU_RUNTIME_STREAM_H_
#define HETGPU_RUNTIME_STREAM_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "runtime/context.h"

namespace hetgpu::runtime {

class Event;
class Function;

// Ranges are checked against the context's allocations when enqueued.
// Threads: any.
class Stream {
 public:
  using Handle = hetgpuStream;
  static constexpr HandleKind kKind = HandleKind::kStream;

  // With a handle; known to the context.
  static absl::StatusOr<std::shared_ptr<Stream>> Create(
      std::shared_ptr<Context> context);
  ~Stream();  // waits

  Handle handle() const { return handle_; }
  Context& context() const { return *context_; }

  absl::Status CopyToDevice(uint64_t dst, const void* src, uint64_t bytes);
  absl::Status CopyFromDevice(void* dst, uint64_t src, uint64_t bytes);
  absl::Status Copy(uint64_t dst, uint64_t src, uint64_t bytes);
  absl::Status Fill(uint64_t dst, uint64_t pattern, uint32_t pattern_bytes,
                    uint64_t count);
  absl::Status HostFunction(hetgpuHostFunction function, void* user);
  // `function` is kept until the stream has passed the launch.
  absl::Status Launch(LaunchDesc desc, std::shared_ptr<Function> function);
  absl::Status Record(Event& event);
  absl::Status Wait(Event& event);

  // Waits; reports the failure not yet reported, if any, once.
  absl::Status Synchronize();
  // Like Synchronize when idle, NOT_READY otherwise.
  absl::Status Query();
  // Waits; a failure stays to be reported.
  void Settle();
  void Cancel();

 private:
  struct Failure {
    absl::Status status;
    std::optional<LaunchError> launch;
  };

  Stream(std::shared_ptr<Context> context,
         std::unique_ptr<hetgpu::Queue> queue);
  absl::Status TakeFailure();

  const std::shared_ptr<Context> context_;
  const std::unique_ptr<hetgpu::Queue> queue_;
  Handle handle_ = nullptr;

  std::mutex mutex_;
  std::optional<Failure> failure_;
  std::set<std::shared_ptr<Function>> in_flight_;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_STREAM_H_
