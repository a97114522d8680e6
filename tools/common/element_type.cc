#include "tools/common/element_type.h"

#include <cstddef>
#include <utility>

#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

using enum ElementKind;

// In the order of ElementType.
constexpr ElementTypeInfo kTypes[] = {
    {"i8", 1, kSigned, "i1"},   {"u8", 1, kUnsigned, "u1"},
    {"i16", 2, kSigned, "i2"},  {"u16", 2, kUnsigned, "u2"},
    {"i32", 4, kSigned, "i4"},  {"u32", 4, kUnsigned, "u4"},
    {"i64", 8, kSigned, "i8"},  {"u64", 8, kUnsigned, "u8"},
    {"f16", 2, kFloat, "f2"},   {"bf16", 2, kFloat, "u2"},
    {"f32", 4, kFloat, "f4"},   {"f64", 8, kFloat, "f8"},
    {"ptr", 8, kPointer, "u8"},
};

constexpr std::pair<std::string_view, ElementType> kAliases[] = {
    {"s8", ElementType::kI8},   {"b8", ElementType::kU8},
    {"s16", ElementType::kI16}, {"b16", ElementType::kU16},
    {"s32", ElementType::kI32}, {"b32", ElementType::kU32},
    {"s64", ElementType::kI64}, {"b64", ElementType::kU64},
};

}  // namespace

const ElementTypeInfo& InfoOf(ElementType type) {
  return kTypes[static_cast<size_t>(type)];
}

absl::StatusOr<ElementType> ParseElementType(std::string_view name) {
  for (size_t i = 0; i < std::size(kTypes); ++i) {
    if (kTypes[i].name == name) return static_cast<ElementType>(i);
  }
  for (const auto& [alias, type] : kAliases) {
    if (alias == name) return type;
  }
  return absl::InvalidArgumentError(
      Cat("unknown element type '", name,
          "', expected i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 "
          "f64 or ptr"));
}

uint64_t MaskOf(ElementType type) {
  return ~uint64_t{0} >> (64 - 8 * SizeOf(type));
}

absl::StatusOr<uint64_t> ByteSize(ElementType type, uint64_t count) {
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, uint64_t{SizeOf(type)}, &bytes) ||
      bytes > uint64_t{1} << 62) {
    return absl::ResourceExhaustedError(
        Cat(count, " elements of ", NameOf(type), " do not fit in memory"));
  }
  return bytes;
}

}  // namespace hetgpu::tools
