#include "backends/cpu/driver.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/device.h"
#include "backends/cpu/options.h"

namespace hetgpu::cpu {
namespace {

class CpuDriver final : public Driver {
 public:
  std::string_view name() const override { return "cpu"; }

  absl::StatusOr<std::vector<DeviceInfo>> Enumerate() override {
    absl::StatusOr<Options> options = ReadOptions();
    if (!options.ok()) return options.status();
    return std::vector<DeviceInfo>{DescribeHost(*options)};
  }

  absl::StatusOr<std::unique_ptr<Device>> Open(uint32_t ordinal) override {
    if (ordinal != 0) {
      return absl::UnavailableError(
          absl::StrCat("cpu: no device ", ordinal, ": there is 1"));
    }
    absl::StatusOr<Options> options = ReadOptions();
    if (!options.ok()) return options.status();
    absl::StatusOr<std::unique_ptr<CpuDevice>> device =
        CpuDevice::Open(*options);
    if (!device.ok()) return device.status();
    return std::unique_ptr<Device>(*std::move(device));
  }
};

}  // namespace

std::unique_ptr<Driver> CreateDriver() { return std::make_unique<CpuDriver>(); }

}  // namespace hetgpu::cpu
