// Element types of buffers, scalars and .npy files, as one table.
#ifndef HETGPU_TOOLS_COMMON_ELEMENT_TYPE_H_
#define HETGPU_TOOLS_COMMON_ELEMENT_TYPE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"

namespace hetgpu::tools {

enum class ElementType : uint8_t {
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kPtr,  // a device address
};

enum class ElementKind : uint8_t { kSigned, kUnsigned, kFloat, kPointer };

struct ElementTypeInfo {
  std::string_view name;  // "f32"
  uint32_t size;          // bytes
  ElementKind kind;
  std::string_view npy;  // descr without byte order; bf16 and ptr are stored
                         // as unsigned integers of their size
};

const ElementTypeInfo& InfoOf(ElementType type);

inline uint32_t SizeOf(ElementType type) { return InfoOf(type).size; }
inline std::string_view NameOf(ElementType type) { return InfoOf(type).name; }
inline bool IsFloat(ElementType type) {
  return InfoOf(type).kind == ElementKind::kFloat;
}

// "f32", … and the PTX spellings s8…s64 and b8…b64 (which mean i and u).
absl::StatusOr<ElementType> ParseElementType(std::string_view name);

// All bits of an element set: 0xff for 1 byte.
uint64_t MaskOf(ElementType type);

// `count` elements in bytes; ResourceExhausted when that overflows.
absl::StatusOr<uint64_t> ByteSize(ElementType type, uint64_t count);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_COMMON_ELEMENT_TYPE_H_
