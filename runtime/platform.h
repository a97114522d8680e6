// What the process starts with: the environment, the backends, their devices.
#ifndef HETGPU_RUNTIME_PLATFORM_H_
#define HETGPU_RUNTIME_PLATFORM_H_

#include <functional>
#include <memory>
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
  std::vector<std::shared_ptr<Device>> devices;
  std::string reason;  // why there are none
};

// Immutable once made, except for the JIT, which locks for itself.
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
  const std::vector<Backend>& backends() const { return backends_; }
  const std::vector<std::shared_ptr<Device>>& devices() const {
    return devices_;
  }
  Jit& jit() { return *jit_; }

  // "cpu" or "cpu:1"; NO_DEVICE says why.
  absl::StatusOr<std::shared_ptr<Device>> FindDevice(
      std::string_view name) const;

 private:
  explicit Platform(Environment environment);
  void Add(std::unique_ptr<Driver> driver);

  Environment environment_;
  std::vector<Backend> backends_;
  std::vector<std::shared_ptr<Device>> devices_;
  std::unique_ptr<Jit> jit_;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_PLATFORM_H_
