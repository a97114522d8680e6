// Several kernels of a module made ready at the same time.
#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "runtime/error.h"
#include "runtime/function.h"
#include "runtime/status_macros.h"
#include "runtime/trace.h"

namespace hetgpu::runtime {
namespace {

// Calls `body(i)` for every i below `count`, on as many threads as help.
template <typename Body>
void InParallel(size_t count, Body body) {
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < count;) body(i);
  };
  const size_t cores = std::max(std::thread::hardware_concurrency(), 1u);
  std::vector<std::thread> others;
  for (size_t i = 1; i < std::min(count, cores); ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

// A kernel that the compiler refuses is refused when it is used.
bool IsRefusal(const absl::Status& status) {
  return ResultOf(status) == HETGPU_ERROR_UNSUPPORTED;
}

}  // namespace

absl::Status Function::PrepareTogether(
    const std::vector<std::shared_ptr<Function>>& functions,
    Opening& opening) {
  std::vector<Function*> wanted;
  std::vector<std::unique_lock<std::mutex>> locks;
  for (const auto& function : functions) {
    std::unique_lock<std::mutex> lock(function->mutex_);
    if (function->IsPreparedIn(opening)) continue;
    wanted.push_back(function.get());
    locks.push_back(std::move(lock));
  }
  if (wanted.empty()) return absl::OkStatus();
  Function& first = *wanted.front();
  if (!first.context().IsPresent(opening)) {
    return absl::UnavailableError("the context has moved");
  }
  if (first.state_->is_native()) {
    absl::Status failure;
    for (Function* function : wanted) {
      auto kernel = function->Load(opening);
      if (kernel.ok()) {
        function->Keep(opening, *std::move(kernel));
      } else if (!IsRefusal(kernel.status())) {
        failure.Update(kernel.status());
      }
    }
    return failure;
  }
  return PrepareLocked(wanted, opening);
}

absl::Status Function::PrepareLocked(const std::vector<Function*>& functions,
                                     Opening& opening) {
  std::vector<absl::StatusOr<std::shared_ptr<const std::string>>> images(
      functions.size());
  InParallel(functions.size(),
             [&](size_t i) { images[i] = functions[i]->Image(opening); });
  absl::Status failure;
  std::vector<Function*> compiled;
  std::vector<KernelImage> parts;
  for (size_t i = 0; i < functions.size(); ++i) {
    if (images[i].ok()) {
      compiled.push_back(functions[i]);
      parts.push_back({functions[i]->info_, **images[i]});
    } else if (!IsRefusal(images[i].status())) {
      failure.Update(images[i].status());
    }
  }
  const HostSpan span("load", functions.front()->state_->info().name);
  HETGPU_ASSIGN_OR_RETURN(auto kernels,
                          opening.device().LoadTogether(parts));
  for (size_t i = 0; i < compiled.size(); ++i) {
    compiled[i]->image_bytes_ = parts[i].bytes.size();
    compiled[i]->Keep(opening, std::move(kernels[i]));
  }
  return failure;
}

}  // namespace hetgpu::runtime
