// hetgpuStream….
#include "runtime/api.h"
#include "runtime/event.h"
#include "runtime/function.h"

using namespace hetgpu::runtime;

namespace {

absl::Status Destroy(hetgpuStream stream) {
  HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Stream>(stream));
  if (found == found->context().default_stream()) {
    return Error(HETGPU_ERROR_INVALID_VALUE,
                 "the default stream belongs to its context and goes with it");
  }
  HETGPU_ASSIGN_OR_RETURN(const auto removed,
                          HandleTable<Stream>::Get().Remove(stream));
  removed->context().Disown(reinterpret_cast<uint64_t>(stream));
  removed->Settle();
  return absl::OkStatus();
}

}  // namespace

extern "C" {

hetgpuResult hetgpuStreamCreate(hetgpuContext context, uint32_t flags,
                                hetgpuStream* stream) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(auto found, Lookup<Context>(context));
    HETGPU_RETURN_IF_ERROR(CheckOutput(stream, "stream"));
    HETGPU_RETURN_IF_ERROR(CheckFlags(flags, "stream"));
    HETGPU_ASSIGN_OR_RETURN(const auto made, Stream::Create(std::move(found)));
    *stream = made->handle();
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuStreamDestroy(hetgpuStream stream) {
  return Api([&] { return Destroy(stream); });
}

hetgpuResult hetgpuStreamSynchronize(hetgpuStream stream) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Stream>(stream));
    return found->Synchronize();
  });
}

hetgpuResult hetgpuStreamQuery(hetgpuStream stream) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Stream>(stream));
    return found->Query();
  });
}

hetgpuResult hetgpuStreamCancel(hetgpuStream stream) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Stream>(stream));
    found->Cancel();
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuStreamWaitEvent(hetgpuStream stream, hetgpuEvent event) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Stream>(stream));
    HETGPU_ASSIGN_OR_RETURN(const auto point, Lookup<Event>(event));
    HETGPU_RETURN_IF_ERROR(CheckSameContext(found->context(), point->context(),
                                            "wait: stream and event"));
    return found->Wait(*point);
  });
}

hetgpuResult hetgpuStreamHostFunction(hetgpuStream stream,
                                      hetgpuHostFunction function, void* user) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Stream>(stream));
    return found->HostFunction(function, user);
  });
}

hetgpuResult hetgpuStreamGetContext(hetgpuStream stream,
                                    hetgpuContext* context) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Stream>(stream));
    HETGPU_RETURN_IF_ERROR(CheckOutput(context, "context"));
    *context = found->context().handle();
    return absl::OkStatus();
  });
}

}  // extern "C"
