#include "hetir/module_info.h"

#include <array>

namespace hetgpu {
namespace {

struct ScalarRow {
  std::string_view name;
  uint32_t size;
};

// In the order of ScalarType.
constexpr std::array<ScalarRow, 17> kScalars = {{
    {"b8", 1},  {"b16", 2}, {"b32", 4},  {"b64", 8}, {"b128", 16},
    {"u8", 1},  {"u16", 2}, {"u32", 4},  {"u64", 8}, {"s8", 1},
    {"s16", 2}, {"s32", 4}, {"s64", 8},  {"f16", 2}, {"bf16", 2},
    {"f32", 4}, {"f64", 8},
}};

template <typename T>
const T* FindByName(const std::vector<T>& items, std::string_view name) {
  for (const T& item : items) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

}  // namespace

uint32_t SizeOf(ScalarType type) {
  return kScalars[static_cast<size_t>(type)].size;
}

std::string_view NameOf(ScalarType type) {
  return kScalars[static_cast<size_t>(type)].name;
}

const KernelInfo* ModuleInfo::FindKernel(std::string_view name) const {
  return FindByName(kernels, name);
}

const SymbolInfo* ModuleInfo::FindSymbol(std::string_view name) const {
  return FindByName(symbols, name);
}

}  // namespace hetgpu
