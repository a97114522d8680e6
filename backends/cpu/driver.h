// The CPU backend: one device, the processor this process runs on.
#ifndef HETGPU_BACKENDS_CPU_DRIVER_H_
#define HETGPU_BACKENDS_CPU_DRIVER_H_

#include <memory>

#include "backends/common/driver.h"

namespace hetgpu::cpu {

std::unique_ptr<Driver> CreateDriver();

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_DRIVER_H_
