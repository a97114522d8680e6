#include "backends/cuda/texture.h"

#include <algorithm>
#include <iterator>

#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {
namespace {

int FormatOf(ScalarType type) {
  switch (type) {
    case ScalarType::kU8:
      return CU_AD_FORMAT_UNSIGNED_INT8;
    case ScalarType::kU16:
      return CU_AD_FORMAT_UNSIGNED_INT16;
    case ScalarType::kU32:
      return CU_AD_FORMAT_UNSIGNED_INT32;
    case ScalarType::kS8:
      return CU_AD_FORMAT_SIGNED_INT8;
    case ScalarType::kS16:
      return CU_AD_FORMAT_SIGNED_INT16;
    case ScalarType::kS32:
      return CU_AD_FORMAT_SIGNED_INT32;
    case ScalarType::kF16:
      return CU_AD_FORMAT_HALF;
    default:
      return CU_AD_FORMAT_FLOAT;
  }
}

CUDA_ARRAY3D_DESCRIPTOR ArrayOf(const TextureDesc& desc) {
  CUDA_ARRAY3D_DESCRIPTOR array = {};
  array.width = desc.width;
  array.height = desc.dimensions >= 2 ? desc.height : 0;
  array.depth = desc.dimensions >= 3 ? desc.depth : 0;
  array.format = FormatOf(desc.type);
  array.channels = desc.channels;
  return array;
}

// The enumerators of both modes have the driver's order.
CUDA_TEXTURE_DESC SamplerOf(const TextureDesc& desc) {
  CUDA_TEXTURE_DESC sampler = {};
  for (int i = 0; i < 3; ++i) {
    sampler.address_mode[i] = static_cast<int>(desc.address_mode[i]);
  }
  sampler.filter_mode = static_cast<int>(desc.filter);
  if (!desc.normalized_values) sampler.flags |= kTextureReadAsInteger;
  if (desc.normalized_coordinates) {
    sampler.flags |= kTextureNormalizedCoordinates;
  }
  std::copy(std::begin(desc.border), std::end(desc.border), sampler.border);
  return sampler;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Texture>> CudaTexture::Create(
    const Context& context, const TextureDesc& desc) {
  std::unique_ptr<CudaTexture> texture(new CudaTexture(context, desc));
  const Current current(context);
  if (!current.status().ok()) return current.status();
  texture->generation_ = current.generation();
  const absl::Status status = texture->Make(current);
  if (!status.ok()) {
    // Here, and not when the texture ends, since a Current is held.
    if (texture->array_ != nullptr) {
      current.library().ArrayDestroy(texture->array_);
    }
    texture->generation_ = 0;
    return status;
  }
  return std::unique_ptr<Texture>(std::move(texture));
}

CudaTexture::~CudaTexture() {
  if (generation_ == 0 || Context::HasRunaway()) return;
  const Current current(context_);
  if (!current.status().ok() || current.generation() != generation_) return;
  current.library().TexObjectDestroy(object_);
  if (array_ != nullptr) current.library().ArrayDestroy(array_);
}

absl::Status CudaTexture::Make(const Current& current) {
  const Library& library = current.library();
  if (desc_.memory == 0) {
    const CUDA_ARRAY3D_DESCRIPTOR array = ArrayOf(desc_);
    HETGPU_CUDA_RETURN_IF_ERROR(library, Array3DCreate, (&array_, &array));
  }
  const CUDA_RESOURCE_DESC resource = Resource();
  const CUDA_TEXTURE_DESC sampler = SamplerOf(desc_);
  HETGPU_CUDA_RETURN_IF_ERROR(library, TexObjectCreate,
                              (&object_, &resource, &sampler, nullptr));
  return absl::OkStatus();
}

CUDA_RESOURCE_DESC CudaTexture::Resource() const {
  CUDA_RESOURCE_DESC resource = {};
  if (desc_.memory == 0) {
    resource.type = kResourceArray;
    resource.array = array_;
  } else if (desc_.dimensions == 1) {
    resource.type = kResourceLinear;
    resource.linear = {desc_.memory, FormatOf(desc_.type), desc_.channels,
                       desc_.RowBytes()};
  } else {
    resource.type = kResourcePitched;
    resource.pitched = {desc_.memory, FormatOf(desc_.type), desc_.channels,
                        desc_.width,  desc_.height,         desc_.pitch};
  }
  return resource;
}

CUmemcpy3DEnd CudaTexture::HostEnd(const void* texels) const {
  CUmemcpy3DEnd end = {};
  end.memory_type = kMemoryHost;
  end.host = texels;
  end.pitch = desc_.RowBytes();
  end.height = desc_.height;
  return end;
}

CUmemcpy3DEnd CudaTexture::ArrayEnd() const {
  CUmemcpy3DEnd end = {};
  end.memory_type = kMemoryArray;
  end.array = array_;
  return end;
}

absl::Status CudaTexture::Copy(const CUmemcpy3DEnd& dst,
                               const CUmemcpy3DEnd& src) {
  const Current current(context_);
  if (!current.status().ok()) return current.status();
  if (current.generation() != generation_) {
    return absl::FailedPreconditionError(
        "cuda: the texture was lost with the context that a failed kernel took "
        "away");
  }
  const CUDA_MEMCPY3D copy = {src, dst, desc_.RowBytes(), desc_.height,
                              desc_.depth};
  HETGPU_CUDA_RETURN_IF_ERROR(current.library(), Memcpy3D, (&copy));
  return absl::OkStatus();
}

absl::Status CudaTexture::Write(const void* texels) {
  return Copy(ArrayEnd(), HostEnd(texels));
}

absl::Status CudaTexture::Read(void* texels) {
  return Copy(HostEnd(texels), ArrayEnd());
}

}  // namespace hetgpu::cuda
