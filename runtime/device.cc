#include "runtime/device.h"

namespace hetgpu::runtime {
namespace {

struct PropertyRow {
  hetgpuDeviceProperty property;
  uint64_t (*get)(const Device& device);
};

#define HETGPU_PROPERTY(name, expression)                        \
  {                                                              \
    name, [](const Device& d) -> uint64_t { return expression; } \
  }
constexpr PropertyRow kProperties[] = {
    HETGPU_PROPERTY(HETGPU_DEVICE_ORDINAL, d.ordinal()),
    HETGPU_PROPERTY(HETGPU_DEVICE_BACKEND_ORDINAL, d.backend_ordinal()),
    HETGPU_PROPERTY(HETGPU_DEVICE_TOTAL_MEMORY, d.info().total_memory),
    HETGPU_PROPERTY(HETGPU_DEVICE_COMPUTE_UNITS, d.info().compute_units),
    HETGPU_PROPERTY(HETGPU_DEVICE_WARP_SIZE, d.info().warp_size),
    HETGPU_PROPERTY(HETGPU_DEVICE_CLOCK_KHZ, d.info().clock_khz),
    HETGPU_PROPERTY(HETGPU_DEVICE_MAX_THREADS_PER_BLOCK,
                    d.info().max_threads_per_block),
    HETGPU_PROPERTY(HETGPU_DEVICE_MAX_GRID_X, d.info().max_grid.x),
    HETGPU_PROPERTY(HETGPU_DEVICE_MAX_GRID_Y, d.info().max_grid.y),
    HETGPU_PROPERTY(HETGPU_DEVICE_MAX_GRID_Z, d.info().max_grid.z),
    HETGPU_PROPERTY(HETGPU_DEVICE_MAX_BLOCK_X, d.info().max_block.x),
    HETGPU_PROPERTY(HETGPU_DEVICE_MAX_BLOCK_Y, d.info().max_block.y),
    HETGPU_PROPERTY(HETGPU_DEVICE_MAX_BLOCK_Z, d.info().max_block.z),
    HETGPU_PROPERTY(HETGPU_DEVICE_MAX_SHARED_PER_BLOCK,
                    d.info().max_shared_per_block),
    HETGPU_PROPERTY(HETGPU_DEVICE_HOST_ADDRESSABLE, d.info().host_addressable),
};
#undef HETGPU_PROPERTY

hetgpuDim3 ToApi(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }

}  // namespace

absl::StatusOr<uint64_t> PropertyOf(const Device& device,
                                    hetgpuDeviceProperty property) {
  for (const PropertyRow& row : kProperties) {
    if (row.property == property) return row.get(device);
  }
  return Error(HETGPU_ERROR_INVALID_VALUE, "device property ",
               static_cast<int>(property), " does not exist");
}

hetgpuDeviceProperties PropertiesOf(const Device& device) {
  const DeviceInfo& info = device.info();
  hetgpuDeviceProperties properties = {};
  properties.name = info.name.c_str();
  properties.backend = info.backend.c_str();
  properties.target = info.target.c_str();
  properties.ordinal = device.ordinal();
  properties.backend_ordinal = device.backend_ordinal();
  properties.total_memory = info.total_memory;
  properties.compute_units = info.compute_units;
  properties.warp_size = info.warp_size;
  properties.clock_khz = info.clock_khz;
  properties.max_threads_per_block = info.max_threads_per_block;
  properties.max_grid = ToApi(info.max_grid);
  properties.max_block = ToApi(info.max_block);
  properties.max_shared_per_block = info.max_shared_per_block;
  properties.host_addressable = info.host_addressable;
  return properties;
}

}  // namespace hetgpu::runtime
