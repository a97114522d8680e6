// The functions behind abi.h's Helpers table.
#ifndef HETGPU_BACKENDS_CPU_HELPERS_H_
#define HETGPU_BACKENDS_CPU_HELPERS_H_

#include "backends/cpu/abi.h"

namespace hetgpu::cpu {

extern const Helpers kHelpers;

// One function per row, each defined in the helpers_*.cc of its family.
namespace helper {
#define HETGPU_CPU_HELPER_DECLARATION(name, result, params) result name params;
HETGPU_CPU_HELPERS(HETGPU_CPU_HELPER_DECLARATION)
#undef HETGPU_CPU_HELPER_DECLARATION
}  // namespace helper

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_HELPERS_H_
