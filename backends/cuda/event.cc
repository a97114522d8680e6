#include "backends/cuda/event.h"

#include "backends/cuda/backoff.h"
#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {

CudaEvent::~CudaEvent() {
  if (event_ == nullptr || Context::HasRunaway()) return;
  Current current(context_);
  if (current.status().ok() && current.generation() == point_->generation) {
    current.library().EventDestroy(event_);
  }
}

CUresult CudaEvent::RecordOn(const Current& current, CUstream stream) {
  std::lock_guard<std::mutex> lock(mutex_);
  CUresult result = clock_.Near(current, &point_);
  if (result != CUDA_SUCCESS) return result;
  result = current.library().EventCreate(&event_, 0);
  if (result != CUDA_SUCCESS) return result;
  result = current.library().EventRecord(event_, stream);
  if (result == CUDA_SUCCESS) {
    reached_ = false;
  } else {
    ReachAt(Clock::NowNs());
  }
  return result;
}

void CudaEvent::ReachAt(uint64_t time_ns) const {
  reached_ = true;
  reached_ns_ = time_ns;
}

void CudaEvent::Reach() {
  std::lock_guard<std::mutex> lock(mutex_);
  ReachAt(Clock::NowNs());
}

CUresult CudaEvent::DelayStream(const Current& current,
                                CUstream stream) const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (reached_ || point_->generation != current.generation()) {
    return CUDA_SUCCESS;
  }
  return current.library().StreamWaitEvent(stream, event_, 0);
}

CUresult CudaEvent::Poll(uint64_t* generation) const {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (reached_) return CUDA_SUCCESS;
  }
  const Current current(context_);
  std::lock_guard<std::mutex> lock(mutex_);
  if (reached_) return CUDA_SUCCESS;
  *generation = current.generation();
  if (!current.status().ok() || *generation != point_->generation) {
    ReachAt(Clock::NowNs());
    return CUDA_SUCCESS;
  }
  const CUresult result = current.library().EventQuery(event_);
  if (result == CUDA_SUCCESS) {
    ReachAt(Clock::TimeOf(current, event_, *point_));
  }
  return result;
}

bool CudaEvent::Done() const {
  uint64_t generation = 0;
  const CUresult result = Poll(&generation);
  if (result == CUDA_SUCCESS) return true;
  if (LaunchFailure(result) == LaunchError::Kind::kNone) return false;
  recovery_.OnFault(generation, result);
  return Poll(&generation) == CUDA_SUCCESS;
}

absl::Status CudaEvent::Wait() {
  Backoff backoff;
  while (!Done()) backoff.Pause();
  return absl::OkStatus();
}

uint64_t CudaEvent::TimestampNs() const {
  (void)Done();  // the device knows the time
  std::lock_guard<std::mutex> lock(mutex_);
  return reached_ns_;
}

}  // namespace hetgpu::cuda
