// The one list of backends.
#ifndef HETGPU_BACKENDS_INIT_H_
#define HETGPU_BACKENDS_INIT_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "backends/common/driver.h"

namespace hetgpu {

// One driver per backend of this build, in the order in which devices are
// numbered. Creating a driver opens nothing: Enumerate() does. The null
// backend is listed only when HETGPU_ENABLE_NULL is set and not "0".
std::vector<std::unique_ptr<Driver>> CreateDrivers();

// InvalidArgument when HETGPU_ISOLATE names what is no backend of this build.
absl::Status CheckIsolation();

}  // namespace hetgpu

#endif  // HETGPU_BACKENDS_INIT_H_
