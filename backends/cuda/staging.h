// Pinned host memory through which a queue copies from and to pageable memory
// behind work that is still running. The driver's own copies would make the
// caller wait for that work.
#ifndef HETGPU_BACKENDS_CUDA_STAGING_H_
#define HETGPU_BACKENDS_CUDA_STAGING_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/cuda/context.h"
#include "backends/cuda/host_work.h"

namespace hetgpu::cuda {

// One buffer, used by the commands of one stream in their order.
class Staging {
 public:
  // In pieces: the host fills the buffer, the device takes it.
  CUresult CopyToDevice(const Current& current, CUstream stream,
                        HostWork& host_work, uint64_t dst, const void* src,
                        uint64_t bytes);
  CUresult CopyFromDevice(const Current& current, CUstream stream,
                          HostWork& host_work, void* dst, uint64_t src,
                          uint64_t bytes);
  // The stream is idle and the context present.
  void Release(const Current& current);
  // The context is gone; a runaway kernel's copies may still use the buffer.
  void Forget() { buffer_ = nullptr; }

 private:
  CUresult Prepare(const Current& current);

  void* buffer_ = nullptr;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_STAGING_H_
