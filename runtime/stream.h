// An in-order queue of a context, and the failure it has yet to report.
#ifndef HETGPU_RUNTIME_STREAM_H_
#define HETGPU_RUNTIME_STREAM_H_

#include <atomic>
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
struct PreparedKernel;

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

  // `now`: the caller waits at once, so the copy may take its thread.
  absl::Status CopyToDevice(uint64_t dst, const void* src, uint64_t bytes,
                            bool now = false);
  absl::Status CopyFromDevice(void* dst, uint64_t src, uint64_t bytes,
                              bool now = false);
  absl::Status Copy(uint64_t dst, uint64_t src, uint64_t bytes);
  absl::Status Fill(uint64_t dst, uint64_t pattern, uint32_t pattern_bytes,
                    uint64_t count);
  absl::Status Prefetch(uint64_t address, uint64_t bytes);
  absl::Status HostFunction(hetgpuHostFunction function, void* user);
  // All but the kernel is set in `desc`.
  absl::Status Launch(LaunchDesc& desc, Function& function);
  absl::Status Record(Event& event);
  absl::Status Wait(Event& event);

  // Waits; reports the failure not yet reported, if any, once.
  absl::Status Synchronize();
  // Like Synchronize when idle, NOT_READY otherwise.
  absl::Status Query();
  // Waits; a failure stays to be reported.
  void Settle();
  // The device of `opening` is lost and about to go: keeps a failure there.
  void Leave(const Opening& opening);
  void Cancel();

 private:
  struct Failure {
    absl::Status status;
    std::optional<LaunchError> launch;
    std::shared_ptr<Opening> opening;  // where it happened
  };
  // The queue, and the opening that it is of.
  struct Place {
    std::shared_ptr<Opening> opening;
    std::shared_ptr<hetgpu::Queue> queue;
    bool skips = false;  // a failure from before the move is to be reported
  };

  // A launch whose shape was found good: another one like it at the same place
  // needs no checks.
  struct Launched {
    std::weak_ptr<const PreparedKernel> prepared;
    const KernelInfo* info = nullptr;
    Kernel* kernel = nullptr;
    Dim3 grid, block;
    uint32_t dynamic_shared_bytes = 0;
  };

  explicit Stream(std::shared_ptr<Context> context);
  // The place in the context's opening of now.
  // `tried` becomes the opening that it moved to, or failed to.
  absl::StatusOr<std::shared_ptr<const Place>> Enter(
      std::shared_ptr<Opening>* tried);
  absl::Status Follow(std::shared_ptr<Opening> opening);  // needs mutex_
  // Has `command(place)` enqueue something; again when the device turns out to
  // be lost and the context has moved.
  template <typename Command>
  absl::Status Enqueue(Command command, bool always = false);
  // The place of the last launch, if it was like this one and nothing has
  // changed since; its kernel is in flight from now on and stands in `desc`.
  std::shared_ptr<const Place> LikeLast(LaunchDesc& desc);
  // The function's kernel at `place`, in flight from now on.
  absl::StatusOr<std::shared_ptr<const PreparedKernel>> Engage(
      const Place& place, const LaunchDesc& desc, Function& function);
  absl::Status LaunchAnew(LaunchDesc& desc, Function& function);
  void SetPlace(std::shared_ptr<const Place> place);  // needs mutex_
  // Needs mutex_.
  void KeepFailure(absl::Status status, LaunchError error,
                   std::shared_ptr<Opening> opening);
  absl::Status TakeFailure();

  const std::shared_ptr<Context> context_;
  Handle handle_ = nullptr;

  std::mutex mutex_;
  std::shared_ptr<const Place> place_;
  std::optional<Failure> failure_;
  // Launched since all was last seen to have passed.
  std::set<std::shared_ptr<const PreparedKernel>> in_flight_;
  std::optional<Launched> last_;
  bool last_in_flight_ = false;
  uint64_t launches_begun_ = 0;
  std::atomic<uint64_t> launches_given_ = 0;  // to the queue
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_STREAM_H_
