#include "backends/cuda/status_util.h"

#include "absl/strings/str_cat.h"

namespace hetgpu::cuda {
namespace {

struct Row {
  CUresult result;
  LaunchError::Kind kind;
};

constexpr Row kLaunchFailures[] = {
    {CUDA_ERROR_ILLEGAL_ADDRESS, LaunchError::Kind::kIllegalAddress},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, LaunchError::Kind::kIllegalAddress},
    {CUDA_ERROR_MISALIGNED_ADDRESS, LaunchError::Kind::kMisalignedAddress},
    {CUDA_ERROR_ASSERT, LaunchError::Kind::kAssert},
    {CUDA_ERROR_LAUNCH_TIMEOUT, LaunchError::Kind::kTimeout},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, LaunchError::Kind::kStackOverflow},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, LaunchError::Kind::kInvalidInstruction},
    {CUDA_ERROR_INVALID_PC, LaunchError::Kind::kInvalidInstruction},
    // What the driver says of a trap, among others.
    {CUDA_ERROR_LAUNCH_FAILED, LaunchError::Kind::kTrap},
};

absl::StatusCode CodeOf(CUresult result) {
  switch (result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
      return absl::StatusCode::kResourceExhausted;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_PTX:
      return absl::StatusCode::kInvalidArgument;
    case CUDA_ERROR_NOT_SUPPORTED:
      return absl::StatusCode::kUnimplemented;
    case CUDA_ERROR_NOT_FOUND:
      return absl::StatusCode::kNotFound;
    case CUDA_ERROR_NO_DEVICE:
      return absl::StatusCode::kUnavailable;
    default:
      return LaunchFailure(result) == LaunchError::Kind::kNone
                 ? absl::StatusCode::kInternal
                 : absl::StatusCode::kAborted;
  }
}

}  // namespace

absl::Status ToStatus(const Library& library, CUresult result,
                      const char* call) {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  const char* name = nullptr;
  const char* text = nullptr;
  library.GetErrorName(result, &name);
  library.GetErrorString(result, &text);
  return absl::Status(
      CodeOf(result),
      absl::StrCat("cuda: ", call, ": ",
                   name != nullptr ? name : absl::StrCat("error ", result),
                   text != nullptr ? absl::StrCat(" (", text, ")") : ""));
}

LaunchError::Kind LaunchFailure(CUresult result) {
  for (const Row& row : kLaunchFailures) {
    if (row.result == result) return row.kind;
  }
  return LaunchError::Kind::kNone;
}

}  // namespace hetgpu::cuda
