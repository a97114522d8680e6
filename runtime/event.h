// A point in a stream. Each record makes a new backend event, so a stream that
// waits for an earlier point is not disturbed by recording again.
#ifndef HETGPU_RUNTIME_EVENT_H_
#define HETGPU_RUNTIME_EVENT_H_

#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "runtime/context.h"

namespace hetgpu::runtime {

// Threads: any.
class Event {
 public:
  using Handle = hetgpuEvent;
  static constexpr HandleKind kKind = HandleKind::kEvent;

  // With a handle; known to the context.
  static absl::StatusOr<Handle> Create(std::shared_ptr<Context> context);
  explicit Event(std::shared_ptr<Context> context);
  ~Event();

  Context& context() const { return *context_; }

  // `queue` is of `opening`.
  absl::Status Record(Opening& opening, hetgpu::Queue& queue);
  // Makes `queue` wait for the point last recorded, if any. One of another
  // opening has been reached.
  absl::Status Delay(Opening& opening, hetgpu::Queue& queue);
  absl::Status Synchronize();
  absl::Status Query() const;
  // When the point was reached; INVALID_VALUE or NOT_READY, naming `which`.
  absl::StatusOr<uint64_t> TimestampNs(std::string_view which) const;

 private:
  std::shared_ptr<hetgpu::Event> Current() const;

  const std::shared_ptr<Context> context_;
  mutable std::mutex mutex_;
  std::shared_ptr<hetgpu::Event> current_;  // null: never recorded
  const Opening* opening_ = nullptr;        // of current_, which keeps it alive
  bool awaited_ = false;  // a queue was told to wait for current_
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_EVENT_H_
