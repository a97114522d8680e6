#include "backends/init.h"

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

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
bool IsIsolated(std::string_view backend) {
  const char* value = std::getenv("HETGPU_ISOLATE");
  if (value == nullptr) return false;
  const std::string list = "," + std::string(value) + ",";
  return list.find("," + std::string(backend) + ",") != std::string::npos;
}

}  // namespace

std::vector<std::unique_ptr<Driver>> CreateDrivers() {
  std::vector<std::unique_ptr<Driver>> drivers;
  drivers.push_back(cpu::CreateDriver());
  drivers.push_back(cuda::CreateDriver());
  if (IsEnabled("HETGPU_ENABLE_NULL")) {
    drivers.push_back(null::CreateDriver());
  }
  for (auto& driver : drivers) {
    if (IsIsolated(driver->name())) driver = remote::Isolate(std::move(driver));
  }
  return drivers;
}

}  // namespace hetgpu
