// Textures: texels that a device samples by hardware of its own. Kernels name
// one by a 64-bit number among their arguments.
#ifndef HETGPU_BACKENDS_COMMON_TEXTURE_H_
#define HETGPU_BACKENDS_COMMON_TEXTURE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "hetir/module_info.h"

namespace hetgpu {

// Checked above (runtime/texture): consistent, and within what the C API
// documents.
struct TextureDesc {
  enum class AddressMode : uint8_t { kWrap, kClamp, kMirror, kBorder };
  enum class Filter : uint8_t { kPoint, kLinear };

  ScalarType type = ScalarType::kF32;  // of a channel
  uint32_t channels = 1;               // 1, 2 or 4
  uint32_t dimensions = 2;             // 1 to 3
  uint64_t width = 1, height = 1, depth = 1;  // texels; 1 beyond `dimensions`
  // Texels in device memory, by rows of `pitch` bytes; 0 = storage of its own.
  uint64_t memory = 0;
  uint64_t pitch = 0;
  AddressMode address_mode[3] = {};
  Filter filter = Filter::kPoint;
  bool normalized_coordinates = false;
  bool normalized_values = false;  // integers are read as [0, 1] or [-1, 1]
  float border[4] = {};

  uint64_t TexelBytes() const { return uint64_t{SizeOf(type)} * channels; }
  uint64_t RowBytes() const { return TexelBytes() * width; }
  uint64_t Bytes() const { return RowBytes() * height * depth; }
};

class Texture {
 public:
  virtual ~Texture() = default;
  // What kernels take as an argument.
  virtual uint64_t handle() const = 0;
  // All texels of a texture with storage of its own, rows without gaps.
  // Synchronous; no kernel that uses the texture may be in flight.
  virtual absl::Status Write(const void* texels) = 0;
  virtual absl::Status Read(void* texels) = 0;
};

}  // namespace hetgpu

#endif  // HETGPU_BACKENDS_COMMON_TEXTURE_H_
