#ifndef HETGPU_BACKENDS_CUDA_TEXTURE_H_
#define HETGPU_BACKENDS_CUDA_TEXTURE_H_

#include <memory>

#include "backends/common/texture.h"
#include "backends/cuda/context.h"

namespace hetgpu::cuda {

// A texture object of the driver and, unless it looks at memory, the array
// behind it. Lost with the context that it was made in.
class CudaTexture final : public Texture {
 public:
  static absl::StatusOr<std::unique_ptr<Texture>> Create(
      const Context& context, const TextureDesc& desc);
  ~CudaTexture() override;

  uint64_t handle() const override { return object_; }
  absl::Status Write(const void* texels) override;
  absl::Status Read(void* texels) override;

 private:
  CudaTexture(const Context& context, const TextureDesc& desc)
      : context_(context), desc_(desc) {}
  absl::Status Make(const Current& current);
  CUDA_RESOURCE_DESC Resource() const;
  absl::Status Copy(const CUmemcpy3DEnd& dst, const CUmemcpy3DEnd& src);
  CUmemcpy3DEnd HostEnd(const void* texels) const;
  CUmemcpy3DEnd ArrayEnd() const;

  const Context& context_;
  const TextureDesc desc_;
  uint64_t generation_ = 0;
  CUarray array_ = nullptr;
  CUtexObject object_ = 0;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_TEXTURE_H_
