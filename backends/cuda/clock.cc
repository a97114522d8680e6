#include "backends/cuda/clock.h"

#include <chrono>
#include <utility>

namespace hetgpu::cuda {
namespace {

constexpr uint64_t kMaxAgeNs = 1000000000;

}  // namespace

uint64_t Clock::NowNs() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

uint64_t Clock::TimeOf(const Current& current, CUevent event,
                       const ClockPoint& point) {
  float milliseconds = 0;
  const CUresult result = current.library().EventElapsedTime(
      &milliseconds, point.event, event);
  if (result != CUDA_SUCCESS) return NowNs();
  return point.time_ns +
         static_cast<int64_t>(static_cast<double>(milliseconds) * 1e6);
}

CUresult Clock::Add(const Current& current) {
  const Library& library = current.library();
  const ClockPoint* last = points_.empty() ? nullptr : points_.back().get();
  const bool first =
      last == nullptr || last->generation != current.generation();
  CUresult result = CUDA_SUCCESS;
  if (first) result = library.StreamCreate(&stream_, kStreamNonBlocking);
  if (result != CUDA_SUCCESS) return result;
  auto point = std::make_unique<ClockPoint>();
  point->generation = current.generation();
  result = library.EventCreate(&point->event, 0);
  if (result != CUDA_SUCCESS) return result;
  result = library.EventRecord(point->event, stream_);
  if (result != CUDA_SUCCESS) return result;
  result = library.EventSynchronize(point->event);
  if (result != CUDA_SUCCESS) return result;
  // Later points hang on the first one of the context: reading the host's clock
  // again would make times jump by what the call takes.
  point->time_ns = first ? NowNs() : TimeOf(current, point->event, *last);
  points_.push_back(std::move(point));
  return CUDA_SUCCESS;
}

CUresult Clock::Near(const Current& current, const ClockPoint** point) {
  std::lock_guard<std::mutex> lock(mutex_);
  const bool usable = !points_.empty() &&
                      points_.back()->generation == current.generation() &&
                      NowNs() - points_.back()->time_ns < kMaxAgeNs;
  const CUresult result = usable ? CUresult{CUDA_SUCCESS} : Add(current);
  if (result == CUDA_SUCCESS) *point = points_.back().get();
  return result;
}

}  // namespace hetgpu::cuda
