// Element types of the C API and those of hetir, which have the same order.
#ifndef HETGPU_RUNTIME_TYPES_H_
#define HETGPU_RUNTIME_TYPES_H_

#include "hetgpu/hetgpu.h"
#include "hetir/module_info.h"

namespace hetgpu::runtime {

inline hetgpuType ToApi(ScalarType type) {
  return static_cast<hetgpuType>(type);
}

static_assert(static_cast<int>(ScalarType::kB8) == HETGPU_TYPE_B8);
static_assert(static_cast<int>(ScalarType::kB128) == HETGPU_TYPE_B128);
static_assert(static_cast<int>(ScalarType::kU8) == HETGPU_TYPE_U8);
static_assert(static_cast<int>(ScalarType::kS8) == HETGPU_TYPE_S8);
static_assert(static_cast<int>(ScalarType::kS64) == HETGPU_TYPE_S64);
static_assert(static_cast<int>(ScalarType::kF16) == HETGPU_TYPE_F16);
static_assert(static_cast<int>(ScalarType::kF64) == HETGPU_TYPE_F64);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_TYPES_H_
