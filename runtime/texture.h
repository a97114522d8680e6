// A texture of a context.
#ifndef HETGPU_RUNTIME_TEXTURE_H_
#define HETGPU_RUNTIME_TEXTURE_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/common/texture.h"
#include "hetgpu/hetgpu.h"
#include "runtime/context.h"

namespace hetgpu::runtime {

// INVALID_VALUE names the field. Ranges of memory are not looked at.
absl::StatusOr<TextureDesc> ReadTextureDesc(const hetgpuTextureDesc& desc);

// Threads: any.
class Texture {
 public:
  using Handle = hetgpuTexture;
  static constexpr HandleKind kKind = HandleKind::kTexture;

  // With a handle; known to the context.
  static absl::StatusOr<Handle> Create(std::shared_ptr<Context> context,
                                       const hetgpuTextureDesc& desc);
  Texture(std::shared_ptr<Context> context, const TextureDesc& desc,
          std::unique_ptr<hetgpu::Texture> texture);

  Context& context() const { return *context_; }
  uint64_t kernel_handle() const { return texture_->handle(); }

  absl::Status Write(const void* texels, uint64_t bytes);
  absl::Status Read(void* texels, uint64_t bytes);

 private:
  absl::Status CheckCopy(const void* texels, uint64_t bytes) const;

  const std::shared_ptr<Context> context_;
  const TextureDesc desc_;
  const std::unique_ptr<hetgpu::Texture> texture_;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_TEXTURE_H_
