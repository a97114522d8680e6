#include "backends/cpu/helpers.h"

namespace hetgpu::cpu {

const Helpers kHelpers = {
#define HETGPU_CPU_HELPER_ENTRY(name, result, params) helper::name,
    HETGPU_CPU_HELPERS(HETGPU_CPU_HELPER_ENTRY)
#undef HETGPU_CPU_HELPER_ENTRY
};

}  // namespace hetgpu::cpu
