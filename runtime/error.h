// How a hetgpuResult travels inside the runtime: as an absl::Status whose
// payload is the code, so that everything below the C API uses absl::Status
// alone; and the per-thread records that the C API hands out.
#ifndef HETGPU_RUNTIME_ERROR_H_
#define HETGPU_RUNTIME_ERROR_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "backends/common/driver.h"
#include "hetgpu/hetgpu.h"
#include "runtime/text.h"

namespace hetgpu::runtime {

// A failed status that the C API reports as `result`.
absl::Status MakeError(hetgpuResult result, std::string_view detail);

// MakeError with the pieces of the detail.
template <typename... Pieces>
absl::Status Error(hetgpuResult result, const Pieces&... pieces) {
  return MakeError(result, Cat(pieces...));
}

// The code of a status made by MakeError; for statuses of lower layers the
// nearest code (ResourceExhausted → OUT_OF_MEMORY, …).
hetgpuResult ResultOf(const absl::Status& status);

// `status` with another code and a place before its text.
absl::Status Annotate(hetgpuResult result, std::string_view place,
                      const absl::Status& status);

// The end of every C function: remembers the detail of a failure for this
// thread and returns the code.
hetgpuResult Report(const absl::Status& status);

// Code of a launch failure.
hetgpuResult ResultOf(LaunchError::Kind kind);

// Remembers a failed launch for hetgpuGetLastLaunchError on this thread.
void RememberLaunchError(const LaunchError& error);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_ERROR_H_
