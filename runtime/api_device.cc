// hetgpuInit, hetgpuBackend…, hetgpuDevice….
#include "runtime/api.h"
#include "runtime/platform.h"

using namespace hetgpu::runtime;

namespace {

absl::Status GetBackend(uint32_t index, hetgpuBackendInfo* info) {
  HETGPU_ASSIGN_OR_RETURN(Platform* const platform, Platform::Get());
  HETGPU_ASSIGN_OR_RETURN(const auto* const backends, platform->Backends());
  if (index >= backends->size()) {
    return Error(HETGPU_ERROR_NOT_FOUND, "backend ", index,
                 " does not exist, there are ", backends->size());
  }
  const Backend& backend = (*backends)[index];
  hetgpuBackendInfo value = {};
  value.name = backend.name.c_str();
  value.device_count = backend.devices.size();
  value.available = !backend.devices.empty();
  value.reason = backend.reason.c_str();
  return FillStruct(info, value, "backend info");
}

absl::Status GetDevice(uint32_t ordinal, hetgpuDevice* device) {
  HETGPU_RETURN_IF_ERROR(CheckOutput(device, "device"));
  HETGPU_ASSIGN_OR_RETURN(Platform* const platform, Platform::Get());
  HETGPU_ASSIGN_OR_RETURN(const auto found, platform->DeviceAt(ordinal));
  *device = found->handle();
  return absl::OkStatus();
}

absl::Status GetDeviceByName(const char* name, hetgpuDevice* device) {
  HETGPU_RETURN_IF_ERROR(CheckOutput(device, "device"));
  if (name == nullptr) {
    return Error(HETGPU_ERROR_INVALID_VALUE, "null device name");
  }
  HETGPU_ASSIGN_OR_RETURN(Platform* const platform, Platform::Get());
  HETGPU_ASSIGN_OR_RETURN(const auto found, platform->FindDevice(name));
  *device = found->handle();
  return absl::OkStatus();
}

absl::Status GetCacheInfo(hetgpuCacheInfo* info) {
  HETGPU_ASSIGN_OR_RETURN(Platform* const platform, Platform::Get());
  JitCache& cache = platform->jit().disk();
  static const std::string problem = cache.Problem();
  const JitCache::Usage usage = cache.Measure();
  hetgpuCacheInfo value = {};
  value.directory = cache.dir().c_str();
  value.problem = problem.c_str();
  value.entry_count = usage.entries;
  value.bytes = usage.bytes;
  value.max_bytes = cache.max_bytes();
  return FillStruct(info, value, "cache info");
}

}  // namespace

extern "C" {

hetgpuResult hetgpuInit(uint32_t flags) {
  return Api([&]() -> absl::Status {
    HETGPU_RETURN_IF_ERROR(CheckFlags(flags, "init"));
    return Platform::Get().status();
  });
}

hetgpuResult hetgpuCacheGetInfo(hetgpuCacheInfo* info) {
  return Api([&] { return GetCacheInfo(info); });
}

hetgpuResult hetgpuGetVersion(uint32_t* version) {
  return Api([&]() -> absl::Status {
    HETGPU_RETURN_IF_ERROR(CheckOutput(version, "version"));
    *version = HETGPU_VERSION;
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuBackendCount(uint32_t* count) {
  return Api([&]() -> absl::Status {
    HETGPU_RETURN_IF_ERROR(CheckOutput(count, "backend count"));
    HETGPU_ASSIGN_OR_RETURN(Platform* const platform, Platform::Get());
    *count = platform->backend_count();
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuBackendGetInfo(uint32_t index, hetgpuBackendInfo* info) {
  return Api([&] { return GetBackend(index, info); });
}

hetgpuResult hetgpuDeviceCount(uint32_t* count) {
  return Api([&]() -> absl::Status {
    HETGPU_RETURN_IF_ERROR(CheckOutput(count, "device count"));
    HETGPU_ASSIGN_OR_RETURN(Platform* const platform, Platform::Get());
    HETGPU_ASSIGN_OR_RETURN(*count, platform->DeviceCount());
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuDeviceGet(uint32_t ordinal, hetgpuDevice* device) {
  return Api([&] { return GetDevice(ordinal, device); });
}

hetgpuResult hetgpuDeviceGetByName(const char* name, hetgpuDevice* device) {
  return Api([&] { return GetDeviceByName(name, device); });
}

hetgpuResult hetgpuDeviceGetProperties(hetgpuDevice device,
                                       hetgpuDeviceProperties* properties) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Device>(device));
    return FillStruct(properties, PropertiesOf(*found), "device properties");
  });
}

hetgpuResult hetgpuDeviceGetProperty(hetgpuDevice device,
                                     hetgpuDeviceProperty property,
                                     uint64_t* value) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Device>(device));
    HETGPU_RETURN_IF_ERROR(CheckOutput(value, "device property"));
    HETGPU_ASSIGN_OR_RETURN(*value, PropertyOf(*found, property));
    return absl::OkStatus();
  });
}

}  // extern "C"
