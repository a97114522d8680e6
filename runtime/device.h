// A device that is present: what it is, and the door to opening it.
#ifndef HETGPU_RUNTIME_DEVICE_H_
#define HETGPU_RUNTIME_DEVICE_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "hetgpu/hetgpu.h"
#include "runtime/handle_table.h"

namespace hetgpu::runtime {

// Immutable and alive for the whole process.
class Device {
 public:
  using Handle = hetgpuDevice;
  static constexpr HandleKind kKind = HandleKind::kDevice;

  Device(Driver* driver, DeviceInfo info, uint32_t ordinal,
         uint32_t backend_ordinal)
      : driver_(driver),
        info_(std::move(info)),
        ordinal_(ordinal),
        backend_ordinal_(backend_ordinal) {}

  void set_handle(Handle handle) { handle_ = handle; }
  Handle handle() const { return handle_; }
  const DeviceInfo& info() const { return info_; }
  uint32_t ordinal() const { return ordinal_; }
  uint32_t backend_ordinal() const { return backend_ordinal_; }

  // A new opening, independent of others: each context has its own, unified
  // ones share one.
  absl::StatusOr<std::unique_ptr<hetgpu::Device>> Open(
      bool unified = false) const {
    OpenOptions options;
    options.unified = unified;
    return driver_->OpenWith(backend_ordinal_, std::move(options));
  }
  // What takes the place of an opening that is lost.
  absl::StatusOr<Reopened> Reopen(hetgpu::Device& lost) const {
    return driver_->Reopen(backend_ordinal_, lost);
  }

 private:
  Driver* driver_;
  DeviceInfo info_;
  uint32_t ordinal_;
  uint32_t backend_ordinal_;
  Handle handle_ = nullptr;
};

// One property as a number; INVALID_VALUE for unknown enumerators.
absl::StatusOr<uint64_t> PropertyOf(const Device& device,
                                    hetgpuDeviceProperty property);

// All properties; strings live as long as the device.
hetgpuDeviceProperties PropertiesOf(const Device& device);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_DEVICE_H_
