#include "tools/hetgpu-run/prepare.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

// How soon an interrupt is seen.
constexpr auto kTick = std::chrono::milliseconds(10);

std::atomic<bool> abandoned{false};

void Collect(const Steps& steps, Session* session,
             std::vector<hetgpuFunction>& functions) {
  for (const Step& step : steps) {
    if (const auto* repeat = std::get_if<RepeatStep>(&step.action)) {
      Collect(repeat->steps, session, functions);
    } else if (const auto* loop = std::get_if<ForStep>(&step.action)) {
      Collect(loop->steps, session, functions);
    } else if (const auto* launch = std::get_if<LaunchStep>(&step.action)) {
      const auto kernel = session->FindKernel(launch->kernel);
      if (!kernel.ok()) continue;
      const hetgpuFunction function = (*kernel)->handle;
      if (std::find(functions.begin(), functions.end(), function) ==
          functions.end()) {
        functions.push_back(function);
      }
    }
  }
}

}  // namespace

// Outlives the object when the thread does.
struct Prepare::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::set<hetgpuFunction> done;
  bool stop = false;
  bool ended = false;
};

std::vector<hetgpuFunction> FunctionsOf(const Steps& steps, Session* session) {
  std::vector<hetgpuFunction> functions;
  Collect(steps, session, functions);
  return functions;
}

Prepare::Prepare(std::vector<hetgpuFunction> functions, Session* session)
    : session_(session),
      functions_(std::move(functions)),
      shared_(std::make_shared<Shared>()),
      thread_([shared = shared_, functions = functions_] {
        Work(shared, functions);
      }) {}

void Prepare::Work(const std::shared_ptr<Shared>& shared,
                   const std::vector<hetgpuFunction>& functions) {
  for (hetgpuFunction function : functions) {
    {
      std::lock_guard lock(shared->mutex);
      if (shared->stop) break;
    }
    (void)hetgpuFunctionPrepare(function);
    std::lock_guard lock(shared->mutex);
    shared->done.insert(function);
    shared->changed.notify_all();
  }
  std::lock_guard lock(shared->mutex);
  shared->ended = true;
  shared->changed.notify_all();
}

Prepare::~Prepare() {
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  // Long enough for a thread that is between two kernels.
  shared_->changed.wait_for(lock, kTick, [this] { return shared_->ended; });
  const bool ended = shared_->ended;
  lock.unlock();
  if (ended) {
    thread_.join();
    return;
  }
  thread_.detach();
  abandoned = true;
  session_->Abandon();
}

absl::Status Prepare::Wait(const Kernel& kernel, const Progress& progress) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const std::chrono::milliseconds limit(session_->timeout_ms());
  std::unique_lock lock(shared_->mutex);
  const auto finished = [&] {
    return shared_->ended || shared_->done.count(kernel.handle) != 0;
  };
  while (!shared_->changed.wait_for(lock, kTick, finished)) {
    if (progress.interrupted) return absl::CancelledError("interrupted");
    if (limit.count() != 0 && Clock::now() - start > limit) {
      return absl::DeadlineExceededError(
          Cat("kernel '", kernel.name, "': compiling it took longer than ",
              limit.count(), " ms"));
    }
  }
  return absl::OkStatus();
}

bool Prepare::Abandoned() { return abandoned; }

}  // namespace hetgpu::tools
