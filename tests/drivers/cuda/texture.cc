// Arrays and texture objects: their lifetimes and copies; kernels do not sample.
#include <algorithm>
#include <cstring>

#include "tests/drivers/cuda/state.h"

namespace hetgpu::cuda {

struct CUarray_st {
  CUDA_ARRAY3D_DESCRIPTOR desc = {};
  std::vector<char> texels;
};

namespace fake {
namespace {

std::set<CUarray> arrays;  // guarded by the state's mutex, like all below
std::map<CUtexObject, CUarray> textures;
CUtexObject next_texture = 1;

size_t ChannelBytes(int format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      return 4;
  }
  return 0;
}

size_t TexelBytes(int format, unsigned channels) {
  const bool allowed = channels == 1 || channels == 2 || channels == 4;
  return allowed ? ChannelBytes(format) * channels : 0;
}

bool IsWholeArray(const CUDA_MEMCPY3D& copy, const CUmemcpy3DEnd& end) {
  if (arrays.count(end.array) == 0) return false;
  const CUDA_ARRAY3D_DESCRIPTOR& desc = end.array->desc;
  return end.x_bytes == 0 && end.y == 0 && end.z == 0 &&
         copy.width_bytes ==
             desc.width * TexelBytes(desc.format, desc.channels) &&
         copy.height == std::max<size_t>(desc.height, 1) &&
         copy.depth == std::max<size_t>(desc.depth, 1);
}

bool IsResource(const CUDA_RESOURCE_DESC& resource) {
  const CUdevice device = CurrentContext()->device;
  switch (resource.type) {
    case kResourceArray:
      return arrays.count(resource.array) != 0;
    case kResourceLinear:
      return TexelBytes(resource.linear.format, resource.linear.channels) != 0 &&
             IsAccessible(device, resource.linear.address,
                          resource.linear.bytes);
    case kResourcePitched:
      return resource.pitched.pitch % 32 == 0 &&
             IsAccessible(device, resource.pitched.address,
                          resource.pitched.pitch * resource.pitched.height);
  }
  return false;
}

}  // namespace

uint64_t TextureCount() { return arrays.size() + textures.size(); }

CUresult Array3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* desc) {
  FAKE_ENTER("cuArray3DCreate_v2", true);
  const size_t texel = TexelBytes(desc->format, desc->channels);
  if (texel == 0 || desc->width == 0 || desc->flags != 0 ||
      (desc->depth != 0 && desc->height == 0)) {
    return Misuse("cuArray3DCreate_v2");
  }
  *array = new CUarray_st{*desc, {}};
  (*array)->texels.resize(texel * desc->width *
                          std::max<size_t>(desc->height, 1) *
                          std::max<size_t>(desc->depth, 1));
  arrays.insert(*array);
  return CUDA_SUCCESS;
}

CUresult ArrayDestroy(CUarray array) {
  FAKE_ENTER("cuArrayDestroy", true);
  for (const auto& [texture, used] : textures) {
    if (used == array) return Misuse("cuArrayDestroy");
  }
  if (arrays.erase(array) == 0) return Misuse("cuArrayDestroy");
  delete array;
  return CUDA_SUCCESS;
}

CUresult Memcpy3D(const CUDA_MEMCPY3D* copy) {
  FAKE_ENTER("cuMemcpy3D_v2", true);
  const bool write = copy->dst.memory_type == kMemoryArray;
  const CUmemcpy3DEnd& device = write ? copy->dst : copy->src;
  const CUmemcpy3DEnd& host = write ? copy->src : copy->dst;
  if (host.memory_type != kMemoryHost || !IsWholeArray(*copy, device) ||
      host.pitch != copy->width_bytes || host.height != copy->height) {
    return Misuse("cuMemcpy3D_v2");
  }
  std::vector<char>& texels = device.array->texels;
  if (write) {
    std::memcpy(texels.data(), host.host, texels.size());
  } else {
    std::memcpy(const_cast<void*>(host.host), texels.data(), texels.size());
  }
  return CUDA_SUCCESS;
}

CUresult TexObjectCreate(CUtexObject* texture,
                         const CUDA_RESOURCE_DESC* resource,
                         const CUDA_TEXTURE_DESC* sampler, const void* view) {
  FAKE_ENTER("cuTexObjectCreate", true);
  if (!IsResource(*resource) || resource->flags != 0 || view != nullptr ||
      sampler->filter_mode > 1) {
    return Misuse("cuTexObjectCreate");
  }
  *texture = next_texture++;
  textures[*texture] =
      resource->type == kResourceArray ? resource->array : nullptr;
  return CUDA_SUCCESS;
}

CUresult TexObjectDestroy(CUtexObject texture) {
  FAKE_ENTER("cuTexObjectDestroy", true);
  if (textures.erase(texture) == 0) return Misuse("cuTexObjectDestroy");
  return CUDA_SUCCESS;
}

}  // namespace fake
}  // namespace hetgpu::cuda
