// The null backend: a skeleton to clone (docs/howto/add-a-backend.md). It has
// every object a backend consists of and no device.
#ifndef HETGPU_BACKENDS_NULL_DRIVER_H_
#define HETGPU_BACKENDS_NULL_DRIVER_H_

#include <memory>

#include "backends/common/driver.h"

namespace hetgpu::null {

// Clone: load the vendor library lazily in Enumerate() and keep the symbol
// table in the driver object; devices hold a reference to it.
std::unique_ptr<Driver> CreateDriver();

}  // namespace hetgpu::null

#endif  // HETGPU_BACKENDS_NULL_DRIVER_H_
