// hetgpuContext….
#include "runtime/api.h"
#include "runtime/device.h"

using namespace hetgpu::runtime;

extern "C" {

hetgpuResult hetgpuContextCreate(hetgpuDevice device, uint32_t flags,
                                 hetgpuContext* context) {
  return Api([&]() -> absl::Status {
    HETGPU_RETURN_IF_ERROR(CheckOutput(context, "context"));
    HETGPU_RETURN_IF_ERROR(
        CheckFlags(flags, "context", HETGPU_CONTEXT_UNIFIED));
    HETGPU_ASSIGN_OR_RETURN(auto found, Lookup<Device>(device));
    HETGPU_ASSIGN_OR_RETURN(const auto made,
                            Context::Create(std::move(found), flags));
    *context = made->handle();
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuContextDestroy(hetgpuContext context) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto removed,
                            HandleTable<Context>::Get().Remove(context));
    removed->Close();
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuContextGetDevice(hetgpuContext context,
                                    hetgpuDevice* device) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    HETGPU_RETURN_IF_ERROR(CheckOutput(device, "device"));
    *device = found->device().handle();
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuContextGetDefaultStream(hetgpuContext context,
                                           hetgpuStream* stream) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    HETGPU_RETURN_IF_ERROR(CheckOutput(stream, "stream"));
    HETGPU_ASSIGN_OR_RETURN(const auto owned, LookupStream(nullptr, *found));
    *stream = owned->handle();
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuContextSynchronize(hetgpuContext context) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    return found->Synchronize();
  });
}

hetgpuResult hetgpuContextSetLimit(hetgpuContext context, hetgpuLimit limit,
                                   uint64_t value) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    return found->SetLimit(limit, value);
  });
}

hetgpuResult hetgpuContextGetLimit(hetgpuContext context, hetgpuLimit limit,
                                   uint64_t* value) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    HETGPU_RETURN_IF_ERROR(CheckOutput(value, "limit"));
    HETGPU_ASSIGN_OR_RETURN(*value, found->GetLimit(limit));
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuContextSetPrintf(hetgpuContext context,
                                    hetgpuPrintfCallback callback, void* user) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    return found->SetPrintf(callback, user);
  });
}

}  // extern "C"
