// Launches: their checks, and giving them to the processor.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "tests/drivers/cuda/processor.h"
#include "tests/drivers/cuda/state.h"

namespace hetgpu::cuda::fake {
namespace {

uint64_t Volume(const Dim3& dim) { return uint64_t{dim.x} * dim.y * dim.z; }

bool IsWithin(const Dim3& dim, const Dim3& limit) {
  return Volume(dim) != 0 && dim.x <= limit.x && dim.y <= limit.y &&
         dim.z <= limit.z;
}

// What the kernel's own directives allow.
bool IsBlockOf(const KernelInfo& info, const Dim3& block) {
  const uint32_t* required = info.required_threads;
  if (required[0] != 0 && (block.x != required[0] ||
                           block.y != std::max(required[1], 1u) ||
                           block.z != std::max(required[2], 1u))) {
    return false;
  }
  const uint32_t* most = info.max_threads;
  return most[0] == 0 || Volume(block) <= uint64_t{most[0]} *
                                              std::max(most[1], 1u) *
                                              std::max(most[2], 1u);
}

CUresult Check(const CUfunc_st& function, const LaunchDesc& desc) {
  if (!IsWithin(desc.grid, {2147483647, 65535, 65535}) ||
      !IsWithin(desc.block, {1024, 1024, 64}) || Volume(desc.block) > 1024 ||
      !IsBlockOf(*function.info, desc.block) ||
      desc.dynamic_shared_bytes > function.max_dynamic_shared ||
      function.info->static_shared_bytes + desc.dynamic_shared_bytes >
          kMaxShared) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

// The parameter block from one pointer a parameter, or from the list of keys and
// values that holds a whole one.
bool ReadParameters(const KernelInfo& info, void** arguments, void** extra,
                    std::string* params) {
  params->assign(info.param_bytes, '\0');
  if (arguments != nullptr) {
    if (extra != nullptr) return false;
    for (size_t i = 0; i < info.params.size(); ++i) {
      std::memcpy(params->data() + info.params[i].offset, arguments[i],
                  info.params[i].size);
    }
    return true;
  }
  if (extra == nullptr) return info.params.empty();
  if (extra[0] != kLaunchParamBuffer || extra[2] != kLaunchParamBufferSize ||
      extra[4] != kLaunchParamEnd ||
      *static_cast<const size_t*>(extra[3]) != info.param_bytes) {
    return false;
  }
  std::memcpy(params->data(), extra[1], info.param_bytes);
  return true;
}

// How many blocks of the shape a multiprocessor of this driver holds.
int BlocksOf(const KernelInfo& info, uint64_t threads, uint64_t dynamic) {
  const uint64_t shared = info.static_shared_bytes + dynamic;
  const uint64_t by_threads = 2048 / ((threads + 31) / 32 * 32);
  const uint64_t by_shared = shared == 0 ? 32 : (kMaxShared + 1024) / shared;
  return static_cast<int>(std::min({by_threads, by_shared, uint64_t{32}}));
}

// Of a live context, whichever is current: the driver takes it from the
// handles.
bool IsValid(CUfunction function, CUstream stream) {
  State& state = Get();
  return state.functions.count(function) != 0 &&
         state.streams.count(stream) != 0 &&
         state.contexts.count(stream->context) != 0 &&
         function->module->context == stream->context;
}

CUresult Start(CUfunction function, LaunchDesc desc, CUstream stream) {
  desc.kernel = function->kernel.get();
  desc.info = function->info;
  desc.module_data = function->module->loaded->data();
  const CUresult checked = Check(*function, desc);
  if (checked != CUDA_SUCCESS) return checked;
  ++Get().launches;
  Append(stream, [stream, desc = std::move(desc), kernel = function->kernel,
                  module = function->module->loaded,
                  line_info = function->module->line_info,
                  device = stream->context->device] {
    return Processor::Of(device).Run(stream->launches, desc, line_info);
  });
  return CUDA_SUCCESS;
}

bool IsValid(CUfunction function) {
  return Get().functions.count(function) != 0 &&
         function->module->context == CurrentContext();
}

}  // namespace

CUresult LaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                      unsigned grid_z, unsigned block_x, unsigned block_y,
                      unsigned block_z, unsigned shared, CUstream stream,
                      void** arguments, void** extra) {
  FAKE_ENTER("cuLaunchKernel", false);
  if (Get().sticky != CUDA_SUCCESS) return Get().sticky;
  LaunchDesc desc;
  if (!IsValid(function, stream) ||
      !ReadParameters(*function->info, arguments, extra, &desc.params)) {
    return Misuse("cuLaunchKernel");
  }
  desc.grid = {grid_x, grid_y, grid_z};
  desc.block = {block_x, block_y, block_z};
  desc.dynamic_shared_bytes = shared;
  return Start(function, std::move(desc), stream);
}

CUresult LaunchCooperativeKernel(CUfunction function, unsigned grid_x,
                                 unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y,
                                 unsigned block_z, unsigned shared,
                                 CUstream stream, void** arguments) {
  FAKE_ENTER("cuLaunchCooperativeKernel", true);
  LaunchDesc desc;
  if (!IsValid(function) || !IsValid(function, stream) ||
      !ReadParameters(*function->info, arguments, nullptr, &desc.params)) {
    return Misuse("cuLaunchCooperativeKernel");
  }
  desc.grid = {grid_x, grid_y, grid_z};
  desc.block = {block_x, block_y, block_z};
  desc.dynamic_shared_bytes = shared;
  desc.cooperative = true;
  const int blocks = BlocksOf(*function->info, Volume(desc.block), shared);
  if (Volume(desc.grid) > uint64_t{kMultiprocessors} * blocks) {
    return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
  }
  return Start(function, std::move(desc), stream);
}

CUresult OccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                   CUfunction function,
                                                   int block_size,
                                                   size_t shared) {
  FAKE_ENTER("cuOccupancyMaxActiveBlocksPerMultiprocessor", true);
  if (!IsValid(function) || block_size <= 0 || block_size > 1024) {
    return Misuse("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  }
  *blocks = BlocksOf(*function->info, block_size, shared);
  return CUDA_SUCCESS;
}

}  // namespace hetgpu::cuda::fake
