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
  explicit CpuKernel(std::unique_ptr<LoadedImage> image)
      : image_(std::move(image)), code_(image_->code()) {}
  explicit CpuKernel(KernelCode code) : code_(std::move(code)) {}

  std::string Explain() const override;
  const KernelCode& code() const { return code_; }

 private:
  std::unique_ptr<LoadedImage> image_;
  KernelCode code_;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_KERNEL_H_
