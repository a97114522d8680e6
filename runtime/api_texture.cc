// hetgpuTexture….
#include "runtime/api.h"
#include "runtime/texture.h"

using namespace hetgpu::runtime;

extern "C" {

hetgpuResult hetgpuTextureCreate(hetgpuContext context,
                                 const hetgpuTextureDesc* desc,
                                 hetgpuTexture* texture) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(auto found, Lookup<Context>(context));
    HETGPU_RETURN_IF_ERROR(CheckOutput(texture, "texture"));
    HETGPU_ASSIGN_OR_RETURN(const hetgpuTextureDesc read,
                            ReadStruct(desc, "texture"));
    HETGPU_ASSIGN_OR_RETURN(*texture,
                            Texture::Create(std::move(found), read));
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuTextureDestroy(hetgpuTexture texture) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto removed,
                            HandleTable<Texture>::Get().Remove(texture));
    removed->context().Disown(reinterpret_cast<uint64_t>(texture));
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuTextureGetHandle(hetgpuTexture texture, uint64_t* handle) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Texture>(texture));
    HETGPU_RETURN_IF_ERROR(CheckOutput(handle, "texture handle"));
    HETGPU_ASSIGN_OR_RETURN(*handle, found->KernelHandle());
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuTextureWrite(hetgpuTexture texture, const void* texels,
                                uint64_t bytes) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Texture>(texture));
    return found->Write(texels, bytes);
  });
}

hetgpuResult hetgpuTextureRead(hetgpuTexture texture, void* texels,
                               uint64_t bytes) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Texture>(texture));
    return found->Read(texels, bytes);
  });
}

}  // extern "C"
