#ifndef HETGPU_BACKENDS_NULL_EVENT_H_
#define HETGPU_BACKENDS_NULL_EVENT_H_

#include "backends/common/driver.h"

namespace hetgpu::null {

// Clone: wraps the vendor's event. One that was never recorded is done.
class NullEvent final : public Event {
 public:
  bool Done() const override { return true; }
  absl::Status Wait() override { return absl::OkStatus(); }
  uint64_t TimestampNs() const override;
};

}  // namespace hetgpu::null

#endif  // HETGPU_BACKENDS_NULL_EVENT_H_
