#include "tools/common/api_status.h"

#include <string>

namespace hetgpu::tools {
namespace {

using absl::StatusCode;

struct Mapping {
  hetgpuResult result;
  StatusCode code;
};

// What is not listed is internal, and all other launch failures are Aborted.
constexpr Mapping kMappings[] = {
    {HETGPU_ERROR_INVALID_ENVIRONMENT, StatusCode::kInvalidArgument},
    {HETGPU_ERROR_OUT_OF_MEMORY, StatusCode::kResourceExhausted},
    {HETGPU_ERROR_OUT_OF_RESOURCES, StatusCode::kAborted},
    {HETGPU_ERROR_LAUNCH_OUT_OF_MEMORY, StatusCode::kResourceExhausted},
    {HETGPU_ERROR_NO_DEVICE, StatusCode::kUnavailable},
    {HETGPU_ERROR_COMPILER_UNAVAILABLE, StatusCode::kUnavailable},
    {HETGPU_ERROR_NOT_FOUND, StatusCode::kNotFound},
    {HETGPU_ERROR_FILE_UNREADABLE, StatusCode::kNotFound},
    {HETGPU_ERROR_INVALID_MODULE, StatusCode::kDataLoss},
    {HETGPU_ERROR_UNSUPPORTED, StatusCode::kAborted},
    {HETGPU_ERROR_COMPILE_FAILED, StatusCode::kAborted},
    {HETGPU_ERROR_INVALID_CONFIGURATION, StatusCode::kAborted},
    {HETGPU_ERROR_INVALID_ARGUMENTS, StatusCode::kAborted},
    {HETGPU_ERROR_LAUNCH_TIMEOUT, StatusCode::kDeadlineExceeded},
    {HETGPU_ERROR_LAUNCH_CANCELLED, StatusCode::kCancelled},
};

StatusCode CodeOf(hetgpuResult result) {
  for (const Mapping& mapping : kMappings) {
    if (mapping.result == result) return mapping.code;
  }
  return result >= HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS ? StatusCode::kAborted
                                                       : StatusCode::kInternal;
}

}  // namespace

absl::Status ToStatus(hetgpuResult result) {
  if (result == HETGPU_SUCCESS) return absl::OkStatus();
  std::string text = hetgpuGetLastErrorDetail();
  if (text.empty()) text = hetgpuResultString(result);
  return absl::Status(CodeOf(result), text);
}

}  // namespace hetgpu::tools
