// hetgpuEvent….
#include "runtime/api.h"
#include "runtime/event.h"
#include "runtime/function.h"

using namespace hetgpu::runtime;

namespace {

absl::Status Record(hetgpuEvent event, hetgpuStream stream) {
  HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Event>(event));
  HETGPU_ASSIGN_OR_RETURN(const auto queue,
                          LookupStream(stream, found->context()));
  HETGPU_RETURN_IF_ERROR(CheckSameContext(found->context(), queue->context(),
                                          "record: event and stream"));
  return queue->Record(*found);
}

absl::Status ElapsedMs(hetgpuEvent start, hetgpuEvent end,
                       double* milliseconds) {
  HETGPU_ASSIGN_OR_RETURN(const auto first, Lookup<Event>(start));
  HETGPU_ASSIGN_OR_RETURN(const auto last, Lookup<Event>(end));
  HETGPU_RETURN_IF_ERROR(CheckOutput(milliseconds, "elapsed time"));
  HETGPU_RETURN_IF_ERROR(CheckSameContext(first->context(), last->context(),
                                          "elapsed time: two events"));
  HETGPU_ASSIGN_OR_RETURN(const uint64_t from, first->TimestampNs("start"));
  HETGPU_ASSIGN_OR_RETURN(const uint64_t to, last->TimestampNs("end"));
  *milliseconds = static_cast<double>(static_cast<int64_t>(to - from)) / 1e6;
  return absl::OkStatus();
}

}  // namespace

extern "C" {

hetgpuResult hetgpuEventCreate(hetgpuContext context, uint32_t flags,
                               hetgpuEvent* event) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(auto found, Lookup<Context>(context));
    HETGPU_RETURN_IF_ERROR(CheckOutput(event, "event"));
    HETGPU_RETURN_IF_ERROR(CheckFlags(flags, "event"));
    HETGPU_ASSIGN_OR_RETURN(*event, Event::Create(std::move(found)));
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuEventDestroy(hetgpuEvent event) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto removed,
                            HandleTable<Event>::Get().Remove(event));
    removed->context().Disown(reinterpret_cast<uint64_t>(event));
    return absl::OkStatus();
  });
}

hetgpuResult hetgpuEventRecord(hetgpuEvent event, hetgpuStream stream) {
  return Api([&] { return Record(event, stream); });
}

hetgpuResult hetgpuEventSynchronize(hetgpuEvent event) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Event>(event));
    return found->Synchronize();
  });
}

hetgpuResult hetgpuEventQuery(hetgpuEvent event) {
  return Api([&]() -> absl::Status {
    HETGPU_ASSIGN_OR_RETURN(const auto found, Lookup<Event>(event));
    return found->Query();
  });
}

hetgpuResult hetgpuEventElapsedMs(hetgpuEvent start, hetgpuEvent end,
                                  double* milliseconds) {
  return Api([&] { return ElapsedMs(start, end, milliseconds); });
}

}  // extern "C"
