#ifndef HETGPU_BACKENDS_CPU_KERNEL_H_
#define HETGPU_BACKENDS_CPU_KERNEL_H_

#include <memory>
#include <string>
#include <utility>

#include "backends/common/driver.h"
#include "backends/cpu/image.h"

namespace hetgpu::cpu {

// A loaded image, or code of the process itself (tests).
class CpuKernel final : public Kernel {
 public:
  // `local_bytes`: what a thread declares; counts when the compiler does not
  // know what its frames need.
  CpuKernel(std::unique_ptr<LoadedImage> image, uint32_t local_bytes)
      : image_(std::move(image)), code_(image_->code()) {
    if (code_.stack_bytes < local_bytes) code_.stack_bytes = local_bytes;
  }
  explicit CpuKernel(KernelCode code) : code_(std::move(code)) {}

  std::string Explain() const override;
  const KernelCode& code() const { return code_; }

 private:
  std::unique_ptr<LoadedImage> image_;
  KernelCode code_;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_KERNEL_H_
