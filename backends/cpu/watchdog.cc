#include "backends/cpu/watchdog.h"

#include <algorithm>
#include <string>
#include <utility>

#include "backends/cpu/launch.h"

namespace hetgpu::cpu {
namespace {

constexpr std::chrono::milliseconds kInterruptPeriod(1);

}  // namespace

Watchdog::~Watchdog() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Watchdog::Watched* Watchdog::Find(Launch* launch) {
  for (Watched& watched : watched_) {
    if (watched.launch == launch) return &watched;
  }
  return nullptr;
}

void Watchdog::StartThread() {
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  changed_.notify_all();
}

void Watchdog::Arm(Launch* launch, uint64_t timeout_ms) {
  // A century is never: keeps the clock's arithmetic from overflowing.
  const uint64_t bounded =
      std::min<uint64_t>(timeout_ms, uint64_t{100} * 365 * 86400 * 1000);
  std::lock_guard<std::mutex> lock(mutex_);
  watched_.push_back({launch, false, timeout_ms,
                      Clock::now() + std::chrono::milliseconds(bounded)});
  StartThread();
}

void Watchdog::Stop(Launch* launch) {
  std::lock_guard<std::mutex> lock(mutex_);
  Watched* watched = Find(launch);
  if (watched == nullptr) {
    watched_.push_back({launch, true, 0, Clock::now()});
  } else if (!watched->stopping) {
    watched->stopping = true;
    watched->deadline = Clock::now();
  }
  StartThread();
}

void Watchdog::Forget(Launch* launch) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(watched_, [&](const Watched& w) { return w.launch == launch; });
}

void Watchdog::Act(Watched* watched) {
  Launch* launch = watched->launch;
  if (watched->stopping) {
    launch->InterruptWorkers();
    watched->deadline = Clock::now() + kInterruptPeriod;
    return;
  }
  watched->stopping = true;
  watched->deadline = Clock::now();
  launch->RecordTimeout(watched->timeout_ms);
}

void Watchdog::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ending_) {
    if (watched_.empty()) {
      changed_.wait(lock);
      continue;
    }
    auto due = std::min_element(
        watched_.begin(), watched_.end(),
        [](const auto& a, const auto& b) { return a.deadline < b.deadline; });
    if (due->deadline <= Clock::now()) {
      Act(&*due);
    } else {
      const Clock::time_point deadline = due->deadline;
      changed_.wait_until(lock, deadline);
    }
  }
}

}  // namespace hetgpu::cpu
