// Kernel images (abi.h) in executable memory.
#ifndef HETGPU_BACKENDS_CPU_IMAGE_H_
#define HETGPU_BACKENDS_CPU_IMAGE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/cpu/kernel_code.h"

namespace hetgpu::cpu {

// Owns the mapping of one kernel's code.
class LoadedImage {
 public:
  // `bytes` may be anything: every offset and size is checked, InvalidArgument
  // says what is wrong. The code itself is trusted. `name` is the kernel's.
  static absl::StatusOr<std::unique_ptr<LoadedImage>> Load(
      std::string_view name, std::string_view bytes);
  ~LoadedImage();
  LoadedImage(const LoadedImage&) = delete;
  LoadedImage& operator=(const LoadedImage&) = delete;

  const KernelCode& code() const { return code_; }
  // Why the compiler chose this mode.
  const std::string& explanation() const { return explanation_; }

 private:
  LoadedImage() = default;

  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  KernelCode code_;
  std::string explanation_;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_IMAGE_H_
