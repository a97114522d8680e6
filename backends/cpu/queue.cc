#include "backends/cpu/queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cpu/event.h"
#include "backends/cpu/kernel.h"
#include "backends/cpu/overlay.h"

namespace hetgpu::cpu {
namespace {

// About ten microseconds: bridges the gap between commands that a host thread
// enqueues back to back.
constexpr int kSpins = 300;

template <typename Condition>
void SpinWhile(Condition condition) {
  for (int i = 0; i < kSpins && condition(); ++i) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

uint32_t SharedBytes(const LaunchDesc& desc) {
  const KernelInfo& info = *desc.info;
  if (desc.dynamic_shared_bytes == 0 && !info.uses_dynamic_shared) {
    return info.static_shared_bytes;
  }
  return std::max(info.static_shared_bytes,
                  info.dynamic_shared_offset + desc.dynamic_shared_bytes);
}

}  // namespace

CpuQueue::CpuQueue(WorkerPool* pool, const LaunchServices& services)
    : pool_(pool),
      services_(services),
      worker_(0),
      thread_([this] { Serve(); }) {}

CpuQueue::~CpuQueue() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  arrived_.notify_one();
  thread_.join();
}

absl::Status CpuQueue::Enqueue(Command command) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    commands_.push_back(std::move(command));
    pending_.fetch_add(1, std::memory_order_release);
  }
  arrived_.notify_one();
  return absl::OkStatus();
}

// Takes the next command that the queue's state lets run; false at the end.
bool CpuQueue::NextCommand(Command* command) {
  SpinWhile([&] { return pending_.load(std::memory_order_acquire) == 0; });
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    arrived_.wait(lock, [&] { return ending_ || !commands_.empty(); });
    if (commands_.empty()) return false;
    *command = std::move(commands_.front());
    commands_.pop_front();
    if (command->always || error_.kind == LaunchError::Kind::kNone) {
      busy_ = true;
      starting_ = command->kernel;
      return true;
    }
    pending_.fetch_sub(1, std::memory_order_release);
    if (commands_.empty()) idle_.notify_all();
  }
}

void CpuQueue::Serve() {
  worker_.Attach();
  Command command;
  while (NextCommand(&command)) {
    command.run();
    command = Command();  // what it holds goes before the queue looks idle
    std::lock_guard<std::mutex> lock(mutex_);
    busy_ = false;
    pending_.fetch_sub(1, std::memory_order_release);
    if (commands_.empty()) idle_.notify_all();
  }
  worker_.Detach();
}

void CpuQueue::SetError(LaunchError error) {
  if (error_.kind == LaunchError::Kind::kNone) error_ = std::move(error);
}

void CpuQueue::RunLaunch(const LaunchDesc& desc) {
  LaunchConfig config;
  config.code = &static_cast<CpuKernel*>(desc.kernel)->code();
  config.grid = desc.grid;
  config.block = desc.block;
  config.shared_bytes = SharedBytes(desc);
  config.dynamic_shared_bytes = desc.dynamic_shared_bytes;
  config.params = desc.params;
  config.module_data = desc.module_data;
  config.timeout_ms = desc.timeout_ms;
  config.workers = pool_->threads();
  config.cooperative = desc.cooperative;
  cpu::Launch launch(config, services_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (error_.kind != LaunchError::Kind::kNone) {  // cancelled just now
      starting_.clear();
      return;
    }
    running_ = &launch;
  }
  pool_->Run(&launch, &worker_);
  std::lock_guard<std::mutex> lock(mutex_);
  running_ = nullptr;
  starting_.clear();
  if (launch.error().kind != LaunchError::Kind::kNone) {
    SetError(launch.error());
  }
}

absl::Status CpuQueue::Launch(const LaunchDesc& desc) {
  Command command;
  command.kernel = desc.info->name.empty() ? "kernel" : desc.info->name;
  command.run = [this, desc] { RunLaunch(desc); };
  return Enqueue(std::move(command));
}

void CpuQueue::RunTransfer(const Transfer& transfer) {
  LaunchConfig config;
  config.code = transfer.code;
  config.grid = {transfer.blocks, 1, 1};
  config.params = transfer.params;
  config.workers = pool_->threads();
  cpu::Launch launch(config, services_);
  pool_->Run(&launch, &worker_);
  LaunchError error = launch.error();
  if (error.kind == LaunchError::Kind::kNone) return;
  error.has_thread = false;  // means nothing to who asked for the transfer
  error.detail.clear();
  std::lock_guard<std::mutex> lock(mutex_);
  SetError(std::move(error));
}

absl::Status CpuQueue::EnqueueTransfer(Transfer transfer) {
  return HostFunction(
      [this, transfer = std::move(transfer)] { RunTransfer(transfer); });
}

uint64_t CpuQueue::ToHost(uint64_t address) const {
  const Overlay* const overlay = services_.overlay;
  return overlay == nullptr ? address : overlay->ToHost(address);
}

absl::Status CpuQueue::Copy(uint64_t dst, uint64_t src, uint64_t bytes) {
  return EnqueueTransfer(MakeCopy(ToHost(dst), ToHost(src), bytes));
}

absl::Status CpuQueue::CopyToDevice(uint64_t dst, const void* src,
                                    uint64_t bytes) {
  return EnqueueTransfer(
      MakeCopy(ToHost(dst), reinterpret_cast<uint64_t>(src), bytes));
}

absl::Status CpuQueue::CopyFromDevice(void* dst, uint64_t src, uint64_t bytes) {
  return EnqueueTransfer(
      MakeCopy(reinterpret_cast<uint64_t>(dst), ToHost(src), bytes));
}

absl::Status CpuQueue::Fill(uint64_t dst, uint64_t pattern,
                            uint32_t pattern_bytes, uint64_t count) {
  if (pattern_bytes != 1 && pattern_bytes != 2 && pattern_bytes != 4 &&
      pattern_bytes != 8) {
    return absl::InvalidArgumentError(
        absl::StrCat("cpu: fill pattern of ", pattern_bytes,
                     " bytes, expected 1, 2, 4 or 8"));
  }
  return EnqueueTransfer(MakeFill(ToHost(dst), pattern, pattern_bytes, count));
}

absl::Status CpuQueue::HostFunction(std::function<void()> function) {
  Command command;
  command.run = std::move(function);
  return Enqueue(std::move(command));
}

absl::Status CpuQueue::Record(Event* event) {
  auto state = static_cast<CpuEvent*>(event)->state();
  state->Reset();
  Command command;
  command.always = true;
  command.run = [state] { state->Reach(); };
  return Enqueue(std::move(command));
}

absl::Status CpuQueue::Wait(Event* event) {
  auto state = static_cast<CpuEvent*>(event)->state();
  return HostFunction([state] { state->Wait(); });
}

bool CpuQueue::Idle() const {
  return pending_.load(std::memory_order_acquire) == 0;
}

absl::Status CpuQueue::Synchronize(LaunchError* error) {
  SpinWhile([&] { return !Idle(); });
  std::unique_lock<std::mutex> lock(mutex_);
  idle_.wait(lock, [&] { return commands_.empty() && !busy_; });
  if (error_.kind == LaunchError::Kind::kNone) return absl::OkStatus();
  LaunchError failed = std::exchange(error_, LaunchError());
  lock.unlock();
  const absl::Status status = absl::AbortedError(Describe(failed));
  if (error != nullptr) *error = std::move(failed);
  return status;
}

// Drops all that waits but records; returns the kernel of the first launch
// among it, or "".
std::string CpuQueue::DropQueued() {
  std::string kernel;
  std::deque<Command> kept;
  for (Command& command : commands_) {
    if (kernel.empty()) kernel = command.kernel;
    if (command.always) {
      kept.push_back(std::move(command));
    } else {
      pending_.fetch_sub(1, std::memory_order_release);
    }
  }
  commands_ = std::move(kept);
  if (commands_.empty() && !busy_) idle_.notify_all();
  return kernel;
}

void CpuQueue::Cancel() {
  LaunchError error;
  error.kind = LaunchError::Kind::kCancelled;
  std::lock_guard<std::mutex> lock(mutex_);
  const std::string dropped = DropQueued();
  error.kernel = starting_.empty() ? dropped : starting_;
  if (running_ != nullptr) running_->Fail(error);
  if (!error.kernel.empty()) SetError(std::move(error));
}

}  // namespace hetgpu::cpu
