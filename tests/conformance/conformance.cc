#include "tests/conformance/conformance.h"

#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>

namespace hetgpu::conformance {
namespace {

const std::string kFolder = HETGPU_SOURCE_DIR "/tests/conformance/";
constexpr uint64_t kTimeoutMs = 100000;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string Mode() {
  std::string mode = Variable("HETGPU_TEST_MODE");
  if (mode.empty()) mode = Variable("HETGPU_CPU_MODE");
  return mode.empty() ? "auto" : mode;
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    parts.push_back(part);
  }
  return parts;
}

bool Applies(const Exclusion& exclusion) {
  if (exclusion.modes.empty()) return true;
  for (const std::string& mode : exclusion.modes) {
    if (mode == Mode()) return true;
  }
  return false;
}

// "Suite.Test modes reason…"; "*" stands for all modes.
std::optional<Exclusion> ParseLine(const std::string& line) {
  if (line.empty() || line[0] == '#') return std::nullopt;
  std::istringstream words(line);
  Exclusion exclusion;
  std::string modes;
  words >> exclusion.test >> modes;
  if (modes != "*") exclusion.modes = Split(modes, ',');
  std::getline(words >> std::ws, exclusion.reason);
  return exclusion;
}

// "All/MemoryTest" and "Copies/cpu_0" → "MemoryTest.Copies".
std::string TestName() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  const std::string suite = info->test_suite_name(), name = info->name();
  return suite.substr(suite.find('/') + 1) + "." +
         name.substr(0, name.find('/'));
}

std::optional<std::string> ReasonToSkip(const std::string& device) {
  if (!Variable("HETGPU_CONFORMANCE_RUN_EXCLUDED").empty()) {
    return std::nullopt;
  }
  const std::string backend = device.substr(0, device.find(':'));
  for (const Exclusion& exclusion : ExclusionsOf(backend)) {
    if (exclusion.test == TestName()) return exclusion.reason;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> TestDevices() {
  if (auto named = Variable("HETGPU_TEST_DEVICE"); !named.empty()) {
    return {named};
  }
  std::vector<std::string> names;
  uint32_t count = 0;
  hetgpuDeviceCount(&count);
  for (uint32_t i = 0; i < count; ++i) {
    hetgpuDevice device = nullptr;
    hetgpuDeviceProperties properties = {};
    properties.struct_size = sizeof(properties);
    if (hetgpuDeviceGet(i, &device) != HETGPU_SUCCESS ||
        hetgpuDeviceGetProperties(device, &properties) != HETGPU_SUCCESS) {
      continue;
    }
    names.push_back(std::string(properties.backend) + ":" +
                    std::to_string(properties.backend_ordinal));
  }
  return names;
}

std::vector<Exclusion> ExclusionsOf(const std::string& backend) {
  std::vector<Exclusion> exclusions;
  std::ifstream file(kFolder + "exclusions/" + backend + ".txt");
  for (std::string line; std::getline(file, line);) {
    const auto exclusion = ParseLine(line);
    if (exclusion && Applies(*exclusion)) exclusions.push_back(*exclusion);
  }
  return exclusions;
}

void DeviceTest::SetUp() {
  if (const auto reason = ReasonToSkip(GetParam())) GTEST_SKIP() << *reason;
  ASSERT_SUCCESS(hetgpuDeviceGetByName(GetParam().c_str(), &device_));
  ASSERT_SUCCESS(hetgpuContextCreate(device_, 0, &context_));
  ASSERT_SUCCESS(hetgpuContextSetLimit(context_, HETGPU_LIMIT_LAUNCH_TIMEOUT_MS,
                                       kTimeoutMs));
}

void DeviceTest::TearDown() {
  if (context_ != nullptr) EXPECT_SUCCESS(hetgpuContextDestroy(context_));
}

hetgpuModule DeviceTest::Module(const std::string& file) {
  hetgpuModule& module = modules_[file];
  if (module == nullptr) {
    const std::string path = kFolder + "kernels/" + file + ".ptx";
    EXPECT_SUCCESS(hetgpuModuleLoadFile(context_, path.c_str(), &module));
  }
  return module;
}

hetgpuFunction DeviceTest::Function(const std::string& file, const char* name) {
  hetgpuFunction function = nullptr;
  EXPECT_SUCCESS(hetgpuModuleGetFunction(Module(file), name, &function));
  return function;
}

hetgpuStream DeviceTest::NewStream() {
  hetgpuStream stream = nullptr;
  EXPECT_SUCCESS(hetgpuStreamCreate(context_, 0, &stream));
  return stream;
}

hetgpuEvent DeviceTest::NewEvent() {
  hetgpuEvent event = nullptr;
  EXPECT_SUCCESS(hetgpuEventCreate(context_, 0, &event));
  return event;
}

hetgpuDevicePtr DeviceTest::Alloc(uint64_t bytes) {
  hetgpuDevicePtr address = 0;
  EXPECT_SUCCESS(hetgpuMemAlloc(context_, bytes, &address));
  return address;
}

hetgpuDevicePtr DeviceTest::Zeroes(uint64_t count) {
  const hetgpuDevicePtr address = Alloc(count * 4);
  EXPECT_SUCCESS(hetgpuMemFill(context_, address, 0, 4, count));
  return address;
}

hetgpuLaunchErrorInfo DeviceTest::LastLaunchError() {
  hetgpuLaunchErrorInfo info = {};
  info.struct_size = sizeof(info);
  EXPECT_SUCCESS(hetgpuGetLastLaunchError(&info));
  return info;
}

uint64_t DeviceTest::Property(hetgpuDeviceProperty property) {
  uint64_t value = 0;
  EXPECT_SUCCESS(hetgpuDeviceGetProperty(device_, property, &value));
  return value;
}

void DeviceTest::ExpectUsable() {
  const hetgpuDevicePtr total = Zeroes(1);
  EXPECT_SUCCESS(
      Run(Function("basic", "count"), {{3, 1, 1}, {33, 1, 1}}, total));
  EXPECT_EQ(Download<uint32_t>(total, 1)[0], 99u);
}

}  // namespace hetgpu::conformance
