#include "backends/null/device.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/null/event.h"
#include "backends/null/kernel.h"
#include "backends/null/queue.h"

namespace hetgpu::null {

NullDevice::NullDevice(DeviceInfo info) : info_(std::move(info)) {}

// Clone: ResourceExhausted names the bytes asked for and the bytes free.
absl::StatusOr<uint64_t> NullDevice::Allocate(uint64_t bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("null: out of memory: ", bytes, " bytes asked for, 0 free"));
}

absl::Status NullDevice::Free(uint64_t address) {
  return absl::InvalidArgumentError(
      absl::StrCat("null: address 0x", absl::Hex(address),
                   " is not the start of an allocation"));
}

uint64_t NullDevice::FreeMemory() const { return 0; }

// Clone: hand the image to the vendor's module loader; what comes back with
// its log belongs in the status.
absl::StatusOr<std::unique_ptr<Kernel>> NullDevice::Load(
    const KernelInfo& info, std::string_view image) {
  return std::unique_ptr<Kernel>(std::make_unique<NullKernel>());
}

absl::StatusOr<std::unique_ptr<Queue>> NullDevice::CreateQueue() {
  return std::unique_ptr<Queue>(std::make_unique<NullQueue>());
}

absl::StatusOr<std::unique_ptr<Event>> NullDevice::CreateEvent() {
  return std::unique_ptr<Event>(std::make_unique<NullEvent>());
}

void NullDevice::SetPrintf(std::function<void(std::string_view)> sink) {
  printf_sink_ = std::move(sink);
}

}  // namespace hetgpu::null
