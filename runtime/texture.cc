#include "runtime/texture.h"

#include <algorithm>
#include <utility>

#include "runtime/error.h"
#include "runtime/status_macros.h"

namespace hetgpu::runtime {
namespace {

// What every GPU aligns texels in memory to.
constexpr uint64_t kMemoryAlign = 512;
constexpr uint64_t kPitchAlign = 32;
// No device has larger ones; products of three cannot overflow.
constexpr uint64_t kMaxExtent = uint64_t{1} << 20;
constexpr uint64_t kMaxLinear = uint64_t{1} << 28;

template <typename... Text>
absl::Status Bad(const Text&... text) {
  return Error(HETGPU_ERROR_INVALID_VALUE, "texture: ", text...);
}

bool IsInteger(hetgpuType type) {
  return type >= HETGPU_TYPE_U8 && type <= HETGPU_TYPE_S32 &&
         type != HETGPU_TYPE_U64;
}

absl::Status CheckTexel(const hetgpuTextureDesc& desc) {
  if (!IsInteger(desc.type) && desc.type != HETGPU_TYPE_F16 &&
      desc.type != HETGPU_TYPE_F32) {
    return Bad("type ", hetgpuTypeName(desc.type),
               ", expected u8, u16, u32, s8, s16, s32, f16 or f32");
  }
  if (desc.channels != 1 && desc.channels != 2 && desc.channels != 4) {
    return Bad(desc.channels, " channels, expected 1, 2 or 4");
  }
  const bool narrow = IsInteger(desc.type) && hetgpuTypeSize(desc.type) <= 2;
  if (desc.normalized_values > 1 || (desc.normalized_values == 1 && !narrow)) {
    return Bad("normalized_values ", desc.normalized_values, " with type ",
               hetgpuTypeName(desc.type),
               ", expected 0, or 1 with integers of 8 or 16 bits");
  }
  return absl::OkStatus();
}

absl::Status CheckExtents(const hetgpuTextureDesc& desc) {
  if (desc.dimensions < 1 || desc.dimensions > 3) {
    return Bad(desc.dimensions, " dimensions, expected 1 to 3");
  }
  const std::pair<const char*, uint64_t> extents[] = {
      {"width", desc.width}, {"height", desc.height}, {"depth", desc.depth}};
  const bool linear = desc.memory != 0 && desc.dimensions == 1;
  const uint64_t most = linear ? kMaxLinear : kMaxExtent;
  for (uint32_t i = 0; i < 3; ++i) {
    const auto& [name, extent] = extents[i];
    const bool used = i < desc.dimensions;
    if (used ? extent >= 1 && extent <= most : extent == 0) continue;
    return Bad(name, " ", extent, " with ", desc.dimensions,
               " dimension(s), expected ",
               used ? Cat("1 to ", most) : std::string("0"));
  }
  return absl::OkStatus();
}

absl::Status CheckMemory(const hetgpuTextureDesc& desc) {
  if (desc.memory == 0) {
    return desc.pitch == 0 ? absl::OkStatus()
                           : Bad("pitch ", desc.pitch, " without memory");
  }
  if (desc.dimensions == 3) return Bad("memory with 3 dimensions");
  if (desc.memory % kMemoryAlign != 0) {
    return Bad("memory 0x", absl::Hex(desc.memory),
               " is not a multiple of ", kMemoryAlign);
  }
  if (desc.dimensions == 1) {
    return desc.pitch == 0 ? absl::OkStatus()
                           : Bad("pitch ", desc.pitch, " with 1 dimension");
  }
  const uint64_t row =
      desc.width * desc.channels * hetgpuTypeSize(desc.type);
  if (desc.pitch % kPitchAlign != 0 || desc.pitch < row ||
      desc.pitch > UINT32_MAX) {
    return Bad("pitch ", desc.pitch, ", expected a multiple of ", kPitchAlign,
               " from ", row);
  }
  return absl::OkStatus();
}

absl::Status CheckSampling(const hetgpuTextureDesc& desc) {
  for (const hetgpuTextureAddressMode mode : desc.address_mode) {
    if (static_cast<unsigned>(mode) > HETGPU_TEXTURE_ADDRESS_BORDER) {
      return Bad("address mode ", static_cast<int>(mode), " does not exist");
    }
  }
  if (static_cast<unsigned>(desc.filter) > HETGPU_TEXTURE_FILTER_LINEAR) {
    return Bad("filter ", static_cast<int>(desc.filter), " does not exist");
  }
  if (desc.normalized_coordinates > 1) {
    return Bad("normalized_coordinates ", desc.normalized_coordinates,
               ", expected 0 or 1");
  }
  if (desc.filter != HETGPU_TEXTURE_FILTER_LINEAR) return absl::OkStatus();
  if (IsInteger(desc.type) && desc.normalized_values == 0) {
    return Bad("linear filter of ", hetgpuTypeName(desc.type),
               " values, expected floats or normalized_values");
  }
  if (desc.memory != 0 && desc.dimensions == 1) {
    return Bad("linear filter of memory with 1 dimension");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TextureDesc> ReadTextureDesc(const hetgpuTextureDesc& desc) {
  HETGPU_RETURN_IF_ERROR(CheckTexel(desc));
  HETGPU_RETURN_IF_ERROR(CheckExtents(desc));
  HETGPU_RETURN_IF_ERROR(CheckMemory(desc));
  HETGPU_RETURN_IF_ERROR(CheckSampling(desc));
  TextureDesc read;
  read.type = static_cast<ScalarType>(desc.type);
  read.channels = desc.channels;
  read.dimensions = desc.dimensions;
  read.width = desc.width;
  read.height = std::max<uint64_t>(desc.height, 1);
  read.depth = std::max<uint64_t>(desc.depth, 1);
  read.memory = desc.memory;
  read.pitch = desc.pitch;
  for (int i = 0; i < 3; ++i) {
    read.address_mode[i] =
        static_cast<TextureDesc::AddressMode>(desc.address_mode[i]);
  }
  read.filter = static_cast<TextureDesc::Filter>(desc.filter);
  read.normalized_coordinates = desc.normalized_coordinates == 1;
  read.normalized_values = desc.normalized_values == 1;
  std::copy(std::begin(desc.border), std::end(desc.border), read.border);
  return read;
}

Texture::Texture(std::shared_ptr<Context> context, const TextureDesc& desc)
    : context_(std::move(context)), desc_(desc) {}

absl::StatusOr<std::shared_ptr<hetgpu::Texture>> Texture::OnDevice() {
  using Made = absl::StatusOr<std::shared_ptr<hetgpu::Texture>>;
  return context_->OnDevice([&](Opening& opening) -> Made {
    std::lock_guard lock(mutex_);
    if (texture_ && opening_ == &opening) return texture_;
    auto texture = opening.device().CreateTexture(desc_);
    if (!texture.ok()) {
      return Annotate(ResultOf(texture.status()), "texture", texture.status());
    }
    texture_ = opening.Own(*std::move(texture));
    opening_ = &opening;
    return texture_;
  });
}

absl::StatusOr<uint64_t> Texture::KernelHandle() {
  HETGPU_ASSIGN_OR_RETURN(const auto texture, OnDevice());
  return texture->handle();
}

absl::StatusOr<Texture::Handle> Texture::Create(
    std::shared_ptr<Context> context, const hetgpuTextureDesc& desc) {
  HETGPU_ASSIGN_OR_RETURN(const TextureDesc read, ReadTextureDesc(desc));
  if (read.memory != 0) {
    const uint64_t bytes =
        read.dimensions == 1 ? read.RowBytes() : read.pitch * read.height;
    HETGPU_RETURN_IF_ERROR(context->allocations().CheckRange(
        "texture, memory", read.memory, bytes));
  }
  Context& owner = *context;
  auto texture = std::make_shared<Texture>(std::move(context), read);
  HETGPU_RETURN_IF_ERROR(texture->OnDevice().status());
  return owner.Adopt(std::move(texture));
}

absl::Status Texture::CheckCopy(const void* texels, uint64_t bytes) const {
  if (desc_.memory != 0) {
    return Bad("its texels lie in memory at 0x", absl::Hex(desc_.memory),
               ", expected a copy there");
  }
  if (bytes != desc_.Bytes()) {
    return Bad("copy of ", bytes, " bytes, expected all ", desc_.Bytes());
  }
  if (texels == nullptr) return Bad("null host pointer");
  return absl::OkStatus();
}

absl::Status Texture::Write(const void* texels, uint64_t bytes) {
  HETGPU_RETURN_IF_ERROR(CheckCopy(texels, bytes));
  context_->WaitIdle();
  HETGPU_ASSIGN_OR_RETURN(const auto texture, OnDevice());
  return texture->Write(texels);
}

absl::Status Texture::Read(void* texels, uint64_t bytes) {
  HETGPU_RETURN_IF_ERROR(CheckCopy(texels, bytes));
  context_->WaitIdle();
  HETGPU_ASSIGN_OR_RETURN(const auto texture, OnDevice());
  return texture->Read(texels);
}

}  // namespace hetgpu::runtime
