#include "backends/cuda/context.h"

#include <atomic>

#include "absl/strings/str_cat.h"
#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {
namespace {

std::atomic<bool> has_runaway = false;

}  // namespace

bool Context::HasRunaway() { return has_runaway; }

absl::StatusOr<std::unique_ptr<Context>> Context::Create(
    const Library& library, CUdevice device) {
  std::unique_ptr<Context> context(new Context(library, device));
  const absl::StatusOr<CUcontext> made = context->Make();
  if (!made.ok()) return made.status();
  context->Replace(*made);
  return context;
}

Context::~Context() {
  DestroyLost();
  if (handle_ != nullptr && !HasRunaway()) library_.CtxDestroy(handle_);
}

absl::StatusOr<CUcontext> Context::Make() const {
  CUcontext handle = nullptr;
  HETGPU_CUDA_RETURN_IF_ERROR(library_, CtxCreate, (&handle, 0, device_));
  for (const auto& [which, value] : limits_) {
    library_.CtxSetLimit(which, value);
  }
  // Creating makes current; this thread keeps what it had.
  CUcontext popped = nullptr;
  library_.CtxPopCurrent(&popped);
  return handle;
}

void Context::Replace(CUcontext handle) {
  handle_ = handle;
  ++generation_;
  present_.store(handle == nullptr ? 0 : generation_,
                 std::memory_order_release);
}

absl::Status Context::Install() {
  const absl::StatusOr<CUcontext> made = Make();
  Replace(made.ok() ? *made : nullptr);
  if (made.ok()) return absl::OkStatus();
  lost_ = absl::UnavailableError(absl::StrCat(
      "cuda: device ", device_, " is lost to this process: ",
      made.status().message()));
  return lost_;
}

absl::Status Context::SetLimit(int which, uint64_t value) {
  {
    const Current current(*this);
    if (!current.status().ok()) return current.status();
    HETGPU_CUDA_RETURN_IF_ERROR(library_, CtxSetLimit, (which, value));
  }
  std::lock_guard<std::mutex> lock(mutex_);
  limits_[which] = value;
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> Context::GetLimit(int which) const {
  const Current current(*this);
  if (!current.status().ok()) return current.status();
  size_t value = 0;
  HETGPU_CUDA_RETURN_IF_ERROR(library_, CtxGetLimit, (&value, which));
  return value;
}

void Context::Lose(uint64_t generation, std::string_view why, bool runs_on) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (generation_ != generation || handle_ == nullptr) return;
  if (runs_on) has_runaway = true;
  lost_handle_ = handle_;
  Replace(nullptr);
  lost_ = absl::UnavailableError(
      absl::StrCat("cuda: device ", device_, " is lost to this process: ",
                   absl::string_view(why.data(), why.size())));
}

absl::Status Context::lost() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return lost_;
}

void Context::DestroyLost() {
  std::unique_lock<Gate> alone(in_use_);
  std::lock_guard<std::mutex> lock(mutex_);
  if (lost_handle_ == nullptr || HasRunaway()) return;
  library_.CtxDestroy(lost_handle_);
  lost_handle_ = nullptr;
}

absl::Status Context::Abandon(uint64_t generation) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (generation_ != generation || handle_ == nullptr) return lost_;
  has_runaway = true;
  ++abandonments_;
  return Install();
}

// Waiting here, while holding another context, could wait for a thread that
// waits for that one.
Pinned::Pinned(const Context& context)
    : in_use_(context.in_use_, std::try_to_lock) {
  if (!in_use_.owns_lock()) return;
  std::lock_guard<std::mutex> lock(context.mutex_);
  handle_ = context.handle_;
}

Current::Current(const Context& context)
    : library_(context.library_), in_use_(context.in_use_) {
  std::lock_guard<std::mutex> lock(context.mutex_);
  generation_ = context.generation_;
  handle_ = context.handle_;
  status_ = context.lost_;
  if (!status_.ok()) return;
  status_ = ToStatus(library_, library_.CtxPushCurrent(context.handle_),
                     "cuCtxPushCurrent");
}

Current::~Current() {
  if (!status_.ok()) return;
  CUcontext popped = nullptr;
  library_.CtxPopCurrent(&popped);
}

}  // namespace hetgpu::cuda
