#include "backends/cuda/watchdog.h"

#include <chrono>
#include <utility>

#include "backends/cuda/clock.h"

namespace hetgpu::cuda {
namespace {

constexpr auto kPeriod = std::chrono::milliseconds(2);

}  // namespace

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

CUresult Watchdog::Watch(const Current& current, CUstream stream,
                         const std::string& kernel, uint64_t timeout_ms) {
  Launch launch;
  launch.kernel = kernel;
  launch.generation = current.generation();
  launch.timeout_ns = timeout_ms * 1000000;
  launch.start_ns = Clock::NowNs();
  CUresult result =
      current.library().EventCreate(&launch.end, kEventDisableTiming);
  if (result != CUDA_SUCCESS) return result;
  result = current.library().EventRecord(launch.end, stream);
  std::lock_guard<std::mutex> lock(mutex_);
  streams_[stream].push_back(std::move(launch));
  if (!thread_.joinable()) thread_ = std::thread([this] { Serve(); });
  changed_.notify_all();
  return result;
}

bool Watchdog::Check(const Current& current, Launches& launches) {
  while (!launches.empty()) {
    const Launch& launch = launches.front();
    const bool present =
        current.status().ok() && current.generation() == launch.generation;
    const uint64_t now = Clock::NowNs();
    if (present &&
        current.library().EventQuery(launch.end) == CUDA_ERROR_NOT_READY) {
      return now - launch.start_ns >= launch.timeout_ns;
    }
    if (present) current.library().EventDestroy(launch.end);
    launches.pop_front();
    if (!launches.empty()) launches.front().start_ns = now;
  }
  return false;
}

bool Watchdog::FindRunaway(Launch* runaway) {
  const Current current(context_);
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [stream, launches] : streams_) {
    if (!Check(current, launches)) continue;
    *runaway = launches.front();
    return true;
  }
  std::erase_if(streams_, [](const auto& s) { return s.second.empty(); });
  return false;
}

void Watchdog::Serve() {
  for (;;) {
    Launch runaway;
    if (FindRunaway(&runaway)) {
      LaunchError error;
      error.kind = LaunchError::Kind::kTimeout;
      error.kernel = runaway.kernel;
      recovery_.OnRunaway(runaway.generation, std::move(error));
    }
    std::unique_lock<std::mutex> lock(mutex_);
    if (streams_.empty()) {
      changed_.wait(lock, [this] { return ending_ || !streams_.empty(); });
    } else {
      changed_.wait_for(lock, kPeriod, [this] { return ending_; });
    }
    if (ending_) return;
  }
}

}  // namespace hetgpu::cuda
