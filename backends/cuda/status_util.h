// CUDA result codes as statuses and launch errors.
#ifndef HETGPU_BACKENDS_CUDA_STATUS_UTIL_H_
#define HETGPU_BACKENDS_CUDA_STATUS_UTIL_H_

#include "absl/status/status.h"
#include "backends/common/driver.h"
#include "backends/cuda/library.h"

namespace hetgpu::cuda {

// OK, or "cuda: cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (out of memory)".
absl::Status ToStatus(const Library& library, CUresult result,
                      const char* call);

// The failure of a kernel that a result stands for; kNone when it stands for
// none. After such a result the context is unusable.
LaunchError::Kind LaunchFailure(CUresult result);

}  // namespace hetgpu::cuda

// Returns the status of a failed driver call from the enclosing function.
#define HETGPU_CUDA_RETURN_IF_ERROR(library, name, arguments)            \
  do {                                                                   \
    const ::hetgpu::cuda::CUresult hetgpu_result =                       \
        (library).name arguments;                                        \
    if (hetgpu_result != ::hetgpu::cuda::CUDA_SUCCESS) {                 \
      return ::hetgpu::cuda::ToStatus(library, hetgpu_result, "cu" #name); \
    }                                                                    \
  } while (false)

#endif  // HETGPU_BACKENDS_CUDA_STATUS_UTIL_H_
