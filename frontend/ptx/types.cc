#include "frontend/ptx/types.h"

#include <array>
#include <utility>

namespace hetgpu::ptx {
namespace {

struct TypeRow {
  std::string_view name;
  uint32_t bits;
  TypeClass type_class;
};

constexpr TypeRow kTypes[] = {
    {"none", 0, TypeClass::kNone},
#define TYPE(name, spelling, bits, cls) {spelling, bits, TypeClass::k##cls},
#include "frontend/ptx/types.def"
#undef TYPE
};

constexpr std::array<std::string_view, 9> kSpaces = {
    "generic",         "reg",   "global", "const", "shared",
    "shared::cluster", "local", "param",  "tex"};

const TypeRow& Row(Type type) { return kTypes[static_cast<size_t>(type)]; }

}  // namespace

std::string_view TypeName(Type type) { return Row(type).name; }
uint32_t TypeBits(Type type) { return Row(type).bits; }
TypeClass ClassOf(Type type) { return Row(type).type_class; }

std::optional<Type> TypeFromName(std::string_view name) {
  for (size_t i = 1; i < std::size(kTypes); ++i) {
    if (kTypes[i].name == name) return static_cast<Type>(i);
  }
  return std::nullopt;
}

std::string_view StateSpaceName(StateSpace space) {
  return kSpaces[static_cast<size_t>(space)];
}

}  // namespace hetgpu::ptx
