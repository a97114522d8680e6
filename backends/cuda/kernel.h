#ifndef HETGPU_BACKENDS_CUDA_KERNEL_H_
#define HETGPU_BACKENDS_CUDA_KERNEL_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "backends/common/driver.h"
#include "backends/cuda/context.h"
#include "backends/cuda/image.h"

namespace hetgpu::cuda {

// PTX in the driver: loaded when first used in a context.
class LoadedPtx {
 public:
  // `has_lines`: the program's own text, whose lines failures name.
  LoadedPtx(const Context& context, std::string ptx, std::string name,
            bool has_lines);
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
  const bool has_lines_;
  const bool may_print_;
  std::mutex mutex_;
  CUmodule module_ = nullptr;
  uint64_t generation_ = 0;
};

class CudaKernel final : public Kernel {
 public:
  // `image` for kernels of the recompiled route.
  CudaKernel(std::shared_ptr<LoadedPtx> ptx, std::string name,
             std::string explanation,
             std::optional<ImageHeader> image = std::nullopt)
      : ptx_(std::move(ptx)),
        name_(std::move(name)),
        explanation_(std::move(explanation)),
        image_(std::move(image)) {}

  std::string Explain() const override { return explanation_; }
  bool may_print() const { return ptx_->may_print(); }
  // The function in the present context, ready for `dynamic_shared` bytes.
  absl::StatusOr<CUfunction> Get(const Current& current,
                                 uint32_t dynamic_shared);
  // The same when nothing has to be asked or enqueued for that; null when
  // something has.
  CUfunction Ready(uint64_t generation, uint32_t dynamic_shared);
  // Behind a Get() in the same context: enqueues what must be done before the
  // launch.
  CUresult BeginLaunch(const Current& current, CUstream stream,
                       const LaunchDesc& desc);
  // What the function takes, one pointer into `desc` for each parameter.
  using Arguments = absl::InlinedVector<void*, 32>;
  Arguments ArgumentsOf(const LaunchDesc& desc) const;

 private:
  absl::Status FindCopies(const Library& library, CUmodule module);

  const std::shared_ptr<LoadedPtx> ptx_;
  const std::string name_;
  const std::string explanation_;
  const std::optional<ImageHeader> image_;
  std::mutex mutex_;
  CUfunction function_ = nullptr;
  uint64_t generation_ = 0;
  uint32_t shared_limit_ = 0;  // dynamic bytes the driver was told of
  std::vector<CUdeviceptr> copies_;  // places of image_->const_copies
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_KERNEL_H_
