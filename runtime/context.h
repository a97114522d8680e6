// A device in use and everything made on it.
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
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "runtime/device.h"
#include "runtime/handle_table.h"
#include "runtime/host_memory.h"
#include "runtime/memory.h"
#include "runtime/opening.h"
#include "runtime/unified_memory.h"

namespace hetgpu::runtime {

class ModuleState;
class Stream;

// Threads: any.
class Context : public std::enable_shared_from_this<Context> {
 public:
  using Handle = hetgpuContext;
  static constexpr HandleKind kKind = HandleKind::kContext;

  // Opens the device; the context has a handle and a default stream. `flags` as
  // in the C API.
  static absl::StatusOr<std::shared_ptr<Context>> Create(
      std::shared_ptr<Device> device, uint32_t flags = 0);
  ~Context();

  Handle handle() const { return handle_; }
  const Device& device() const { return *device_; }
  const DeviceInfo& info() const { return device_->info(); }
  // What the context works on now.
  std::shared_ptr<Opening> opening() const;
  bool IsPresent(const Opening& opening) const {
    return present_.load(std::memory_order_acquire) == &opening;
  }
  uint32_t trace_process() const { return trace_process_; }
  AllocationTable& allocations() { return allocations_; }
  // Null unless the context is unified.
  const std::shared_ptr<UnifiedMember>& unified() const { return unified_; }
  HostMemory& host_memory() { return host_memory_; }
  std::shared_ptr<Stream> default_stream() const;

  // How often a call is tried again: a device that is lost over and over is not
  // worth more.
  static constexpr int kMaxMoves = 3;
  // Gives what `call(opening)`, a status or a StatusOr, gives; when the device
  // turns out to be lost, moves and calls again.
  template <typename Call>
  auto OnDevice(Call call);
  // True when the context does not work on `opening` any more. Moves when its
  // device is lost and can be re-opened, which is tried once.
  bool MoveIfLost(Opening& opening);
  // Works on `device` from now on. It must hold all allocations at their
  // addresses; `account` tells what became of the rest.
  void MoveTo(std::unique_ptr<hetgpu::Device> device, std::string account);

  absl::StatusOr<uint64_t> Allocate(uint64_t bytes);
  // Waits for work in flight first. 0 does nothing.
  absl::Status Free(uint64_t address);
  // Bytes that the device has left.
  uint64_t FreeMemory();
  absl::Status Advise(uint64_t address, hetgpuMemAdvice advice);

  // Gives a child a handle and takes note of it. INVALID_HANDLE after Close().
  template <typename T>
  absl::StatusOr<typename T::Handle> Adopt(std::shared_ptr<T> child);
  // The child's handle is about to be removed.
  void Disown(uint64_t handle);

  void AddStream(const std::shared_ptr<Stream>& stream);
  void AddModule(const std::shared_ptr<ModuleState>& module);

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

  // UNSUPPORTED for a callback where the device prints by itself.
  absl::Status SetPrintf(hetgpuPrintfCallback callback, void* user);

 private:
  struct RetiredEvent {
    std::shared_ptr<hetgpu::Event> event;
    bool awaited = false;
  };

  Context(std::shared_ptr<Device> device,
          std::unique_ptr<hetgpu::Device> backend);
  bool IsClosed() const;
  // Has streams take note of failures on a device that is lost.
  void LeaveStreams();
  // What the context goes on with, of a device that is lost.
  absl::StatusOr<Reopened> Reopen(Opening& lost);
  absl::StatusOr<uint64_t> AllocateUnified(uint64_t bytes);
  std::vector<std::shared_ptr<Stream>> Streams();
  // Has modules give up what the device held for them; its bytes.
  uint64_t LeaveModules();
  // The events retired so far: to be destroyed once all streams have settled.
  std::vector<RetiredEvent> TakeRetired();

  const std::shared_ptr<Device> device_;
  std::mutex move_mutex_;  // held while moving; taken before all others
  std::shared_ptr<Opening> opening_;  // guarded by mutex_
  std::atomic<const Opening*> present_;  // the same
  std::function<void(std::string_view)> print_;  // guarded by mutex_
  std::map<DeviceLimit, uint64_t> limits_;  // those set; the same
  const uint32_t trace_process_;
  std::shared_ptr<UnifiedMember> unified_;
  AllocationTable allocations_;
  HostMemory host_memory_;
  std::atomic<uint64_t> launch_timeout_ms_ = 0;
  Handle handle_ = nullptr;

  mutable std::mutex mutex_;
  bool closed_ = false;
  std::shared_ptr<Stream> default_stream_;
  std::vector<std::weak_ptr<Stream>> streams_;
  std::vector<std::weak_ptr<ModuleState>> modules_;
  std::set<uint64_t> children_;
  std::vector<RetiredEvent> retired_;
};

// That two objects of one call share a context.
absl::Status CheckSameContext(const Context& a, const Context& b,
                              std::string_view what);

template <typename Call>
auto Context::OnDevice(Call call) {
  for (int moves = 0;; ++moves) {
    const std::shared_ptr<Opening> used = opening();
    auto result = call(*used);
    if (result.ok() || moves == kMaxMoves || !MoveIfLost(*used)) return result;
  }
}

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
