#include "backends/null/driver.h"

#include "absl/strings/str_cat.h"
#include "backends/null/device.h"

namespace hetgpu::null {
namespace {

class NullDriver final : public Driver {
 public:
  std::string_view name() const override { return "null"; }

  // Clone: return one DeviceInfo per device, or Unavailable with the reason
  // (library not found, no device, driver too old).
  absl::StatusOr<std::vector<DeviceInfo>> Enumerate() override {
    return absl::UnavailableError(
        "null: this backend is a skeleton and has no devices");
  }

  // Clone: check `ordinal` against what Enumerate() found.
  absl::StatusOr<std::unique_ptr<Device>> Open(uint32_t ordinal) override {
    return absl::UnavailableError(
        absl::StrCat("null: no device ", ordinal, ": there are 0"));
  }
};

}  // namespace

std::unique_ptr<Driver> CreateDriver() {
  return std::make_unique<NullDriver>();
}

}  // namespace hetgpu::null
