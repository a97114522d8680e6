// Functions that a stream calls on the host in its turn.
//
// The driver does not call what is behind a failed kernel, and may call what is
// behind a runaway kernel when everybody has given it up: Drop() makes both
// harmless.
#ifndef HETGPU_BACKENDS_CUDA_HOST_WORK_H_
#define HETGPU_BACKENDS_CUDA_HOST_WORK_H_

#include <functional>
#include <memory>

#include "backends/cuda/context.h"

namespace hetgpu::cuda {

// Enqueue() and Drop() from one thread at a time.
class HostWork {
 public:
  HostWork();
  CUresult Enqueue(const Current& current, CUstream stream,
                   std::function<void()> function);
  // What has not begun will never run; waits for what runs.
  void Drop();

 private:
  struct State;
  struct Item;
  static void Call(void* item);

  std::shared_ptr<State> state_;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_HOST_WORK_H_
