#include "backends/cuda/recovery.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cuda/core_dump.h"
#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {
namespace {

constexpr char kEnded[] = "the process that runs the kernel is ended";
constexpr char kLeftRunning[] =
    "CUDA cannot stop a kernel, so its context was left to it and replaced: it "
    "runs on until the process ends, and memory freed from now on is not given "
    "back; memory contents are kept, other work in flight is lost";

// A fault takes all contexts of the process along, so any of their kernels may
// have been the one.
class Logs {
 public:
  static Logs& Get() {
    static Logs* const logs = new Logs;
    return *logs;
  }

  std::shared_ptr<LaunchLog> New() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(logs_, [](const auto& log) { return log.expired(); });
    auto log = std::make_shared<LaunchLog>();
    logs_.push_back(log);
    return log;
  }

  // "a", or "a or b" when both were in flight.
  std::string KernelsInFlight() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::string> all;
    for (const auto& weak : logs_) {
      const auto log = weak.lock();
      if (log == nullptr) continue;
      for (std::string& kernel : log->Kernels()) {
        if (std::find(all.begin(), all.end(), kernel) == all.end()) {
          all.push_back(std::move(kernel));
        }
      }
    }
    return absl::StrJoin(all, " or ");
  }

 private:
  std::mutex mutex_;
  std::vector<std::weak_ptr<LaunchLog>> logs_;
};

void Locate(LaunchError& error) {
  const absl::StatusOr<FaultSite> site = TakeCoreDump();
  if (!site.ok()) {
    absl::StrAppend(&error.detail, "; ", site.status().message());
    return;
  }
  if (!site->kernel.empty()) error.kernel = site->kernel;
  error.has_thread = site->has_thread;
  error.block = site->block;
  error.thread = site->thread;
  error.line = site->line;
}

}  // namespace

bool LaunchLog::Has(std::string_view kernel) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::find(kernels_.begin(), kernels_.end(), kernel) != kernels_.end();
}

void LaunchLog::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  kernels_.clear();
}

std::vector<std::string> LaunchLog::Kernels() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return kernels_;
}

std::shared_ptr<LaunchLog> Recovery::NewLog() { return Logs::Get().New(); }

void Recovery::OnFault(uint64_t generation, CUresult result) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (IsKnown(generation)) return;
  LaunchError error;
  error.kind = LaunchFailure(result);
  // The detail says what it really was.
  if (error.kind == LaunchError::Kind::kNone) {
    error.kind = LaunchError::Kind::kTrap;
  }
  error.kernel = Logs::Get().KernelsInFlight();
  error.detail =
      std::string(ToStatus(context_.library(), result, "kernel").message());
  const std::string why = error.detail;
  if (CoreDumpsEnabled()) Locate(error);
  context_.Lose(generation,
                absl::StrCat("after a kernel's failure (", why,
                             ") the driver fails every call"),
                /*runs_on=*/false);
  Publish(generation, std::move(error));
}

void Recovery::OnRunaway(uint64_t generation, LaunchError error) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (IsKnown(generation)) return;
  if (disposable_) {
    error.detail = kEnded;
    context_.Lose(generation, "a kernel does not end", /*runs_on=*/true);
    return Publish(generation, std::move(error));
  }
  memory_.KeepMapped();
  const absl::Status replaced = context_.Abandon(generation);
  error.detail = replaced.ok() ? kLeftRunning : std::string(replaced.message());
  Publish(generation, std::move(error));
}

bool Recovery::IsKnown(uint64_t generation) const {
  std::lock_guard<std::mutex> lock(losses_mutex_);
  return losses_.count(generation) != 0;
}

void Recovery::Publish(uint64_t generation, LaunchError error) {
  std::lock_guard<std::mutex> lock(losses_mutex_);
  losses_.emplace(generation, std::move(error));
  published_.notify_all();
}

LaunchError Recovery::LossOf(uint64_t generation) const {
  std::unique_lock<std::mutex> lock(losses_mutex_);
  published_.wait(lock, [&] { return losses_.count(generation) != 0; });
  return losses_.at(generation);
}

}  // namespace hetgpu::cuda
