#include "backends/null/kernel.h"

namespace hetgpu::null {

std::string NullKernel::Explain() const {
  return "null: kernels are loaded and never run";
}

}  // namespace hetgpu::null
