#include "runtime/stream.h"

#include <utility>

#include "runtime/counters.h"
#include "runtime/error.h"
#include "runtime/event.h"
#include "runtime/function.h"
#include "runtime/status_macros.h"
#include "runtime/traced_queue.h"

namespace hetgpu::runtime {
namespace {

absl::Status CheckHost(const void* pointer, std::string_view what) {
  if (pointer != nullptr) return absl::OkStatus();
  return Error(HETGPU_ERROR_INVALID_VALUE, what, ": null host pointer");
}

bool Overlap(uint64_t a, uint64_t b, uint64_t bytes) {
  return a < b ? b - a < bytes : a - b < bytes;
}

absl::Status CheckFill(uint64_t dst, uint32_t pattern_bytes, uint64_t count) {
  if (pattern_bytes != 1 && pattern_bytes != 2 && pattern_bytes != 4 &&
      pattern_bytes != 8) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "fill: pattern of ", pattern_bytes,
                 " bytes, expected 1, 2, 4 or 8");
  }
  if (dst % pattern_bytes != 0) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "fill: address 0x", absl::Hex(dst),
                 " is not a multiple of the pattern's ", pattern_bytes,
                 " bytes");
  }
  if (count > UINT64_MAX / pattern_bytes) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "fill: ", count, " times ",
                 pattern_bytes, " bytes overflows");
  }
  return absl::OkStatus();
}

}  // namespace

Stream::Stream(std::shared_ptr<Context> context,
               std::unique_ptr<hetgpu::Queue> queue)
    : context_(std::move(context)), queue_(std::move(queue)) {}

Stream::~Stream() { Settle(); }

absl::StatusOr<std::shared_ptr<Stream>> Stream::Create(
    std::shared_ptr<Context> context) {
  HETGPU_ASSIGN_OR_RETURN(auto queue, context->backend().CreateQueue());
  queue = WithTrace(context->trace_process(), context->backend(),
                    std::move(queue));
  std::shared_ptr<Stream> stream(
      new Stream(std::move(context), std::move(queue)));
  HETGPU_ASSIGN_OR_RETURN(stream->handle_, stream->context_->Adopt(stream));
  stream->context_->AddStream(stream);
  return stream;
}

absl::Status Stream::CopyToDevice(uint64_t dst, const void* src,
                                  uint64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  HETGPU_RETURN_IF_ERROR(CheckHost(src, "copy to device, source"));
  HETGPU_RETURN_IF_ERROR(context_->allocations().CheckRange(
      "copy to device, destination", dst, bytes));
  HETGPU_RETURN_IF_ERROR(queue_->CopyToDevice(dst, src, bytes));
  Count(HETGPU_COUNTER_BYTES_TO_DEVICE, bytes);
  return absl::OkStatus();
}

absl::Status Stream::CopyFromDevice(void* dst, uint64_t src, uint64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  HETGPU_RETURN_IF_ERROR(CheckHost(dst, "copy from device, destination"));
  HETGPU_RETURN_IF_ERROR(context_->allocations().CheckRange(
      "copy from device, source", src, bytes));
  HETGPU_RETURN_IF_ERROR(queue_->CopyFromDevice(dst, src, bytes));
  Count(HETGPU_COUNTER_BYTES_FROM_DEVICE, bytes);
  return absl::OkStatus();
}

absl::Status Stream::Copy(uint64_t dst, uint64_t src, uint64_t bytes) {
  if (bytes == 0) return absl::OkStatus();
  const AllocationTable& allocations = context_->allocations();
  HETGPU_RETURN_IF_ERROR(
      allocations.CheckRange("copy on device, source", src, bytes));
  HETGPU_RETURN_IF_ERROR(
      allocations.CheckRange("copy on device, destination", dst, bytes));
  if (Overlap(dst, src, bytes)) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "copy on device: ", bytes,
                 " bytes at 0x", absl::Hex(src), " and 0x", absl::Hex(dst),
                 " overlap");
  }
  HETGPU_RETURN_IF_ERROR(queue_->Copy(dst, src, bytes));
  Count(HETGPU_COUNTER_BYTES_ON_DEVICE, bytes);
  return absl::OkStatus();
}

absl::Status Stream::Fill(uint64_t dst, uint64_t pattern,
                          uint32_t pattern_bytes, uint64_t count) {
  HETGPU_RETURN_IF_ERROR(CheckFill(dst, pattern_bytes, count));
  if (count == 0) return absl::OkStatus();
  HETGPU_RETURN_IF_ERROR(context_->allocations().CheckRange(
      "fill, destination", dst, count * pattern_bytes));
  HETGPU_RETURN_IF_ERROR(queue_->Fill(dst, pattern, pattern_bytes, count));
  Count(HETGPU_COUNTER_BYTES_ON_DEVICE, count * pattern_bytes);
  return absl::OkStatus();
}

absl::Status Stream::HostFunction(hetgpuHostFunction function, void* user) {
  if (function == nullptr) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "host function: null function");
  }
  return queue_->HostFunction([function, user] { function(user); });
}

absl::Status Stream::Launch(LaunchDesc desc,
                            std::shared_ptr<Function> function) {
  {
    std::lock_guard lock(mutex_);
    in_flight_.insert(std::move(function));
  }
  HETGPU_RETURN_IF_ERROR(queue_->Launch(std::move(desc)));
  Count(HETGPU_COUNTER_LAUNCHES);
  return absl::OkStatus();
}

absl::Status Stream::Record(Event& event) { return event.Record(*queue_); }

absl::Status Stream::Wait(Event& event) { return event.Delay(*queue_); }

void Stream::Settle() {
  std::set<std::shared_ptr<Function>> passed;
  {
    std::lock_guard lock(mutex_);
    passed = in_flight_;
  }
  LaunchError error;
  absl::Status status = queue_->Synchronize(&error);
  std::lock_guard lock(mutex_);
  // Another thread may have launched one of these again meanwhile; then the
  // queue is not idle and they stay.
  if (queue_->Idle()) {
    for (const auto& function : passed) in_flight_.erase(function);
  }
  if (status.ok() || failure_) return;
  failure_.emplace();
  if (error.kind == LaunchError::Kind::kNone) {
    failure_->status = std::move(status);
    return;
  }
  failure_->status = Error(ResultOf(error.kind), status.message());
  failure_->launch = std::move(error);
}

absl::Status Stream::TakeFailure() {
  std::lock_guard lock(mutex_);
  if (!failure_) return absl::OkStatus();
  if (failure_->launch) RememberLaunchError(*failure_->launch);
  absl::Status status = std::move(failure_->status);
  failure_.reset();
  return status;
}

absl::Status Stream::Synchronize() {
  Settle();
  return TakeFailure();
}

absl::Status Stream::Query() {
  if (!queue_->Idle()) {
    return Error(HETGPU_ERROR_NOT_READY, "stream has work in flight");
  }
  return Synchronize();
}

void Stream::Cancel() { queue_->Cancel(); }

}  // namespace hetgpu::runtime
