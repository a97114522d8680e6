// An opening of a device that several contexts use at once.
#ifndef HETGPU_RUNTIME_SHARED_DEVICE_H_
#define HETGPU_RUNTIME_SHARED_DEVICE_H_

#include <functional>
#include <memory>
#include <string_view>

#include "backends/common/driver.h"

namespace hetgpu::runtime {

// `shared`, for a holder who owns what it gets. Kernels, queues and events made
// here are those of `shared`.
std::unique_ptr<hetgpu::Device> Share(std::shared_ptr<hetgpu::Device> shared);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_SHARED_DEVICE_H_
