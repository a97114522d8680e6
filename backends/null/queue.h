#ifndef HETGPU_BACKENDS_NULL_QUEUE_H_
#define HETGPU_BACKENDS_NULL_QUEUE_H_

#include "backends/common/driver.h"

namespace hetgpu::null {

// Clone: wraps the vendor's stream. Every command of this one is refused.
class NullQueue final : public Queue {
 public:
  absl::Status Launch(const LaunchDesc& desc) override;
  absl::Status Copy(uint64_t dst, uint64_t src, uint64_t bytes) override;
  absl::Status CopyToDevice(uint64_t dst, const void* src,
                            uint64_t bytes) override;
  absl::Status CopyFromDevice(void* dst, uint64_t src, uint64_t bytes) override;
  absl::Status Fill(uint64_t dst, uint64_t pattern, uint32_t pattern_bytes,
                    uint64_t count) override;
  absl::Status HostFunction(std::function<void()> function) override;
  absl::Status Record(Event* event) override;
  absl::Status Wait(Event* event) override;
  bool Idle() const override { return true; }
  absl::Status Synchronize(LaunchError* error) override;
  void Cancel() override;
};

}  // namespace hetgpu::null

#endif  // HETGPU_BACKENDS_NULL_QUEUE_H_
