#include "backends/cpu/kernel.h"

namespace hetgpu::cpu {

std::string CpuKernel::Explain() const {
  std::string text = code_.needs_fibers ? "one fiber per " : "one loop over ";
  text += code_.lanes_per_unit == 1 ? "thread" : "warp";
  if (!code_.needs_fibers) text += "s";
  if (image_ != nullptr && !image_->explanation().empty()) {
    text += ": " + image_->explanation();
  }
  return text;
}

}  // namespace hetgpu::cpu
