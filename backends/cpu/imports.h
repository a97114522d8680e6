// Addresses of the library functions that emitted code may call.
#ifndef HETGPU_BACKENDS_CPU_IMPORTS_H_
#define HETGPU_BACKENDS_CPU_IMPORTS_H_

#include <cstdint>
#include <string_view>

namespace hetgpu::cpu {

uint32_t ImportCount();
// Of HETGPU_CPU_IMPORTS; `index` < ImportCount().
uintptr_t ImportAddress(uint32_t index);
std::string_view ImportName(uint32_t index);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_IMPORTS_H_
