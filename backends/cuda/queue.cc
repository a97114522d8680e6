#include "backends/cuda/queue.h"

#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cuda/backoff.h"
#include "backends/cuda/device.h"
#include "backends/cuda/event.h"
#include "backends/cuda/kernel.h"
#include "backends/cuda/status_util.h"
#include "memory/arena.h"

namespace hetgpu::cuda {
namespace {

constexpr uint64_t kStagedBytes = uint64_t{512} << 10;
constexpr auto kCancelGrace = std::chrono::milliseconds(100);

CUresult FillOn(const Current& current, CUstream stream, uint64_t dst,
                uint64_t pattern, uint32_t pattern_bytes, uint64_t count) {
  const Library& library = current.library();
  const auto low = static_cast<uint32_t>(pattern);
  const auto high = static_cast<uint32_t>(pattern >> 32);
  switch (pattern_bytes) {
    case 1:
      return library.MemsetD8Async(dst, static_cast<uint8_t>(low), count,
                                   stream);
    case 2:
      return library.MemsetD16Async(dst, static_cast<uint16_t>(low), count,
                                    stream);
    case 4:
      return library.MemsetD32Async(dst, low, count, stream);
  }
  if (low == high) {
    return library.MemsetD32Async(dst, low, 2 * count, stream);
  }
  // Two columns of 32 bits each.
  const CUresult result =
      library.MemsetD2D32Async(dst, 8, low, 1, count, stream);
  if (result != CUDA_SUCCESS) return result;
  return library.MemsetD2D32Async(dst + 4, 8, high, 1, count, stream);
}

}  // namespace

CudaQueue::CudaQueue(const Context& context, const AddressSpace& space,
                     Recovery& recovery, Watchdog& watchdog,
                     StagingArena& staging)
    : context_(context),
      space_(space),
      recovery_(recovery),
      watchdog_(watchdog),
      log_(recovery.NewLog()),
      staging_(staging) {}

CudaQueue::~CudaQueue() {
  (void)Synchronize(nullptr);
  if (Context::HasRunaway()) return;
  const Current current(context_);
  if (stream_ == nullptr || generation_ != current.generation()) return;
  staging_.Release(current);
  current.library().StreamDestroy(stream_);
}

void CudaQueue::SetError(LaunchError error) {
  if (error_.kind == LaunchError::Kind::kNone) error_ = std::move(error);
}

bool CudaQueue::Follow(const Current& current) {
  if (generation_ != current.generation()) {
    if (busy_) SetError(recovery_.LossOf(generation_));
    staging_.Forget();  // first: it ends host functions that wait
    if (stream_ != nullptr) host_work_.Drop();
    ClearLog();
    busy_ = false;
    stream_ = nullptr;
    generation_ = current.generation();
  }
  return error_.kind == LaunchError::Kind::kNone;
}

absl::Status CudaQueue::Check(const char* name, uint64_t generation,
                              CUresult result) {
  const bool was_busy = std::exchange(busy_, true);
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  if (LaunchFailure(result) == LaunchError::Kind::kNone) {
    return ToStatus(context_.library(), result, name);
  }
  // Of a command before this one. The next to look will see the loss.
  if (!was_busy) ClearLog();
  recovery_.OnFault(generation, result);
  if (was_busy) return absl::OkStatus();
  // Of another queue: nothing of this one was lost.
  busy_ = false;
  return context_.lost();
}

template <typename Call>
absl::Status CudaQueue::Enqueue(const char* name, Call call) {
  CUresult result = CUDA_SUCCESS;
  uint64_t generation = 0;
  {
    const Current current(context_);
    if (!Follow(current)) return absl::OkStatus();
    if (!current.status().ok()) return current.status();
    generation = current.generation();
    if (stream_ == nullptr) {
      result = current.library().StreamCreate(&stream_, kStreamNonBlocking);
    }
    if (result == CUDA_SUCCESS) result = call(current);
  }
  return Check(name, generation, result);
}

void CudaQueue::ClearLog() {
  log_->Clear();
  logged_.clear();
}

CUresult CudaQueue::LaunchOn(const Current& current, const LaunchDesc& desc,
                             CUfunction function) {
  const Library& library = current.library();
  log_->Add(desc.info->name, [&] {
    return library.StreamQuery(stream_) == CUDA_SUCCESS;
  });
  logged_ = desc.info->name;
  const CUresult result = Give(desc, function);
  if (result != CUDA_SUCCESS) return result;
  // It runs: what fails from here on may be its doing.
  busy_ = true;
  if (desc.timeout_ms == 0) return result;
  return watchdog_.Watch(current, stream_, desc.info->name, desc.timeout_ms);
}

// Half a microsecond faster than giving the driver the whole parameter block.
CUresult CudaQueue::Give(const LaunchDesc& desc, CUfunction function) const {
  const Library& library = context_.library();
  auto arguments = static_cast<CudaKernel*>(desc.kernel)->ArgumentsOf(desc);
  void** const pointers = arguments.empty() ? nullptr : arguments.data();
  // For kernels whose parameters nobody has described.
  size_t bytes = desc.params.size();
  void* block[] = {kLaunchParamBuffer, const_cast<char*>(desc.params.data()),
                   kLaunchParamBufferSize, &bytes, kLaunchParamEnd};
  if (desc.cooperative) {
    return library.LaunchCooperativeKernel(
        function, desc.grid.x, desc.grid.y, desc.grid.z, desc.block.x,
        desc.block.y, desc.block.z, desc.dynamic_shared_bytes, stream_,
        pointers);
  }
  return library.LaunchKernel(
      function, desc.grid.x, desc.grid.y, desc.grid.z, desc.block.x,
      desc.block.y, desc.block.z, desc.dynamic_shared_bytes, stream_, pointers,
      pointers != nullptr || bytes == 0 ? nullptr : block);
}

std::optional<CUresult> CudaQueue::LaunchAgain(const LaunchDesc& desc) {
  if (needs_current_ || desc.cooperative || desc.timeout_ms != 0 ||
      error_.kind != LaunchError::Kind::kNone) {
    return std::nullopt;
  }
  const bool logged =
      logged_ == desc.info->name || log_->Has(desc.info->name);
  if (!logged && busy_) return std::nullopt;
  auto* const kernel = static_cast<CudaKernel*>(desc.kernel);
  const Inside inside(context_);
  if (inside.generation() != generation_ || stream_ == nullptr) {
    return std::nullopt;
  }
  const CUfunction function =
      kernel->Ready(generation_, desc.dynamic_shared_bytes);
  if (function == nullptr) return std::nullopt;
  if (!logged) log_->Add(desc.info->name, [] { return true; });
  logged_ = desc.info->name;
  prints_ = prints_ || kernel->may_print();
  const CUresult result = Give(desc, function);
  needs_current_ = result == CUDA_ERROR_INVALID_CONTEXT;
  if (needs_current_) return std::nullopt;
  return result;
}

absl::Status CudaQueue::Launch(const LaunchDesc& desc) {
  auto* const kernel = static_cast<CudaKernel*>(desc.kernel);
  absl::Status refused;
  std::lock_guard<std::mutex> lock(mutex_);
  if (const std::optional<CUresult> result = LaunchAgain(desc)) {
    return Check("cuLaunchKernel", generation_, *result);
  }
  absl::Status launched =
      Enqueue("cuLaunchKernel", [&](const Current& current) {
        const absl::StatusOr<CUfunction> function =
            kernel->Get(current, desc.dynamic_shared_bytes);
        if (function.ok()) {
          prints_ = prints_ || kernel->may_print();
          const CUresult begun = kernel->BeginLaunch(current, stream_, desc);
          if (begun != CUDA_SUCCESS) return begun;
          return LaunchOn(current, desc, *function);
        }
        refused = function.status();
        return CUresult{CUDA_SUCCESS};
      });
  return refused.ok() ? launched : refused;
}

absl::Status CudaQueue::Copy(uint64_t dst, uint64_t src, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Enqueue("cuMemcpyDtoDAsync", [&](const Current& current) {
    return current.library().MemcpyDtoDAsync(
        space_.ToDevice(dst), space_.ToDevice(src), bytes, stream_);
  });
}

bool CudaQueue::IsRunning(const Current& current) const {
  return busy_ && current.library().StreamQuery(stream_) != CUDA_SUCCESS;
}

// Whether the driver is given the host memory. It takes an address of the arena
// for its own, whatever the host has there.
bool CudaQueue::IsDirect(const Current& current, const void* host,
                         uint64_t bytes, bool running) const {
  if (memory::Arena::Process().Contains(reinterpret_cast<uint64_t>(host))) {
    return false;
  }
  return (!running && bytes < kStagedBytes) || IsPinned(current, host, bytes);
}

// The driver's own copies of pageable memory make the caller wait for all work
// before them, and are slow: good enough for a little data on an idle stream.
CUresult CudaQueue::CopyIn(const Current& current, uint64_t dst,
                           const void* src, uint64_t bytes, bool now) {
  dst = space_.ToDevice(dst);
  const bool running = IsRunning(current);
  if (IsDirect(current, src, bytes, running)) {
    return current.library().MemcpyHtoDAsync(dst, src, bytes, stream_);
  }
  if (now && !running) {
    return staging_.CopyToDeviceNow(current, stream_, dst, src, bytes);
  }
  return staging_.CopyToDevice(current, stream_, host_work_, dst, src, bytes);
}

CUresult CudaQueue::CopyOut(const Current& current, void* dst, uint64_t src,
                            uint64_t bytes, bool now) {
  src = space_.ToDevice(src);
  const bool running = IsRunning(current);
  if (IsDirect(current, dst, bytes, running)) {
    return current.library().MemcpyDtoHAsync(dst, src, bytes, stream_);
  }
  if (now && !running) {
    return staging_.CopyFromDeviceNow(current, stream_, dst, src, bytes);
  }
  return staging_.CopyFromDevice(current, stream_, host_work_, dst, src, bytes);
}

absl::Status CudaQueue::CopyToDevice(uint64_t dst, const void* src,
                                     uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Enqueue("cuMemcpyHtoDAsync", [&](const Current& current) {
    return CopyIn(current, dst, src, bytes, /*now=*/false);
  });
}

absl::Status CudaQueue::CopyFromDevice(void* dst, uint64_t src,
                                       uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Enqueue("cuMemcpyDtoHAsync", [&](const Current& current) {
    return CopyOut(current, dst, src, bytes, /*now=*/false);
  });
}

absl::Status CudaQueue::CopyToDeviceNow(uint64_t dst, const void* src,
                                        uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Enqueue("cuMemcpyHtoDAsync", [&](const Current& current) {
    return CopyIn(current, dst, src, bytes, /*now=*/true);
  });
}

absl::Status CudaQueue::CopyFromDeviceNow(void* dst, uint64_t src,
                                          uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Enqueue("cuMemcpyDtoHAsync", [&](const Current& current) {
    return CopyOut(current, dst, src, bytes, /*now=*/true);
  });
}

absl::Status CudaQueue::CopyPeer(uint64_t dst, Device& source, uint64_t src,
                                 uint64_t bytes) {
  const Context& other = static_cast<CudaDevice&>(source).context();
  absl::Status refused;
  std::lock_guard<std::mutex> lock(mutex_);
  absl::Status copied =
      Enqueue("cuMemcpyPeerAsync", [&](const Current& current) {
        const Pinned peer(other);
        if (peer.handle() == nullptr) {
          refused = absl::UnavailableError(absl::StrCat(
              "cuda: copy from device ", other.device(),
              ": its CUDA context is lost"));
          return CUresult{CUDA_SUCCESS};
        }
        return current.library().MemcpyPeerAsync(
            space_.ToDevice(dst), current.handle(), space_.ToDevice(src),
            peer.handle(), bytes, stream_);
      });
  return refused.ok() ? copied : refused;
}

absl::Status CudaQueue::Fill(uint64_t dst, uint64_t pattern,
                             uint32_t pattern_bytes, uint64_t count) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Enqueue("cuMemsetAsync", [&](const Current& current) {
    return FillOn(current, stream_, space_.ToDevice(dst), pattern,
                  pattern_bytes, count);
  });
}

absl::Status CudaQueue::HostFunction(std::function<void()> function) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Enqueue("cuLaunchHostFunc", [&](const Current& current) {
    return host_work_.Enqueue(current, stream_, std::move(function));
  });
}

absl::Status CudaQueue::Record(Event* event) {
  auto* const recorded = static_cast<CudaEvent*>(event);
  bool on_device = false;
  std::lock_guard<std::mutex> lock(mutex_);
  const absl::Status status =
      Enqueue("cuEventRecord", [&](const Current& current) {
        const CUresult result = recorded->RecordOn(current, stream_);
        on_device = result == CUDA_SUCCESS;
        return result;
      });
  // On a queue that has failed nothing is left to wait for.
  if (!on_device) recorded->Reach();
  return absl::OkStatus();
}

absl::Status CudaQueue::Wait(Event* event) {
  std::lock_guard<std::mutex> lock(mutex_);
  return Enqueue("cuStreamWaitEvent", [&](const Current& current) {
    return static_cast<CudaEvent*>(event)->DelayStream(current, stream_);
  });
}

bool CudaQueue::Idle() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!busy_) return true;
  const Current current(context_);
  if (!current.status().ok() || generation_ != current.generation()) {
    return true;
  }
  return current.library().StreamQuery(stream_) != CUDA_ERROR_NOT_READY;
}

std::optional<CUresult> CudaQueue::PollAgain() {
  if (needs_current_ || prints_ || staging_.IsInUse()) return std::nullopt;
  const Inside inside(context_);
  if (inside.generation() != generation_ || stream_ == nullptr) {
    return std::nullopt;
  }
  const CUresult result = context_.library().StreamQuery(stream_);
  if (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY) return result;
  return std::nullopt;
}

bool CudaQueue::Poll() {
  const std::optional<CUresult> polled = busy_ ? PollAgain() : std::nullopt;
  if (polled) {
    if (*polled == CUDA_ERROR_NOT_READY) return false;
    busy_ = false;
    ClearLog();
    return true;
  }
  CUresult result = CUDA_SUCCESS;
  uint64_t generation = 0;
  {
    const Current current(context_);
    Follow(current);
    if (!busy_ || stream_ == nullptr || !current.status().ok()) return true;
    generation = current.generation();
    result = current.library().StreamQuery(stream_);
    // Makes the driver print what kernels printed.
    if (result == CUDA_SUCCESS && prints_) {
      result = current.library().StreamSynchronize(stream_);
    }
    if (result == CUDA_SUCCESS) staging_.Return(current);
  }
  if (result == CUDA_ERROR_NOT_READY) return false;
  if (result != CUDA_SUCCESS) {
    recovery_.OnFault(generation, result);
    return false;
  }
  busy_ = prints_ = false;
  ClearLog();
  return true;
}

absl::Status CudaQueue::Synchronize(LaunchError* error) {
  Backoff backoff;
  std::unique_lock<std::mutex> lock(mutex_);
  while (!Poll()) {
    lock.unlock();
    backoff.Pause();
    lock.lock();
  }
  if (error_.kind == LaunchError::Kind::kNone) return absl::OkStatus();
  LaunchError failed = std::exchange(error_, LaunchError());
  lock.unlock();
  const absl::Status status = absl::AbortedError(Describe(failed));
  if (error != nullptr) *error = std::move(failed);
  return status;
}

void CudaQueue::Cancel() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (Poll()) return;
  LaunchError error;
  error.kind = LaunchError::Kind::kCancelled;
  error.kernel = absl::StrJoin(log_->Kernels(), " or ");
  const bool launched = !error.kernel.empty();
  host_work_.Drop();
  const auto deadline = std::chrono::steady_clock::now() + kCancelGrace;
  Backoff backoff;
  bool idle = false;
  while (!idle && std::chrono::steady_clock::now() < deadline) {
    backoff.Pause();
    idle = Poll();
  }
  if (!idle) {
    recovery_.OnRunaway(generation_, std::move(error));
  } else if (launched) {
    SetError(std::move(error));
  }
}

}  // namespace hetgpu::cuda
