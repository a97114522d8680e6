#include "backends/init.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "backends/cpu/driver.h"
#include "backends/cuda/driver.h"
#include "backends/null/driver.h"
#include "backends/remote/driver.h"

namespace hetgpu {
namespace {

bool IsEnabled(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string_view(value) != "0";
}

// HETGPU_ISOLATE: backends whose devices run in processes of their own, as
// "cuda,cpu".
std::vector<std::string> IsolatedBackends() {
  const char* value = std::getenv("HETGPU_ISOLATE");
  if (value == nullptr || *value == '\0') return {};
  return absl::StrSplit(value, ',');
}

std::vector<std::unique_ptr<Driver>> CreatePlainDrivers() {
  std::vector<std::unique_ptr<Driver>> drivers;
  drivers.push_back(cpu::CreateDriver());
  drivers.push_back(cuda::CreateDriver());
  if (IsEnabled("HETGPU_ENABLE_NULL")) {
    drivers.push_back(null::CreateDriver());
  }
  return drivers;
}

}  // namespace

std::vector<std::unique_ptr<Driver>> CreateDrivers() {
  const std::vector<std::string> isolated = IsolatedBackends();
  std::vector<std::unique_ptr<Driver>> drivers = CreatePlainDrivers();
  for (auto& driver : drivers) {
    if (std::find(isolated.begin(), isolated.end(), driver->name()) !=
        isolated.end()) {
      driver = remote::Isolate(std::move(driver));
    }
  }
  return drivers;
}

absl::Status CheckIsolation() {
  const std::vector<std::string> isolated = IsolatedBackends();
  if (isolated.empty()) return absl::OkStatus();
  std::vector<std::string> names;
  for (const auto& driver : CreatePlainDrivers()) {
    names.emplace_back(driver->name());
  }
  for (const std::string& name : isolated) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "HETGPU_ISOLATE names \"", name, "\", expected backends out of ",
        absl::StrJoin(names, ", "), ", separated by commas"));
  }
  return absl::OkStatus();
}

}  // namespace hetgpu
