#include "backends/null/queue.h"

#include "absl/strings/str_cat.h"

namespace hetgpu::null {
namespace {

absl::Status Refuse(const char* command) {
  return absl::UnimplementedError(
      absl::StrCat("null: ", command, ": this backend runs nothing"));
}

}  // namespace

absl::Status NullQueue::Launch(const LaunchDesc& desc) {
  return Refuse("launch");
}

absl::Status NullQueue::Copy(uint64_t dst, uint64_t src, uint64_t bytes) {
  return Refuse("copy");
}

absl::Status NullQueue::CopyToDevice(uint64_t dst, const void* src,
                                     uint64_t bytes) {
  return Refuse("copy to device");
}

absl::Status NullQueue::CopyFromDevice(void* dst, uint64_t src,
                                       uint64_t bytes) {
  return Refuse("copy from device");
}

absl::Status NullQueue::Fill(uint64_t dst, uint64_t pattern,
                             uint32_t pattern_bytes, uint64_t count) {
  return Refuse("fill");
}

absl::Status NullQueue::HostFunction(std::function<void()> function) {
  return Refuse("host function");
}

absl::Status NullQueue::Record(Event* event) { return Refuse("record"); }

absl::Status NullQueue::Wait(Event* event) { return Refuse("wait"); }

// Nothing is ever queued, so there is nothing to wait for or to stop.
absl::Status NullQueue::Synchronize(LaunchError* error) {
  return absl::OkStatus();
}

void NullQueue::Cancel() {}

}  // namespace hetgpu::null
