#ifndef HETGPU_BACKENDS_NULL_KERNEL_H_
#define HETGPU_BACKENDS_NULL_KERNEL_H_

#include "backends/common/driver.h"

namespace hetgpu::null {

// Clone: owns the vendor's module and function handles.
class NullKernel final : public Kernel {
 public:
  std::string Explain() const override;
};

}  // namespace hetgpu::null

#endif  // HETGPU_BACKENDS_NULL_KERNEL_H_
