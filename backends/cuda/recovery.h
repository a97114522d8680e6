// What happens when a kernel fails or does not end (see context.h): the context
// is lost or replaced, and every queue that had work in it learns why.
#ifndef HETGPU_BACKENDS_CUDA_RECOVERY_H_
#define HETGPU_BACKENDS_CUDA_RECOVERY_H_

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backends/common/driver.h"
#include "backends/cuda/context.h"
#include "backends/cuda/memory.h"

namespace hetgpu::cuda {

// The kernels of a queue that may be running. The driver does not say which
// kernel failed. Thread-safe.
class LaunchLog {
 public:
  // `idle` tells whether all that was launched before has ended; it is asked
  // when that makes a difference.
  template <typename Idle>
  void Add(std::string_view kernel, Idle idle) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const std::string& known : kernels_) {
      if (known == kernel) return;
    }
    if (!kernels_.empty() && idle()) kernels_.clear();
    kernels_.emplace_back(kernel);
  }
  bool Has(std::string_view kernel) const;
  void Clear();
  std::vector<std::string> Kernels() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> kernels_;  // distinct, in order of first launch
};

// Thread-safe. No method may be called while the caller holds a Current.
class Recovery {
 public:
  // `disposable`: the process can be ended, and with it what does not end.
  Recovery(Context& context, Memory& memory, bool disposable)
      : context_(context), memory_(memory), disposable_(disposable) {}

  std::shared_ptr<LaunchLog> NewLog();

  // A call in the context of `generation` gave `result`, a launch failure.
  void OnFault(uint64_t generation, CUresult result);
  // Something runs in that context that must not be waited for.
  void OnRunaway(uint64_t generation, LaunchError error);

  // Why the context of `generation`, which is present no more, was lost. Waits
  // while that is being found out; may be called with a Current.
  LaunchError LossOf(uint64_t generation) const;

 private:
  Context& context_;
  Memory& memory_;
  const bool disposable_;
  bool IsKnown(uint64_t generation) const;
  void Publish(uint64_t generation, LaunchError error);

  std::mutex mutex_;  // held while losing or replacing
  mutable std::mutex losses_mutex_;  // guards losses_ alone
  mutable std::condition_variable published_;
  std::map<uint64_t, LaunchError> losses_;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_RECOVERY_H_
