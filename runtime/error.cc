#include "runtime/error.h"

#include <charconv>
#include <optional>
#include <utility>

#include "absl/strings/cord.h"
#include "runtime/struct_size.h"

namespace hetgpu::runtime {
namespace {

constexpr char kPayloadUrl[] = "hetgpu/result";

struct ResultRow {
  hetgpuResult code;
  const char* name;
  const char* text;
};

#define HETGPU_ROW(code, text) \
  { code, #code, text }
constexpr ResultRow kResults[] = {
    HETGPU_ROW(HETGPU_SUCCESS, "success"),
    HETGPU_ROW(HETGPU_ERROR_INVALID_VALUE, "invalid value"),
    HETGPU_ROW(HETGPU_ERROR_INVALID_HANDLE,
               "null, destroyed or foreign handle"),
    HETGPU_ROW(HETGPU_ERROR_WRONG_CONTEXT,
               "objects of different contexts in one call"),
    HETGPU_ROW(HETGPU_ERROR_INVALID_ENVIRONMENT,
               "environment variable with an unknown value"),
    HETGPU_ROW(HETGPU_ERROR_OUT_OF_MEMORY, "out of device memory"),
    HETGPU_ROW(HETGPU_ERROR_NO_DEVICE, "no such device"),
    HETGPU_ROW(HETGPU_ERROR_UNSUPPORTED, "not supported"),
    HETGPU_ROW(HETGPU_ERROR_NOT_FOUND, "name or index not found"),
    HETGPU_ROW(HETGPU_ERROR_NOT_READY, "work has not completed"),
    HETGPU_ROW(HETGPU_ERROR_INTERNAL, "internal error"),
    HETGPU_ROW(HETGPU_ERROR_INVALID_ADDRESS,
               "address in no allocation of the context"),
    HETGPU_ROW(HETGPU_ERROR_DOUBLE_FREE, "allocation freed twice"),
    HETGPU_ROW(HETGPU_ERROR_INTERIOR_POINTER,
               "address inside an allocation where its start is needed"),
    HETGPU_ROW(HETGPU_ERROR_USE_AFTER_FREE, "address in a freed allocation"),
    HETGPU_ROW(HETGPU_ERROR_OUT_OF_RANGE,
               "range past the end of its allocation"),
    HETGPU_ROW(HETGPU_ERROR_FILE_UNREADABLE, "file cannot be read"),
    HETGPU_ROW(HETGPU_ERROR_INVALID_MODULE,
               "not a valid PTX text or hetIR container"),
    HETGPU_ROW(HETGPU_ERROR_COMPILER_UNAVAILABLE,
               "compiler library missing or not fitting"),
    HETGPU_ROW(HETGPU_ERROR_COMPILE_FAILED, "kernel does not compile"),
    HETGPU_ROW(HETGPU_ERROR_INVALID_CONFIGURATION,
               "invalid grid or block dimensions"),
    HETGPU_ROW(HETGPU_ERROR_OUT_OF_RESOURCES,
               "more shared memory than the device has per block"),
    HETGPU_ROW(HETGPU_ERROR_INVALID_ARGUMENTS,
               "wrong number or size of kernel arguments"),
    HETGPU_ROW(HETGPU_ERROR_WORKING_SET_TOO_LARGE,
               "memory used at once does not fit on the device"),
    HETGPU_ROW(HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS,
               "kernel accessed an illegal address"),
    HETGPU_ROW(HETGPU_ERROR_LAUNCH_MISALIGNED_ADDRESS,
               "kernel accessed a misaligned address"),
    HETGPU_ROW(HETGPU_ERROR_LAUNCH_TRAP, "kernel executed a trap"),
    HETGPU_ROW(HETGPU_ERROR_LAUNCH_ASSERT, "assertion in a kernel failed"),
    HETGPU_ROW(HETGPU_ERROR_LAUNCH_STACK_OVERFLOW,
               "kernel overflowed its stack"),
    HETGPU_ROW(HETGPU_ERROR_LAUNCH_DEADLOCK,
               "threads of a kernel wait for each other forever"),
    HETGPU_ROW(HETGPU_ERROR_LAUNCH_TIMEOUT, "launch ran past its time limit"),
    HETGPU_ROW(HETGPU_ERROR_LAUNCH_CANCELLED, "launch was cancelled"),
    HETGPU_ROW(HETGPU_ERROR_LAUNCH_INVALID_INSTRUCTION,
               "kernel executed an invalid instruction"),
    HETGPU_ROW(HETGPU_ERROR_LAUNCH_OUT_OF_MEMORY, "launch ran out of memory"),
    HETGPU_ROW(HETGPU_ERROR_LAUNCH_FAILED, "launch failed"),
};
#undef HETGPU_ROW

const ResultRow* FindRow(hetgpuResult result) {
  for (const ResultRow& row : kResults) {
    if (row.code == result) return &row;
  }
  return nullptr;
}

absl::StatusCode CanonicalCode(hetgpuResult result) {
  switch (result) {
    case HETGPU_ERROR_NO_DEVICE:
    case HETGPU_ERROR_COMPILER_UNAVAILABLE:
      return absl::StatusCode::kUnavailable;
    case HETGPU_ERROR_OUT_OF_MEMORY:
      return absl::StatusCode::kResourceExhausted;
    case HETGPU_ERROR_UNSUPPORTED:
      return absl::StatusCode::kUnimplemented;
    case HETGPU_ERROR_NOT_FOUND:
      return absl::StatusCode::kNotFound;
    case HETGPU_ERROR_INTERNAL:
      return absl::StatusCode::kInternal;
    default:
      return result >= HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS
                 ? absl::StatusCode::kAborted
                 : absl::StatusCode::kInvalidArgument;
  }
}

thread_local std::string last_detail;

struct RememberedLaunchError {
  LaunchError error;
  std::string text;
};
thread_local std::optional<RememberedLaunchError> last_launch_error;

hetgpuDim3 ToApi(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }

hetgpuLaunchErrorInfo ToApi(const RememberedLaunchError& remembered) {
  const LaunchError& error = remembered.error;
  hetgpuLaunchErrorInfo info = {};
  info.kind = ResultOf(error.kind);
  info.has_thread = error.has_thread;
  info.block = ToApi(error.block);
  info.thread = ToApi(error.thread);
  info.line = error.line;
  info.address = error.address;
  info.kernel = error.kernel.c_str();
  info.text = remembered.text.c_str();
  return info;
}

hetgpuLaunchErrorInfo NoLaunchError() {
  hetgpuLaunchErrorInfo info = {};
  info.kind = HETGPU_SUCCESS;
  info.kernel = "";
  info.text = "";
  return info;
}

}  // namespace

absl::Status MakeError(hetgpuResult result, std::string_view detail) {
  absl::Status status(CanonicalCode(result), ToAbsl(detail));
  // Not from a std::string: clang and GCC name that constructor differently.
  const std::string code = Cat(static_cast<int>(result));
  status.SetPayload(kPayloadUrl, absl::Cord(absl::string_view(code)));
  return status;
}

hetgpuResult ResultOf(const absl::Status& status) {
  if (status.ok()) return HETGPU_SUCCESS;
  if (auto payload = status.GetPayload(kPayloadUrl)) {
    const std::string text(*payload);
    int code = HETGPU_ERROR_INTERNAL;
    std::from_chars(text.data(), text.data() + text.size(), code);
    return static_cast<hetgpuResult>(code);
  }
  switch (status.code()) {
    case absl::StatusCode::kResourceExhausted:
      return HETGPU_ERROR_OUT_OF_MEMORY;
    case absl::StatusCode::kUnavailable:
      return HETGPU_ERROR_NO_DEVICE;
    case absl::StatusCode::kUnimplemented:
      return HETGPU_ERROR_UNSUPPORTED;
    case absl::StatusCode::kNotFound:
      return HETGPU_ERROR_NOT_FOUND;
    case absl::StatusCode::kAborted:
      return HETGPU_ERROR_LAUNCH_FAILED;
    default:
      return HETGPU_ERROR_INTERNAL;
  }
}

absl::Status Annotate(hetgpuResult result, std::string_view place,
                      const absl::Status& status) {
  return Error(result, place, place.empty() ? "" : ": ", status.message());
}

hetgpuResult Report(const absl::Status& status) {
  if (status.ok()) return HETGPU_SUCCESS;
  const hetgpuResult result = ResultOf(status);
  if (result != HETGPU_ERROR_NOT_READY) {
    last_detail.assign(status.message().data(), status.message().size());
  }
  return result;
}

hetgpuResult ResultOf(LaunchError::Kind kind) {
  using Kind = LaunchError::Kind;
  switch (kind) {
    case Kind::kNone:
      return HETGPU_ERROR_LAUNCH_FAILED;
    case Kind::kIllegalAddress:
      return HETGPU_ERROR_LAUNCH_ILLEGAL_ADDRESS;
    case Kind::kMisalignedAddress:
      return HETGPU_ERROR_LAUNCH_MISALIGNED_ADDRESS;
    case Kind::kTrap:
      return HETGPU_ERROR_LAUNCH_TRAP;
    case Kind::kAssert:
      return HETGPU_ERROR_LAUNCH_ASSERT;
    case Kind::kStackOverflow:
      return HETGPU_ERROR_LAUNCH_STACK_OVERFLOW;
    case Kind::kDeadlock:
      return HETGPU_ERROR_LAUNCH_DEADLOCK;
    case Kind::kTimeout:
      return HETGPU_ERROR_LAUNCH_TIMEOUT;
    case Kind::kCancelled:
      return HETGPU_ERROR_LAUNCH_CANCELLED;
    case Kind::kInvalidInstruction:
      return HETGPU_ERROR_LAUNCH_INVALID_INSTRUCTION;
    case Kind::kOutOfMemory:
      return HETGPU_ERROR_LAUNCH_OUT_OF_MEMORY;
  }
  return HETGPU_ERROR_LAUNCH_FAILED;
}

void RememberLaunchError(const LaunchError& error) {
  last_launch_error = {error, Describe(error)};
}

}  // namespace hetgpu::runtime

extern "C" {

const char* hetgpuResultName(hetgpuResult result) {
  const auto* row = hetgpu::runtime::FindRow(result);
  return row ? row->name : "HETGPU_ERROR_UNKNOWN";
}

const char* hetgpuResultString(hetgpuResult result) {
  const auto* row = hetgpu::runtime::FindRow(result);
  return row ? row->text : "unknown result code";
}

const char* hetgpuGetLastErrorDetail(void) {
  return hetgpu::runtime::last_detail.c_str();
}

hetgpuResult hetgpuGetLastLaunchError(hetgpuLaunchErrorInfo* info) {
  using namespace hetgpu::runtime;
  const auto& last = last_launch_error;
  return Report(FillStruct(info, last ? ToApi(*last) : NoLaunchError(),
                           "launch error info"));
}

}  // extern "C"
