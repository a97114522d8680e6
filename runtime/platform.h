// What the process starts with: the environment, the backends, their devices.
#ifndef HETGPU_RUNTIME_PLATFORM_H_
#define HETGPU_RUNTIME_PLATFORM_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/common/driver.h"
#include "runtime/device.h"
#include "runtime/environment.h"
#include "runtime/jit.h"

namespace hetgpu::runtime {

struct Backend {
  std::unique_ptr<Driver> driver;
  std::string name;
  // Of a backend that has been asked:
  std::vector<std::shared_ptr<Device>> devices;
  std::string reason;  // why there are none
};

// Backends are asked for their devices in order, and only as far as a caller
// must know: starting a vendor's driver may take longer than a whole run on
// another device. Ordinals count through all backends in order, so they do not
// depend on who was asked.
//
// Threads: any.
class Platform {
 public:
  // The process's platform, made at the first call and kept for life. A failure
  // is permanent: the environment is wrong.
  static absl::StatusOr<Platform*> Get();

  static absl::StatusOr<std::unique_ptr<Platform>> Create(
      Environment environment, std::vector<std::unique_ptr<Driver>> drivers);

  // Tests: makes Get() use these drivers instead of those of the build. Before
  // the first Get() only.
  static void OverrideDrivers(
      std::function<std::vector<std::unique_ptr<Driver>>()> create);

  const Environment& environment() const { return environment_; }
  size_t backend_count() const { return backends_.size(); }
  // All of them, asked. INVALID_ENVIRONMENT names a variable that a backend
  // cannot use; so do the next three and FindDevice.
  absl::StatusOr<const std::vector<Backend>*> Backends();
  absl::StatusOr<uint32_t> DeviceCount();
  // NO_DEVICE when there are fewer.
  absl::StatusOr<std::shared_ptr<Device>> DeviceAt(uint32_t ordinal);
  Jit& jit() { return *jit_; }

  // "cpu" or "cpu:1"; NO_DEVICE says why.
  absl::StatusOr<std::shared_ptr<Device>> FindDevice(std::string_view name);

 private:
  explicit Platform(Environment environment);
  // Asks the next backend; `mutex_` is held.
  absl::Status AskNext();
  absl::Status AskAll();

  Environment environment_;
  std::mutex mutex_;  // of those below
  std::vector<Backend> backends_;
  size_t asked_ = 0;  // backends before this one are immutable
  std::vector<std::shared_ptr<Device>> devices_;
  std::unique_ptr<Jit> jit_;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_PLATFORM_H_
