// hetgpuMem….
#include "runtime/api.h"
#include "runtime/device.h"

using namespace hetgpu::runtime;

namespace {

// Enqueues on the default stream and waits.
template <typename Enqueue>
hetgpuResult OnDefaultStream(hetgpuContext context, Enqueue&& enqueue) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    HETGPU_ASSIGN_OR_RETURN(const auto stream, LookupStream(nullptr, *found));
    HETGPU_RETURN_IF_ERROR(enqueue(*stream));
    return stream->Synchronize();
  });
}

template <typename Enqueue>
hetgpuResult OnStream(hetgpuStream stream, Enqueue&& enqueue) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Stream>(stream));
    return enqueue(*found);
  });
}

absl::Status CheckAdvice(hetgpuMemAdvice advice) {
  if (static_cast<unsigned>(advice) <= HETGPU_MEM_ADVICE_PREFER_HOST) {
    return absl::OkStatus();
  }
  return Error(HETGPU_ERROR_INVALID_VALUE, "advice ", static_cast<int>(advice),
               " does not exist");
}

}  // namespace

extern "C" {

hetgpuResult hetgpuMemAlloc(hetgpuContext context, uint64_t bytes,
                            hetgpuDevicePtr* address) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    HETGPU_RETURN_IF_ERROR(CheckOutput(address, "allocation"));
    HETGPU_ASSIGN_OR_RETURN(*address, found->Allocate(bytes));
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuMemFree(hetgpuContext context, hetgpuDevicePtr address) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    return found->Free(address);
  });
}

hetgpuResult hetgpuMemCopyHtoD(hetgpuContext context, hetgpuDevicePtr dst,
                               const void* src, uint64_t bytes) {
  return OnDefaultStream(context, [&](Stream& stream) {
    return stream.CopyToDevice(dst, src, bytes, /*now=*/true);
  });
}

hetgpuResult hetgpuMemCopyDtoH(hetgpuContext context, void* dst,
                               hetgpuDevicePtr src, uint64_t bytes) {
  return OnDefaultStream(context, [&](Stream& stream) {
    return stream.CopyFromDevice(dst, src, bytes, /*now=*/true);
  });
}

hetgpuResult hetgpuMemCopyDtoD(hetgpuContext context, hetgpuDevicePtr dst,
                               hetgpuDevicePtr src, uint64_t bytes) {
  return OnDefaultStream(
      context, [&](Stream& stream) { return stream.Copy(dst, src, bytes); });
}

hetgpuResult hetgpuMemCopyHtoDAsync(hetgpuDevicePtr dst, const void* src,
                                    uint64_t bytes, hetgpuStream stream) {
  return OnStream(stream, [&](Stream& found) {
    return found.CopyToDevice(dst, src, bytes);
  });
}

hetgpuResult hetgpuMemCopyDtoHAsync(void* dst, hetgpuDevicePtr src,
                                    uint64_t bytes, hetgpuStream stream) {
  return OnStream(stream, [&](Stream& found) {
    return found.CopyFromDevice(dst, src, bytes);
  });
}

hetgpuResult hetgpuMemCopyDtoDAsync(hetgpuDevicePtr dst, hetgpuDevicePtr src,
                                    uint64_t bytes, hetgpuStream stream) {
  return OnStream(stream,
                  [&](Stream& found) { return found.Copy(dst, src, bytes); });
}

hetgpuResult hetgpuMemFill(hetgpuContext context, hetgpuDevicePtr dst,
                           uint64_t pattern, uint32_t pattern_bytes,
                           uint64_t count) {
  return OnDefaultStream(context, [&](Stream& stream) {
    return stream.Fill(dst, pattern, pattern_bytes, count);
  });
}

hetgpuResult hetgpuMemFillAsync(hetgpuDevicePtr dst, uint64_t pattern,
                                uint32_t pattern_bytes, uint64_t count,
                                hetgpuStream stream) {
  return OnStream(stream, [&](Stream& found) {
    return found.Fill(dst, pattern, pattern_bytes, count);
  });
}

hetgpuResult hetgpuMemAdvise(hetgpuContext context, hetgpuDevicePtr address,
                             hetgpuMemAdvice advice) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    HETGPU_RETURN_IF_ERROR(CheckAdvice(advice));
    return found->Advise(address, advice);
  });
}

hetgpuResult hetgpuMemPrefetch(hetgpuContext context, hetgpuDevicePtr address,
                               uint64_t bytes) {
  return OnDefaultStream(context, [&](Stream& stream) {
    return stream.Prefetch(address, bytes);
  });
}

hetgpuResult hetgpuMemPrefetchAsync(hetgpuDevicePtr address, uint64_t bytes,
                                    hetgpuStream stream) {
  return OnStream(stream,
                  [&](Stream& found) { return found.Prefetch(address, bytes); });
}

hetgpuResult hetgpuMemGetAttributes(hetgpuContext context,
                                    hetgpuDevicePtr address,
                                    hetgpuMemAttributes* attributes) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    HETGPU_ASSIGN_OR_RETURN(const Allocation allocation,
                            found->allocations().Find(address));
    hetgpuMemAttributes value = {};
    value.base = allocation.base;
    value.size = allocation.size;
    value.device = found->device().handle();
    value.advice = allocation.advice;
    value.is_module_data = allocation.is_module_data;
    value.resident_bytes = allocation.size;
    if (found->unified() && !found->allocations().Holding(address)) {
      const UnifiedMember& member = *found->unified();
      value.is_unified = 1;
      value.resident_bytes =
          member.memory().ResidentBytes(member.location(), address);
    }
    return FillStruct(attributes, value, "memory attributes");
  });
}

hetgpuResult hetgpuMemGetInfo(hetgpuContext context, uint64_t* free_bytes,
                              uint64_t* total_bytes) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Context>(context));
    HETGPU_RETURN_IF_ERROR(CheckOutput(free_bytes, "free bytes"));
    HETGPU_RETURN_IF_ERROR(CheckOutput(total_bytes, "total bytes"));
    *free_bytes = found->FreeMemory();
    *total_bytes = found->info().total_memory;
    return absl::OkStatus();
  });
}

}  // extern "C"
