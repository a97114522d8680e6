#include "backends/cuda/recovery.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {
namespace {

constexpr char kRestored[] =
    "the CUDA context was replaced; allocations keep their addresses, their "
    "contents and all work in flight are lost";
constexpr char kLeftRunning[] =
    "CUDA cannot stop a kernel, so its context was left to it and replaced: it "
    "runs on until the process ends, and memory freed from now on is not given "
    "back; memory contents are kept, other work in flight is lost";

}  // namespace

void LaunchLog::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  kernels_.clear();
}

std::vector<std::string> LaunchLog::Kernels() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return kernels_;
}

std::shared_ptr<LaunchLog> Recovery::NewLog() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::erase_if(logs_, [](const auto& log) { return log.expired(); });
  auto log = std::make_shared<LaunchLog>();
  logs_.push_back(log);
  return log;
}

// "a", or "a or b" when both were in flight.
std::string Recovery::KernelsInFlight() {
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

void Recovery::OnFault(uint64_t generation, CUresult result) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (IsKnown(generation)) return;
  LaunchError error;
  error.kind = LaunchFailure(result);
  // The detail says what it really was.
  if (error.kind == LaunchError::Kind::kNone) {
    error.kind = LaunchError::Kind::kTrap;
  }
  error.kernel = KernelsInFlight();
  absl::Status replaced = context_.Replace(generation);
  if (replaced.ok()) replaced = memory_.Restore();
  error.detail = absl::StrCat(
      ToStatus(context_.library(), result, "kernel").message(), "; ",
      replaced.ok() ? std::string(kRestored)
                    : absl::StrCat("all memory contents are lost: ",
                                   replaced.message()));
  Publish(generation, std::move(error));
}

void Recovery::OnRunaway(uint64_t generation, LaunchError error) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (IsKnown(generation)) return;
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
