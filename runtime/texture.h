// A texture of a context.
#ifndef HETGPU_RUNTIME_TEXTURE_H_
#define HETGPU_RUNTIME_TEXTURE_H_

#include <memory>
#include <mutex>

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
  Texture(std::shared_ptr<Context> context, const TextureDesc& desc);

  Context& context() const { return *context_; }
  // Another one after the context has moved; then texels in storage of its own
  // are lost.
  absl::StatusOr<uint64_t> KernelHandle();

  absl::Status Write(const void* texels, uint64_t bytes);
  absl::Status Read(void* texels, uint64_t bytes);

 private:
  absl::Status CheckCopy(const void* texels, uint64_t bytes) const;
  // The texture in the context's opening of now.
  absl::StatusOr<std::shared_ptr<hetgpu::Texture>> OnDevice();

  const std::shared_ptr<Context> context_;
  const TextureDesc desc_;
  std::mutex mutex_;  // guards both below
  std::shared_ptr<hetgpu::Texture> texture_;
  const Opening* opening_ = nullptr;  // of texture_, which keeps it alive
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_TEXTURE_H_
