#ifndef HETGPU_FRONTEND_PTX_TYPES_H_
#define HETGPU_FRONTEND_PTX_TYPES_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace hetgpu::ptx {

enum class Type : uint8_t {
  kNone,
#define TYPE(name, spelling, bits, cls) k##name,
#include "frontend/ptx/types.def"
#undef TYPE
};

// What PTX's operand rules distinguish: untyped bits agree with everything of
// the same size, integers with integers, floats only with the same float.
enum class TypeClass : uint8_t {
  kNone,
  kPred,
  kBits,
  kUnsigned,
  kSigned,
  kFloat,
  kSmallFloat,  // lives in a .bN register
  kPacked,      // lives in a .bN register (or an equally named one)
  kOpaque,      // texref, samplerref, surfref
};

// Spelling without the leading dot; "none" for Type::kNone.
std::string_view TypeName(Type type);
uint32_t TypeBits(Type type);
TypeClass ClassOf(Type type);
// `name` without the leading dot.
std::optional<Type> TypeFromName(std::string_view name);

// Bytes a value of this type takes in memory (predicates: 1).
inline uint32_t TypeBytes(Type type) { return (TypeBits(type) + 7) / 8; }
inline bool IsInteger(Type type) {
  TypeClass c = ClassOf(type);
  return c == TypeClass::kUnsigned || c == TypeClass::kSigned;
}
inline bool IsSigned(Type type) { return ClassOf(type) == TypeClass::kSigned; }
inline bool IsFloat(Type type) { return ClassOf(type) == TypeClass::kFloat; }

enum class StateSpace : uint8_t {
  kGeneric,  // no space written: a generic address
  kReg,
  kGlobal,
  kConst,
  kShared,         // .shared and .shared::cta
  kSharedCluster,  // .shared::cluster
  kLocal,
  kParam,  // .param, .param::entry and .param::func
  kTex,    // the deprecated .tex space
};

// Spelling without the leading dot; "generic" for kGeneric.
std::string_view StateSpaceName(StateSpace space);

}  // namespace hetgpu::ptx

#endif  // HETGPU_FRONTEND_PTX_TYPES_H_
