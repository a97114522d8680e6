// Events.
#include <chrono>

#include "tests/drivers/cuda/processor.h"
#include "tests/drivers/cuda/state.h"

namespace hetgpu::cuda::fake {
namespace {

uint64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

CUresult EventCreate(CUevent* event, unsigned flags) {
  FAKE_ENTER("cuEventCreate", true);
  *event = &Get().made_events.emplace_back();
  (*event)->context = CurrentContext();
  (*event)->timing = (flags & kEventDisableTiming) == 0;
  Get().events.insert(*event);
  return CUDA_SUCCESS;
}

CUresult EventDestroy(CUevent event) {
  FAKE_ENTER("cuEventDestroy_v2", true);
  if (Get().events.erase(event) == 0) return Misuse("cuEventDestroy_v2");
  return CUDA_SUCCESS;
}

CUresult EventRecord(CUevent event, CUstream stream) {
  FAKE_ENTER("cuEventRecord", true);
  if (Get().events.count(event) == 0) return Misuse("cuEventRecord");
  const uint64_t number = event->last + 1;
  const CUresult result = Push("cuEventRecord", stream, [event, number] {
    std::lock_guard<std::mutex> reached(Get().mutex);
    if (number == event->last) event->time_ns = NowNs();
    event->not_reached.erase(number);
    Get().changed.notify_all();
    return CUresult{CUDA_SUCCESS};
  });
  if (result != CUDA_SUCCESS) return result;
  event->last = number;
  event->not_reached.insert(number);
  return CUDA_SUCCESS;
}

CUresult EventQuery(CUevent event) {
  FAKE_ENTER("cuEventQuery", true);
  if (Get().events.count(event) == 0) return Misuse("cuEventQuery");
  return event->IsReached() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult EventSynchronize(CUevent event) {
  FAKE_ENTER("cuEventSynchronize", true);
  if (Get().events.count(event) == 0) return Misuse("cuEventSynchronize");
  const uint64_t number = event->last;
  Get().changed.wait(lock, [&] {
    return event->not_reached.count(number) == 0 ||
           Get().sticky != CUDA_SUCCESS;
  });
  Processor::Of(CurrentContext()->device).Flush();
  return Get().sticky;
}

CUresult EventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  FAKE_ENTER("cuEventElapsedTime", true);
  const auto measures = [](CUevent event) {
    return Get().events.count(event) != 0 && event->timing &&
           event->last != 0 && event->context == CurrentContext();
  };
  if (!measures(start) || !measures(end)) return Misuse("cuEventElapsedTime");
  if (!start->IsReached() || !end->IsReached()) return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(
      static_cast<double>(static_cast<int64_t>(end->time_ns - start->time_ns)) /
      1e6);
  return CUDA_SUCCESS;
}

}  // namespace hetgpu::cuda::fake
