// One opening of a device and everything made on it.
//
// Children (modules, streams, events) keep the context alive; the context
// knows them by handle and weakly, and takes their handles away when it is
// destroyed. A thread that is inside a call when that happens finishes on
// objects that are still alive.
#ifndef HETGPU_RUNTIME_CONTEXT_H_
#define HETGPU_RUNTIME_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "runtime/device.h"
#include "runtime/handle_table.h"
#include "runtime/memory.h"

namespace hetgpu::runtime {

class Stream;

// Threads: any.
class Context : public std::enable_shared_from_this<Context> {
 public:
  using Handle = hetgpuContext;
  static constexpr HandleKind kKind = HandleKind::kContext;

  // Opens the device; the context has a handle and a default stream.
  static absl::StatusOr<std::shared_ptr<Context>> Create(
      std::shared_ptr<Device> device);
  ~Context();

  Handle handle() const { return handle_; }
  const Device& device() const { return *device_; }
  const DeviceInfo& info() const { return device_->info(); }
  hetgpu::Device& backend() { return *backend_; }
  uint32_t trace_process() const { return trace_process_; }
  AllocationTable& allocations() { return allocations_; }
  std::shared_ptr<Stream> default_stream() const;

  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);
  // Waits for work in flight first. 0 does nothing.
  absl::Status Free(uint64_t address);

  // Gives a child a handle and takes note of it. INVALID_HANDLE after Close().
  template <typename T>
  absl::StatusOr<typename T::Handle> Adopt(std::shared_ptr<T> child);
  // The child's handle is about to be removed.
  void Disown(uint64_t handle);

  void AddStream(const std::shared_ptr<Stream>& stream);

  // Waits for all streams; the first failure that none has reported yet.
  absl::Status Synchronize();
  // Waits for all streams; their failures stay to be reported.
  void WaitIdle();

  // Keeps a backend event until no queue can refer to it any more. `awaited`:
  // a queue was told to wait for it.
  void Retire(std::shared_ptr<hetgpu::Event> event, bool awaited);

  // Takes away the handles of all children, waits, drops the default stream.
  void Close();

  absl::Status SetLimit(hetgpuLimit limit, uint64_t value);
  absl::StatusOr<uint64_t> GetLimit(hetgpuLimit limit) const;
  uint64_t launch_timeout_ms() const { return launch_timeout_ms_; }

  void SetPrintf(hetgpuPrintfCallback callback, void* user);

 private:
  struct RetiredEvent {
    std::shared_ptr<hetgpu::Event> event;
    bool awaited = false;
  };

  Context(std::shared_ptr<Device> device,
          std::unique_ptr<hetgpu::Device> backend);
  std::vector<std::shared_ptr<Stream>> Streams();
  // The events retired so far: to be destroyed once all streams have settled.
  std::vector<RetiredEvent> TakeRetired();

  const std::shared_ptr<Device> device_;
  const std::unique_ptr<hetgpu::Device> backend_;
  const uint32_t trace_process_;
  AllocationTable allocations_;
  std::atomic<uint64_t> launch_timeout_ms_ = 0;
  Handle handle_ = nullptr;

  mutable std::mutex mutex_;
  bool closed_ = false;
  std::shared_ptr<Stream> default_stream_;
  std::vector<std::weak_ptr<Stream>> streams_;
  std::set<uint64_t> children_;
  std::vector<RetiredEvent> retired_;
};

// That two objects of one call share a context.
absl::Status CheckSameContext(const Context& a, const Context& b,
                              std::string_view what);

template <typename T>
absl::StatusOr<typename T::Handle> Context::Adopt(std::shared_ptr<T> child) {
  std::lock_guard lock(mutex_);
  if (closed_) {
    return Error(HETGPU_ERROR_INVALID_HANDLE,
                 "context was destroyed during the call");
  }
  const auto handle = HandleTable<T>::Get().Insert(std::move(child));
  children_.insert(reinterpret_cast<uint64_t>(handle));
  return handle;
}

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_CONTEXT_H_
