#include "backends/cpu/event.h"

#include <chrono>

namespace hetgpu::cpu {

void CpuEvent::State::Reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  done_.store(false, std::memory_order_relaxed);
}

void CpuEvent::State::Reach() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  std::lock_guard<std::mutex> lock(mutex_);
  timestamp_ns_ = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  done_.store(true, std::memory_order_release);
  reached_.notify_all();
}

void CpuEvent::State::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  reached_.wait(lock, [&] { return Done(); });
}

absl::Status CpuEvent::Wait() {
  state_->Wait();
  return absl::OkStatus();
}

}  // namespace hetgpu::cpu
