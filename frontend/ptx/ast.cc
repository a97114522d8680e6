#include "frontend/ptx/ast.h"

#include <algorithm>
#include <iterator>

#include "frontend/ptx/text.h"

namespace hetgpu::ptx {
namespace {

struct SpecialRegisterRow {
  std::string_view name;
  Type type;
};

constexpr SpecialRegisterRow kSpecialRegisters[] = {
#define SREG(name, spelling, type, ptx, sm) {spelling, Type::k##type},
#include "frontend/ptx/special_registers.def"
#undef SREG
};

constexpr std::string_view kOpNames[] = {
#define OP(name, family) family,
#include "frontend/ptx/ops.def"
#undef OP
};

template <typename T>
std::optional<uint32_t> FindByName(const std::vector<T>& items,
                                   std::string_view name) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].name == name) return static_cast<uint32_t>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view OpName(Op op) { return kOpNames[static_cast<size_t>(op)]; }

std::string_view SpecialRegisterName(SpecialRegister reg) {
  return kSpecialRegisters[static_cast<size_t>(reg)].name;
}

Type SpecialRegisterType(SpecialRegister reg) {
  return kSpecialRegisters[static_cast<size_t>(reg)].type;
}

const RegisterGroup& Body::GroupOf(uint32_t reg) const {
  auto after = std::upper_bound(
      register_groups.begin(), register_groups.end(), reg,
      [](uint32_t r, const RegisterGroup& group) { return r < group.first; });
  return *std::prev(after);
}

std::string Body::RegisterName(uint32_t reg) const {
  const RegisterGroup& group = GroupOf(reg);
  uint32_t index = reg - group.first;
  std::string name(group.name);
  if (group.ranged) name += std::to_string(index / group.vector);
  if (group.vector > 1) name += Cat('.', "xyzw"[index % group.vector]);
  return name;
}

std::optional<uint32_t> Module::FindFunction(std::string_view name) const {
  return FindByName(functions, name);
}

std::optional<uint32_t> Module::FindVariable(std::string_view name) const {
  return FindByName(variables, name);
}

std::string Module::Place(SourceLocation location) const {
  return Cat(file_name, ":", location.line, ":", location.column);
}

}  // namespace hetgpu::ptx
