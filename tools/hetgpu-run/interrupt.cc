#include "tools/hetgpu-run/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include "tools/common/exit_code.h"

namespace hetgpu::tools {
namespace {

constexpr double kFirstDrawSeconds = 1.0;
constexpr int kBarWidth = 30;

sigset_t Signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  // Wakes the watcher when it shall stop; nobody else sends it.
  sigaddset(&set, SIGUSR2);
  return set;
}

}  // namespace

void BlockSignals() {
  const sigset_t set = Signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Watcher::Watcher(Progress* progress, bool show_progress)
    : progress_(progress),
      show_progress_(show_progress && isatty(STDERR_FILENO) != 0),
      thread_([this] { Loop(); }) {}

Watcher::~Watcher() {
  stop_ = true;
  pthread_kill(thread_.native_handle(), SIGUSR2);
  thread_.join();
}

void Watcher::Loop() {
  const auto start = std::chrono::steady_clock::now();
  const sigset_t set = Signals();
  const timespec tick{.tv_sec = show_progress_ ? 0 : 3600,
                      .tv_nsec = show_progress_ ? 200'000'000 : 0};
  while (!stop_) {
    const int signal = sigtimedwait(&set, nullptr, &tick);
    if (signal == SIGINT || signal == SIGTERM) OnSignal();
    const std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    if (show_progress_ && !stop_) Draw(elapsed.count());
  }
  Erase();
}

void Watcher::OnSignal() {
  const bool again = progress_->interrupted.exchange(true);
  hetgpuStream stream = stream_;
  if (stream != nullptr && !again) {
    (void)hetgpuStreamCancel(stream);
    return;
  }
  Erase();
  std::fputs("hetgpu-run: error: interrupted\n", stderr);
  _exit(static_cast<int>(ExitCode::kInterrupted));
}

void Watcher::Draw(double seconds) {
  if (seconds < kFirstDrawSeconds || stream_ == nullptr) return;
  const uint64_t done = progress_->launches_done;
  const uint64_t total = progress_->launches_total;
  drawn_ = true;
  if (total < 2) {
    std::fprintf(stderr, "\r\033[Krunning, %.0f s", seconds);
    return;
  }
  const double part = static_cast<double>(done) / static_cast<double>(total);
  const int filled = static_cast<int>(part * kBarWidth);
  const std::string bar =
      std::string(filled, '#') + std::string(kBarWidth - filled, '.');
  std::fprintf(stderr, "\r\033[K[%s] %llu of %llu launches, %.0f s",
               bar.c_str(), static_cast<unsigned long long>(done),
               static_cast<unsigned long long>(total), seconds);
}

void Watcher::Erase() {
  if (drawn_) std::fputs("\r\033[K", stderr);
  drawn_ = false;
}

}  // namespace hetgpu::tools
