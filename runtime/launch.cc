#include "runtime/launch.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "runtime/error.h"
#include "runtime/function.h"
#include "runtime/status_macros.h"
#include "runtime/stream.h"

namespace hetgpu::runtime {
namespace {

std::string Text(const Dim3& dim) {
  return absl::StrFormat("(%d, %d, %d)", dim.x, dim.y, dim.z);
}

std::string Text(const uint32_t dim[3]) {
  return Text(Dim3{dim[0], dim[1], dim[2]});
}

uint64_t Volume(const Dim3& dim) { return uint64_t{dim.x} * dim.y * dim.z; }

absl::Status Bad(const KernelInfo& kernel, const std::string& text) {
  return Error(HETGPU_ERROR_INVALID_CONFIGURATION, "kernel ", kernel.name, ": ",
               text);
}

absl::Status CheckExtent(const KernelInfo& kernel, std::string_view what,
                         const Dim3& dim, const Dim3& limit) {
  if (dim.x == 0 || dim.y == 0 || dim.z == 0) {
    return Bad(kernel, Cat(what, " ", Text(dim),
                           " has a zero, expected at least 1 in each "
                           "dimension"));
  }
  if (dim.x > limit.x || dim.y > limit.y || dim.z > limit.z) {
    return Bad(kernel, Cat(what, " ", Text(dim), " exceeds the device's ",
                           Text(limit)));
  }
  return absl::OkStatus();
}

absl::Status CheckBlock(const KernelInfo& kernel, const DeviceInfo& device,
                        const Dim3& block) {
  const uint64_t threads = Volume(block);
  if (threads > device.max_threads_per_block) {
    return Bad(kernel, Cat("block ", Text(block), " has ", threads,
                           " threads, the device allows ",
                           device.max_threads_per_block));
  }
  const uint32_t* required = kernel.required_threads;
  if (required[0] != 0 &&
      (block.x != required[0] || block.y != std::max(required[1], 1u) ||
       block.z != std::max(required[2], 1u))) {
    return Bad(kernel, Cat("block ", Text(block), " differs from its .reqntid ",
                           Text(required)));
  }
  const uint32_t* max = kernel.max_threads;
  if (max[0] != 0 && threads > uint64_t{max[0]} * std::max(max[1], 1u) *
                                   std::max(max[2], 1u)) {
    return Bad(kernel, Cat("block ", Text(block), " has ", threads,
                           " threads, more than its .maxntid ", Text(max)));
  }
  return absl::OkStatus();
}

absl::Status CheckShared(const KernelInfo& kernel, const DeviceInfo& device,
                         uint32_t dynamic_bytes) {
  const uint64_t fixed = dynamic_bytes == 0 ? kernel.static_shared_bytes
                                            : kernel.dynamic_shared_offset;
  if (fixed + dynamic_bytes <= device.max_shared_per_block) {
    return absl::OkStatus();
  }
  return Error(HETGPU_ERROR_OUT_OF_RESOURCES, "kernel ", kernel.name, ": ",
               fixed, " static plus ", dynamic_bytes,
               " dynamic bytes of shared memory exceed the device's ",
               device.max_shared_per_block, " per block");
}

}  // namespace

absl::Status CheckShape(const KernelInfo& kernel, const DeviceInfo& device,
                        const LaunchShape& shape) {
  HETGPU_RETURN_IF_ERROR(
      CheckExtent(kernel, "grid", shape.grid, device.max_grid));
  HETGPU_RETURN_IF_ERROR(
      CheckExtent(kernel, "block", shape.block, device.max_block));
  HETGPU_RETURN_IF_ERROR(CheckBlock(kernel, device, shape.block));
  return CheckShared(kernel, device, shape.shared_bytes);
}

absl::StatusOr<std::string> PackArguments(const KernelInfo& kernel,
                                          void* const* args) {
  std::string block(kernel.param_bytes, '\0');
  if (kernel.params.empty()) return block;
  if (args == nullptr) {
    return Error(HETGPU_ERROR_INVALID_ARGUMENTS, "kernel ", kernel.name,
                 ": no arguments, expected ", kernel.params.size());
  }
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const ParamInfo& param = kernel.params[i];
    if (args[i] == nullptr) {
      return Error(HETGPU_ERROR_INVALID_ARGUMENTS, "kernel ", kernel.name,
                   ": null pointer for argument ", i, " (", param.name,
                   "), expected one to ", param.size, " bytes");
    }
    std::memcpy(block.data() + param.offset, args[i], param.size);
  }
  return block;
}

absl::StatusOr<std::string> CopyBlock(const KernelInfo& kernel,
                                      const void* params, size_t bytes) {
  if (bytes != kernel.param_bytes) {
    return Error(HETGPU_ERROR_INVALID_ARGUMENTS, "kernel ", kernel.name,
                 ": parameter block of ", bytes, " bytes, expected ",
                 kernel.param_bytes);
  }
  if (bytes == 0) return std::string();
  if (params == nullptr) {
    return Error(HETGPU_ERROR_INVALID_ARGUMENTS, "kernel ", kernel.name,
                 ": null parameter block, expected ", bytes, " bytes");
  }
  return std::string(static_cast<const char*>(params), bytes);
}

absl::Status CheckCooperative(hetgpu::Device& device, const LaunchDesc& desc) {
  const auto limit = device.CooperativeLimit(desc);
  if (!limit.ok()) {
    return Annotate(ResultOf(limit.status()), Cat("kernel ", desc.info->name),
                    limit.status());
  }
  if (Volume(desc.grid) <= *limit) return absl::OkStatus();
  return Error(HETGPU_ERROR_OUT_OF_RESOURCES, "kernel ", desc.info->name,
               ": cooperative launch of ", Volume(desc.grid),
               " blocks, the device runs ", *limit,
               " blocks of this shape at the same time");
}

absl::StatusOr<uint64_t> MaxCooperativeBlocks(Function& function,
                                              const LaunchShape& shape) {
  Context& context = function.context();
  HETGPU_RETURN_IF_ERROR(CheckShape(function.info(), context.info(), shape));
  LaunchDesc desc;
  desc.info = &function.info();
  desc.block = shape.block;
  desc.dynamic_shared_bytes = shape.shared_bytes;
  auto limit =
      context.OnDevice([&](Opening& opening) -> absl::StatusOr<uint64_t> {
        HETGPU_ASSIGN_OR_RETURN(const auto prepared, function.Prepare(opening));
        desc.kernel = prepared->kernel.get();
        return opening.device().CooperativeLimit(desc);
      });
  if (limit.ok()) return limit;
  return Annotate(ResultOf(limit.status()), Cat("kernel ", desc.info->name),
                  limit.status());
}

absl::Status Launch(std::shared_ptr<Function> function,
                    const LaunchShape& shape, Stream& stream,
                    std::string params) {
  Context& context = function->context();
  HETGPU_RETURN_IF_ERROR(CheckSameContext(context, stream.context(),
                                          "launch: function and stream"));
  const KernelInfo& kernel = function->info();
  LaunchDesc desc;
  desc.info = &kernel;
  desc.grid = shape.grid;
  desc.block = shape.block;
  desc.dynamic_shared_bytes = shape.shared_bytes;
  desc.params = std::move(params);
  desc.module_data = function->module().data();
  desc.timeout_ms = context.launch_timeout_ms();
  desc.cooperative = shape.cooperative;
  if (context.unified()) desc.access = &function->Access();
  return stream.Launch(desc, *function);
}

}  // namespace hetgpu::runtime
