// Devices of any backend in processes of their own.
#ifndef HETGPU_BACKENDS_REMOTE_DRIVER_H_
#define HETGPU_BACKENDS_REMOTE_DRIVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "backends/common/driver.h"

namespace hetgpu::remote {

// Starts a server, which may be ended at any time, and has it open a device of
// `backend`.
absl::StatusOr<std::unique_ptr<Device>> OpenRemote(const std::string& backend,
                                                   uint32_t ordinal,
                                                   const DeviceInfo& info,
                                                   OpenOptions options);

// The same with the memory of `lost`, a device of this process or of a server,
// which then is ended.
absl::StatusOr<Reopened> ReopenRemote(const std::string& backend,
                                      uint32_t ordinal, Device& lost);

// The devices of `driver`, each opened in a process of its own.
std::unique_ptr<Driver> Isolate(std::unique_ptr<Driver> driver);

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_DRIVER_H_
