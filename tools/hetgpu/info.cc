// hetgpu info: what is here, what is not, and why.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/common/api_status.h"
#include "tools/common/status_macros.h"
#include "tools/common/text.h"
#include "tools/hetgpu/command.h"

namespace hetgpu::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kHelp[] =
    "Usage: hetgpu info [--json]\n\n"
    "Shows every backend of this build with its devices, or why there is "
    "none,\nthe version, and the JIT cache.\n\n"
    "  --json  one JSON object\n"
    "  --help  this text\n";

struct Info {
  uint32_t version = 0;
  std::vector<hetgpuBackendInfo> backends;
  std::vector<hetgpuDeviceProperties> devices;
  hetgpuCacheInfo cache{};
};

absl::Status CollectBackends(Info* info) {
  uint32_t count = 0;
  RETURN_IF_ERROR(ToStatus(hetgpuBackendCount(&count)));
  for (uint32_t i = 0; i < count; ++i) {
    hetgpuBackendInfo backend{};
    backend.struct_size = sizeof backend;
    RETURN_IF_ERROR(ToStatus(hetgpuBackendGetInfo(i, &backend)));
    info->backends.push_back(backend);
  }
  return absl::OkStatus();
}

absl::Status CollectDevices(Info* info) {
  uint32_t count = 0;
  RETURN_IF_ERROR(ToStatus(hetgpuDeviceCount(&count)));
  for (uint32_t i = 0; i < count; ++i) {
    hetgpuDevice device = nullptr;
    RETURN_IF_ERROR(ToStatus(hetgpuDeviceGet(i, &device)));
    hetgpuDeviceProperties properties{};
    properties.struct_size = sizeof properties;
    RETURN_IF_ERROR(ToStatus(hetgpuDeviceGetProperties(device, &properties)));
    info->devices.push_back(properties);
  }
  return absl::OkStatus();
}

absl::StatusOr<Info> Collect() {
  Info info;
  RETURN_IF_ERROR(ToStatus(hetgpuGetVersion(&info.version)));
  RETURN_IF_ERROR(CollectBackends(&info));
  RETURN_IF_ERROR(CollectDevices(&info));
  info.cache.struct_size = sizeof info.cache;
  RETURN_IF_ERROR(ToStatus(hetgpuCacheGetInfo(&info.cache)));
  return info;
}

std::string VersionText(uint32_t version) {
  return Cat(version / 10000, ".", version / 100 % 100, ".", version % 100);
}

std::string SizeText(uint64_t bytes) {
  char text[32];
  if (bytes >= uint64_t{1} << 30) {
    std::snprintf(text, sizeof text, "%.1f GiB",
                  static_cast<double>(bytes) / (1 << 30));
  } else {
    std::snprintf(text, sizeof text, "%.1f MiB",
                  static_cast<double>(bytes) / (1 << 20));
  }
  return text;
}

std::string DeviceName(const hetgpuDeviceProperties& device) {
  return Cat(device.backend, ":", device.backend_ordinal);
}

std::string DimText(const hetgpuDim3& dim) {
  return Cat(dim.x, " x ", dim.y, " x ", dim.z);
}

void PrintRow(std::string_view label, const std::string& value) {
  std::printf("    %-22.*s %s\n", static_cast<int>(label.size()), label.data(),
              value.c_str());
}

void PrintDevice(const hetgpuDeviceProperties& device) {
  std::printf("  %s  %s\n", DeviceName(device).c_str(), device.name);
  PrintRow("target", device.target);
  PrintRow("memory", SizeText(device.total_memory));
  PrintRow("compute units", Cat(device.compute_units));
  PrintRow("warp size", Cat(device.warp_size));
  if (device.clock_khz != 0) {
    PrintRow("clock", Cat(device.clock_khz / 1000, " MHz"));
  }
  PrintRow("threads per block", Cat(device.max_threads_per_block));
  PrintRow("largest block", DimText(device.max_block));
  PrintRow("largest grid", DimText(device.max_grid));
  PrintRow("shared memory per block",
           Cat(device.max_shared_per_block, " bytes"));
  PrintRow("host can address", device.host_addressable ? "yes" : "no");
}

void PrintText(const Info& info) {
  std::printf("hetGPU %s\n", VersionText(info.version).c_str());
  for (const hetgpuBackendInfo& backend : info.backends) {
    if (!backend.available) {
      std::printf("\n%s: not available: %s\n", backend.name, backend.reason);
      continue;
    }
    std::printf("\n%s: %u device%s\n", backend.name, backend.device_count,
                backend.device_count == 1 ? "" : "s");
    for (const hetgpuDeviceProperties& device : info.devices) {
      if (std::string_view(device.backend) == backend.name) {
        PrintDevice(device);
      }
    }
  }
  std::printf("\nJIT cache: %s\n",
              *info.cache.directory != '\0' ? info.cache.directory : "none");
  if (*info.cache.problem != '\0') {
    std::printf("  not used: %s\n", info.cache.problem);
  }
  std::printf("  %llu kernels, %s of %s\n",
              static_cast<unsigned long long>(info.cache.entry_count),
              SizeText(info.cache.bytes).c_str(),
              SizeText(info.cache.max_bytes).c_str());
}

Json ToJson(const hetgpuDim3& dim) { return {dim.x, dim.y, dim.z}; }

Json ToJson(const hetgpuDeviceProperties& device) {
  return {{"id", DeviceName(device)},
          {"name", device.name},
          {"target", device.target},
          {"total_memory", device.total_memory},
          {"compute_units", device.compute_units},
          {"warp_size", device.warp_size},
          {"clock_khz", device.clock_khz},
          {"max_threads_per_block", device.max_threads_per_block},
          {"max_block", ToJson(device.max_block)},
          {"max_grid", ToJson(device.max_grid)},
          {"max_shared_per_block", device.max_shared_per_block},
          {"host_addressable", device.host_addressable != 0}};
}

Json ToJson(const hetgpuCacheInfo& cache) {
  return {{"directory", cache.directory},
          {"problem", cache.problem},
          {"entries", cache.entry_count},
          {"bytes", cache.bytes},
          {"max_bytes", cache.max_bytes}};
}

void PrintJson(const Info& info) {
  Json backends = Json::array();
  for (const hetgpuBackendInfo& backend : info.backends) {
    Json json = {{"name", backend.name},
                 {"available", backend.available != 0},
                 {"reason", backend.reason},
                 {"devices", Json::array()}};
    for (const hetgpuDeviceProperties& device : info.devices) {
      if (std::string_view(device.backend) == backend.name) {
        json["devices"].push_back(ToJson(device));
      }
    }
    backends.push_back(std::move(json));
  }
  const Json root = {{"version", VersionText(info.version)},
                     {"backends", std::move(backends)},
                     {"cache", ToJson(info.cache)}};
  std::puts(root.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace

absl::Status RunInfo(const std::vector<std::string_view>& args) {
  bool json = false;
  for (const std::string_view arg : args) {
    if (arg == "--help") {
      std::fputs(kHelp, stdout);
      return absl::OkStatus();
    }
    if (arg != "--json") {
      return absl::InvalidArgumentError(
          Cat("info: unknown argument '", arg, "'; try hetgpu info --help"));
    }
    json = true;
  }
  ASSIGN_OR_RETURN(const Info info, Collect());
  if (json)
    PrintJson(info);
  else
    PrintText(info);
  return absl::OkStatus();
}

}  // namespace hetgpu::tools
