// The CUDA context of a device, and making it current.
//
// A context can be lost in two ways:
//   fault     A kernel failed. From then on the driver fails every call in every
//             context of the process, old or new, until the process ends: there
//             is no context any more. Memory can still be exported.
//   runaway   A kernel does not end. Nothing can stop it, and destroying its
//             context would wait for it, so the context is left alone with the
//             kernel, which runs on until the process ends, and another is made;
//             in a process that can be ended instead, it is as after a fault.
// Whoever holds handles of a context (modules, streams, events) sees a new
// generation and makes them again.
#ifndef HETGPU_BACKENDS_CUDA_CONTEXT_H_
#define HETGPU_BACKENDS_CUDA_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/gate.h"
#include "backends/cuda/library.h"

namespace hetgpu::cuda {

// Thread-safe.
class Context {
 public:
  static absl::StatusOr<std::unique_ptr<Context>> Create(
      const Library& library, CUdevice device);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Library& library() const { return library_; }
  CUdevice device() const { return device_; }

  // There is no context any more, unless that of `generation` (from 1) is gone
  // already. `runs_on`: something does, in the one that is lost.
  void Lose(uint64_t generation, std::string_view why, bool runs_on);
  // Leaves the context of `generation` alone and makes another, unless it is
  // gone already. On failure the device cannot be used any more.
  absl::Status Abandon(uint64_t generation);
  // How often a context was abandoned; grows before the next generation begins.
  uint64_t abandonments() const { return abandonments_; }
  // Limit `which` of this context and those that take its place; what the driver
  // makes of the value is seen by asking.
  absl::Status SetLimit(int which, uint64_t value);
  absl::StatusOr<uint64_t> GetLimit(int which) const;
  // Why there is no context; OK while there is one.
  absl::Status lost() const;
  // Destroys one that was lost and in which nothing runs on.
  void DestroyLost();
  // That a context of this process was abandoned. Whatever is destroyed then may
  // wait for the runaway kernel, so nothing is.
  static bool HasRunaway();

 private:
  friend class Current;
  friend class Inside;
  friend class Pinned;

  Context(const Library& library, CUdevice device)
      : library_(library), device_(device) {}
  absl::StatusOr<CUcontext> Make() const;
  // Puts a new context in the place of the present one.
  absl::Status Install();
  // The next generation, in which `handle`, null for none, is the context.
  void Replace(CUcontext handle);

  const Library& library_;
  const CUdevice device_;
  mutable Gate in_use_;       // entered: somebody calls in a context
  mutable std::mutex mutex_;  // guards all below
  CUcontext handle_ = nullptr;        // null: lost for good
  CUcontext lost_handle_ = nullptr;   // what it was
  uint64_t generation_ = 0;
  absl::Status lost_;  // why handle_ is null
  std::map<int, uint64_t> limits_;  // those set
  std::atomic<uint64_t> present_ = 0;  // generation_; 0: no context
  std::atomic<uint64_t> abandonments_ = 0;
};

// Keeps the context of another device in place while it is named in a call; may
// be made with a Current.
class Pinned {
 public:
  explicit Pinned(const Context& context);
  // Null: lost, or being replaced.
  CUcontext handle() const { return handle_; }

 private:
  const std::shared_lock<Gate> in_use_;
  CUcontext handle_ = nullptr;
};

// Keeps the device's context in place without making it current: for calls that
// find it by their handles.
class Inside {
 public:
  explicit Inside(const Context& context)
      : in_use_(context.in_use_),
        generation_(context.present_.load(std::memory_order_acquire)) {}
  // 0: lost.
  uint64_t generation() const { return generation_; }

 private:
  const std::shared_lock<Gate> in_use_;
  const uint64_t generation_;
};

// Makes the device's context current on this thread for its own lifetime; what
// was current before is again afterwards. Do not nest: pass it on.
class Current {
 public:
  explicit Current(const Context& context);
  ~Current();
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

  // Not OK: the device is lost and no context is current.
  const absl::Status& status() const { return status_; }
  uint64_t generation() const { return generation_; }
  CUcontext handle() const { return handle_; }
  const Library& library() const { return library_; }

 private:
  const Library& library_;
  const std::shared_lock<Gate> in_use_;
  uint64_t generation_ = 0;
  CUcontext handle_ = nullptr;
  absl::Status status_;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_CONTEXT_H_
