// hetgpuHost….
#include "runtime/api.h"

using namespace hetgpu::runtime;

extern "C" {

hetgpuResult hetgpuHostAlloc(hetgpuContext context, uint64_t bytes,
                             void** memory) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    HETGPU_RETURN_IF_ERROR(CheckOutput(memory, "host memory"));
    HETGPU_ASSIGN_OR_RETURN(
        *memory,
        found->host_memory().Allocate(found->opening()->device(), bytes));
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuHostFree(hetgpuContext context, void* memory) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    found->WaitIdle();
    return found->host_memory().Free(found->opening()->device(), memory);
  });
}

hetgpuResult hetgpuHostRegister(hetgpuContext context, void* memory,
                                uint64_t bytes) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    return found->host_memory().Register(found->opening()->device(), memory,
                                         bytes);
  });
}

hetgpuResult hetgpuHostUnregister(hetgpuContext context, void* memory) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    found->WaitIdle();
    return found->host_memory().Unregister(found->opening()->device(), memory);
  });
}

}  // extern "C"
