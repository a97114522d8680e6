#include "backends/cpu/driver.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/device.h"
#include "backends/cpu/options.h"

namespace hetgpu::cpu {
namespace {

// Where devices other than the first keep their memory, downwards.
constexpr uint64_t kOtherBases = 0x580000000000;
constexpr uint64_t kOtherStride = uint64_t{1} << 42;

class CpuDriver final : public Driver {
 public:
  std::string_view name() const override { return "cpu"; }

  absl::StatusOr<std::vector<DeviceInfo>> Enumerate() override {
    absl::StatusOr<Options> options = ReadOptions();
    if (!options.ok()) return options.status();
    return std::vector<DeviceInfo>(options->devices, DescribeHost(*options));
  }

  absl::StatusOr<std::unique_ptr<Device>> Open(uint32_t ordinal) override {
    absl::StatusOr<Options> options = ReadOptions();
    if (!options.ok()) return options.status();
    if (ordinal >= options->devices) {
      return absl::UnavailableError(
          absl::StrCat("cpu: no device ", ordinal, ": there ",
                       options->devices == 1 ? "is " : "are ",
                       options->devices));
    }
    // Two devices have different contents at an address of the arena.
    if (ordinal > 0) options->host_base = kOtherBases - ordinal * kOtherStride;
    absl::StatusOr<std::unique_ptr<CpuDevice>> device =
        CpuDevice::Open(*options);
    if (!device.ok()) return device.status();
    return std::unique_ptr<Device>(*std::move(device));
  }
};

}  // namespace

std::unique_ptr<Driver> CreateDriver() { return std::make_unique<CpuDriver>(); }

}  // namespace hetgpu::cpu
