// hetgpuFunction…, hetgpuLaunch….
#include "runtime/api.h"
#include "runtime/function.h"
#include "runtime/launch.h"

using namespace hetgpu::runtime;

namespace {

absl::Status GetParameter(hetgpuFunction function, uint32_t index,
                          hetgpuParameterInfo* info) {
  HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Function>(function));
  const auto& params = found->info().params;
  if (index >= params.size()) {
    return Error(HETGPU_ERROR_NOT_FOUND, "kernel ", found->info().name,
                 ": parameter ", index, " does not exist, there are ",
                 params.size());
  }
  return FillStruct(info, ToApi(params[index]), "parameter info");
}

absl::Status GetText(hetgpuFunction function, hetgpuFunctionText which,
                     const char** text) {
  HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Function>(function));
  HETGPU_RETURN_IF_ERROR(CheckOutput(text, "function text"));
  switch (which) {
    case HETGPU_FUNCTION_TEXT_NAME:
      *text = found->info().name.c_str();
      return absl::OkStatus();
    case HETGPU_FUNCTION_TEXT_REFUSAL:
      *text = found->refusal().c_str();
      return absl::OkStatus();
    case HETGPU_FUNCTION_TEXT_EXPLANATION: {
      HETGPU_ASSIGN_OR_RETURN(const std::string* const explanation,
                              found->Explain());
      *text = explanation->c_str();
      return absl::OkStatus();
    }
  }
  return Error(HETGPU_ERROR_INVALID_VALUE, "function text ",
               static_cast<int>(which), " does not exist");
}

hetgpu::Dim3 FromApi(hetgpuDim3 dim) { return {dim.x, dim.y, dim.z}; }

// `pack` makes the parameter block from the kernel.
template <typename Pack>
absl::Status LaunchWith(hetgpuFunction function, const LaunchShape& shape,
                        hetgpuStream stream, Pack&& pack) {
  HETGPU_ASSIGN_OR_RETURN(auto found, Lookup<Function>(function));
  HETGPU_ASSIGN_OR_RETURN(const auto queue,
                          LookupStream(stream, found->context()));
  HETGPU_ASSIGN_OR_RETURN(std::string params, pack(found->info()));
  return Launch(std::move(found), shape, *queue, std::move(params));
}

}  // namespace

extern "C" {

hetgpuResult hetgpuFunctionGetParameterCount(hetgpuFunction function,
                                             uint32_t* count) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Function>(function));
    HETGPU_RETURN_IF_ERROR(CheckOutput(count, "parameter count"));
    *count = found->info().params.size();
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuFunctionGetParameter(hetgpuFunction function, uint32_t index,
                                        hetgpuParameterInfo* info) {
  return Api([&] { return GetParameter(function, index, info); });
}

hetgpuResult hetgpuFunctionGetAttribute(hetgpuFunction function,
                                        hetgpuFunctionAttribute attribute,
                                        uint64_t* value) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Function>(function));
    HETGPU_RETURN_IF_ERROR(CheckOutput(value, "function attribute"));
    HETGPU_ASSIGN_OR_RETURN(*value, AttributeOf(*found, attribute));
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuFunctionGetText(hetgpuFunction function,
                                   hetgpuFunctionText which,
                                   const char** text) {
  return Api([&] { return GetText(function, which, text); });
}

hetgpuResult hetgpuFunctionPrepare(hetgpuFunction function) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Function>(function));
    return found->Prepare();
  });
}

hetgpuResult hetgpuLaunchKernel(hetgpuFunction function, hetgpuDim3 grid,
                                hetgpuDim3 block, uint32_t shared_bytes,
                                hetgpuStream stream, void** args) {
  return Api([&] {
    return LaunchWith(function, {FromApi(grid), FromApi(block), shared_bytes},
                      stream, [&](const hetgpu::KernelInfo& kernel) {
                        return PackArguments(kernel, args);
                      });
  });
}

hetgpuResult hetgpuLaunchCooperativeKernel(hetgpuFunction function,
                                           hetgpuDim3 grid, hetgpuDim3 block,
                                           uint32_t shared_bytes,
                                           hetgpuStream stream, void** args) {
  return Api([&] {
    const LaunchShape shape = {FromApi(grid), FromApi(block), shared_bytes,
                               /*cooperative=*/true};
    return LaunchWith(function, shape, stream,
                      [&](const hetgpu::KernelInfo& kernel) {
                        return PackArguments(kernel, args);
                      });
  });
}

hetgpuResult hetgpuFunctionGetMaxCooperativeBlocks(hetgpuFunction function,
                                                   hetgpuDim3 block,
                                                   uint32_t shared_bytes,
                                                   uint64_t* blocks) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Function>(function));
    HETGPU_RETURN_IF_ERROR(CheckOutput(blocks, "cooperative blocks"));
    HETGPU_ASSIGN_OR_RETURN(
        *blocks, MaxCooperativeBlocks(
                     *found, {{1, 1, 1}, FromApi(block), shared_bytes}));
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuLaunchKernelPacked(hetgpuFunction function, hetgpuDim3 grid,
                                      hetgpuDim3 block, uint32_t shared_bytes,
                                      hetgpuStream stream, const void* params,
                                      size_t bytes) {
  return Api([&] {
    return LaunchWith(function, {FromApi(grid), FromApi(block), shared_bytes},
                      stream, [&](const hetgpu::KernelInfo& kernel) {
                        return CopyBlock(kernel, params, bytes);
                      });
  });
}

}  // extern "C"
