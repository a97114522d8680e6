#ifndef HETGPU_BACKENDS_NULL_DEVICE_H_
#define HETGPU_BACKENDS_NULL_DEVICE_H_

#include <memory>

#include "backends/common/driver.h"

namespace hetgpu::null {

// Clone: owns the vendor's context; everything it creates keeps a reference.
class NullDevice final : public Device {
 public:
  explicit NullDevice(DeviceInfo info);

  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<uint64_t> Allocate(uint64_t bytes) override;
  absl::Status Free(uint64_t address) override;
  uint64_t FreeMemory() const override;
  absl::StatusOr<std::unique_ptr<Kernel>> Load(const KernelInfo& info,
                                               std::string_view image) override;
  absl::StatusOr<std::unique_ptr<Queue>> CreateQueue() override;
  absl::StatusOr<std::unique_ptr<Event>> CreateEvent() override;
  void SetPrintf(std::function<void(std::string_view)> sink) override;

 private:
  DeviceInfo info_;
  std::function<void(std::string_view)> printf_sink_;
};

}  // namespace hetgpu::null

#endif  // HETGPU_BACKENDS_NULL_DEVICE_H_
