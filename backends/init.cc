#include "backends/init.h"

#include <cstdlib>
#include <string_view>

#include "backends/cpu/driver.h"
#include "backends/cuda/driver.h"
#include "backends/null/driver.h"

namespace hetgpu {
namespace {

bool IsEnabled(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::string_view(value) != "0";
}

}  // namespace

std::vector<std::unique_ptr<Driver>> CreateDrivers() {
  std::vector<std::unique_ptr<Driver>> drivers;
  drivers.push_back(cpu::CreateDriver());
  drivers.push_back(cuda::CreateDriver());
  if (IsEnabled("HETGPU_ENABLE_NULL")) {
    drivers.push_back(null::CreateDriver());
  }
  return drivers;
}

}  // namespace hetgpu
