#include "runtime/platform.h"

#include <charconv>
#include <mutex>
#include <utility>

#include "absl/strings/str_join.h"
#include "backends/init.h"
#include "runtime/error.h"
#include "runtime/handle_table.h"
#include "runtime/status_macros.h"
#include "runtime/trace.h"

namespace hetgpu::runtime {
namespace {

using DriverFactory = std::function<std::vector<std::unique_ptr<Driver>>()>;

DriverFactory& Factory() {
  static DriverFactory* const factory = new DriverFactory(CreateDrivers);
  return *factory;
}

absl::StatusOr<std::unique_ptr<Platform>> CreateDefault() {
  HETGPU_ASSIGN_OR_RETURN(Environment environment, ReadEnvironment());
  if (const absl::Status status = CheckIsolation(); !status.ok()) {
    return Error(HETGPU_ERROR_INVALID_ENVIRONMENT, status.message());
  }
  if (!environment.trace_path.empty()) {
    HETGPU_ASSIGN_OR_RETURN(auto trace, Trace::Open(environment.trace_path));
    Trace::Activate(std::move(trace));
  }
  return Platform::Create(std::move(environment), Factory()());
}

// "cpu:1" → "cpu" and 1.
absl::Status SplitName(std::string_view name, std::string_view& backend,
                       uint32_t& ordinal) {
  ordinal = 0;
  const size_t colon = name.find(':');
  backend = name.substr(0, colon);
  if (colon == std::string_view::npos) return absl::OkStatus();
  const std::string_view digits = name.substr(colon + 1);
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, ordinal);
  if (error == std::errc() && rest == end) return absl::OkStatus();
  return Error(HETGPU_ERROR_NO_DEVICE, "device name \"", name,
               "\": expected a number after the colon");
}

}  // namespace

Platform::Platform(Environment environment)
    : environment_(std::move(environment)),
      jit_(std::make_unique<Jit>(environment_)) {}

void Platform::OverrideDrivers(DriverFactory create) {
  Factory() = std::move(create);
}

absl::StatusOr<Platform*> Platform::Get() {
  static const auto* const platform =
      new absl::StatusOr<std::unique_ptr<Platform>>(CreateDefault());
  if (!platform->ok()) return platform->status();
  return (*platform)->get();
}

absl::StatusOr<std::unique_ptr<Platform>> Platform::Create(
    Environment environment, std::vector<std::unique_ptr<Driver>> drivers) {
  std::unique_ptr<Platform> platform(new Platform(std::move(environment)));
  for (auto& driver : drivers) {
    Backend backend;
    backend.name = std::string(driver->name());
    backend.driver = std::move(driver);
    platform->backends_.push_back(std::move(backend));
  }
  return platform;
}

absl::Status Platform::AskNext() {
  Backend& backend = backends_[asked_];
  auto infos = backend.driver->Enumerate();
  if (absl::IsInvalidArgument(infos.status())) {
    return Error(HETGPU_ERROR_INVALID_ENVIRONMENT, infos.status().message());
  }
  ++asked_;
  if (!infos.ok()) {
    backend.reason = std::string(infos.status().message());
    return absl::OkStatus();
  }
  for (uint32_t i = 0; i < infos->size(); ++i) {
    auto device = std::make_shared<Device>(backend.driver.get(),
                                           std::move((*infos)[i]),
                                           devices_.size(), i);
    device->set_handle(HandleTable<Device>::Get().Insert(device));
    backend.devices.push_back(device);
    devices_.push_back(std::move(device));
  }
  if (backend.devices.empty()) backend.reason = "no device found";
  return absl::OkStatus();
}

absl::Status Platform::AskAll() {
  while (asked_ < backends_.size()) HETGPU_RETURN_IF_ERROR(AskNext());
  return absl::OkStatus();
}

absl::StatusOr<const std::vector<Backend>*> Platform::Backends() {
  std::lock_guard lock(mutex_);
  HETGPU_RETURN_IF_ERROR(AskAll());
  return &backends_;
}

absl::StatusOr<uint32_t> Platform::DeviceCount() {
  std::lock_guard lock(mutex_);
  HETGPU_RETURN_IF_ERROR(AskAll());
  return static_cast<uint32_t>(devices_.size());
}

absl::StatusOr<std::shared_ptr<Device>> Platform::DeviceAt(uint32_t ordinal) {
  std::lock_guard lock(mutex_);
  while (ordinal >= devices_.size() && asked_ < backends_.size()) {
    HETGPU_RETURN_IF_ERROR(AskNext());
  }
  if (ordinal < devices_.size()) return devices_[ordinal];
  return Error(HETGPU_ERROR_NO_DEVICE, "device ", ordinal,
               " does not exist, there are ", devices_.size());
}

absl::StatusOr<std::shared_ptr<Device>> Platform::FindDevice(
    std::string_view name) {
  std::string_view backend_name;
  uint32_t ordinal = 0;
  HETGPU_RETURN_IF_ERROR(SplitName(name, backend_name, ordinal));
  std::lock_guard lock(mutex_);
  std::vector<std::string> known;
  for (size_t i = 0; i < backends_.size(); ++i) {
    const Backend& backend = backends_[i];
    known.push_back(backend.name);
    if (backend.name != backend_name) continue;
    while (asked_ <= i) HETGPU_RETURN_IF_ERROR(AskNext());
    if (ordinal < backend.devices.size()) return backend.devices[ordinal];
    if (!backend.devices.empty()) {
      return Error(HETGPU_ERROR_NO_DEVICE, "device \"", name, "\": backend ",
                   backend.name, " has ", backend.devices.size(),
                   " device(s), numbered from 0");
    }
    return Error(HETGPU_ERROR_NO_DEVICE, "device \"", name,
                 "\": ", backend.reason);
  }
  return Error(
      HETGPU_ERROR_NO_DEVICE, "device \"", name,
      "\": no such backend, expected one of: ", absl::StrJoin(known, ", "));
}

}  // namespace hetgpu::runtime
