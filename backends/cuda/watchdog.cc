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

bool Watchdog::Check(Launches& launches, LaunchError* runaway) {
  const Launch& launch = launches.front();
  Current current(context_);
  const bool present =
      current.status().ok() && current.generation() == launch.generation;
  const uint64_t now = Clock::NowNs();
  if (present &&
      current.library().EventQuery(launch.end) == CUDA_ERROR_NOT_READY) {
    if (now - launch.start_ns < launch.timeout_ns) return true;
    runaway->kind = LaunchError::Kind::kTimeout;
    runaway->kernel = launch.kernel;
    return true;
  }
  if (present) current.library().EventDestroy(launch.end);
  launches.pop_front();
  if (!launches.empty()) launches.front().start_ns = now;
  return false;
}

void Watchdog::Serve() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_) {
    LaunchError runaway;
    uint64_t generation = 0;
    for (auto& [stream, launches] : streams_) {
      while (!launches.empty() && !Check(launches, &runaway)) {
      }
      if (runaway.kind == LaunchError::Kind::kNone) continue;
      generation = launches.front().generation;
      break;
    }
    if (generation != 0) {
      lock.unlock();
      recovery_.OnRunaway(generation, std::move(runaway));
      lock.lock();
      continue;
    }
    std::erase_if(streams_, [](const auto& s) { return s.second.empty(); });
    if (streams_.empty()) {
      changed_.wait(lock, [this] { return ending_ || !streams_.empty(); });
    } else {
      changed_.wait_for(lock, kPeriod, [this] { return ending_; });
    }
  }
}

}  // namespace hetgpu::cuda
