#ifndef HETGPU_BACKENDS_CUDA_KERNEL_H_
#define HETGPU_BACKENDS_CUDA_KERNEL_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "backends/common/driver.h"
#include "backends/cuda/context.h"

namespace hetgpu::cuda {

// PTX in the driver: loaded when first used in a context.
class LoadedPtx {
 public:
  LoadedPtx(const Context& context, std::string ptx, std::string name);
  ~LoadedPtx();

  // The module in the present context. InvalidArgument with the driver's own
  // log when it refuses the PTX.
  absl::StatusOr<CUmodule> Get(const Current& current);
  const Context& context() const { return context_; }
  const std::string& name() const { return name_; }
  bool may_print() const { return may_print_; }

 private:
  absl::Status Load(const Current& current);

  const Context& context_;
  const std::string ptx_;  // zero-terminated, as the driver wants it
  const std::string name_;
  const bool may_print_;
  std::mutex mutex_;
  CUmodule module_ = nullptr;
  uint64_t generation_ = 0;
};

class CudaKernel final : public Kernel {
 public:
  CudaKernel(std::shared_ptr<LoadedPtx> ptx, std::string name,
             std::string explanation)
      : ptx_(std::move(ptx)),
        name_(std::move(name)),
        explanation_(std::move(explanation)) {}

  std::string Explain() const override { return explanation_; }
  bool may_print() const { return ptx_->may_print(); }
  // The function in the present context, ready for `dynamic_shared` bytes.
  absl::StatusOr<CUfunction> Get(const Current& current,
                                 uint32_t dynamic_shared);

 private:
  const std::shared_ptr<LoadedPtx> ptx_;
  const std::string name_;
  const std::string explanation_;
  std::mutex mutex_;
  CUfunction function_ = nullptr;
  uint64_t generation_ = 0;
  uint32_t shared_limit_ = 0;  // dynamic bytes the driver was told of
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_KERNEL_H_
