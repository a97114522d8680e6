#include "runtime/testing/fake_queue.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "runtime/text.h"

namespace hetgpu::runtime {
namespace {

uint64_t NowNs() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

LaunchError Failure(LaunchError::Kind kind, const std::string& kernel) {
  LaunchError error;
  error.kind = kind;
  error.kernel = kernel;
  return error;
}

LaunchError Fail(int kind, const std::string& kernel) {
  LaunchError error = Failure(static_cast<LaunchError::Kind>(kind), kernel);
  error.block = {1, 2, 3};
  error.thread = {4, 5, 6};
  error.has_thread = true;
  error.line = 7;
  error.has_address = true;
  error.address = 0x10;
  return error;
}

LaunchError Spin(const LaunchDesc& desc, const std::string& kernel,
                 const std::atomic<bool>& cancelled) {
  const uint64_t start = NowNs();
  while (!cancelled) {
    if (desc.timeout_ms != 0 && NowNs() - start > desc.timeout_ms * 1000000) {
      return Failure(LaunchError::Kind::kTimeout, kernel);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return Failure(LaunchError::Kind::kCancelled, kernel);
}

void Store(const std::string& params) {
  uint64_t address = 0;
  std::memcpy(&address, params.data(), sizeof(address));
  std::memcpy(reinterpret_cast<void*>(address), params.data() + 8, 4);
}

}  // namespace

void FakeEvent::State::Reach() {
  std::lock_guard lock(mutex);
  timestamp_ns = NowNs();
  reached.notify_all();
}

void FakeEvent::State::Await() {
  std::unique_lock lock(mutex);
  reached.wait(lock, [this] { return timestamp_ns != 0; });
}

bool FakeEvent::Done() const { return TimestampNs() != 0; }

absl::Status FakeEvent::Wait() {
  state_->Await();
  return absl::OkStatus();
}

uint64_t FakeEvent::TimestampNs() const {
  std::lock_guard lock(state_->mutex);
  return state_->timestamp_ns;
}

LaunchError FakeKernel::Run(const LaunchDesc& desc,
                            const std::atomic<bool>& cancelled) {
  if (name_ == "store") Store(desc.params);
  if (name_ == "print") print_("hello\n");
  if (name_.rfind("lose", 0) == 0) {
    return Failure(LaunchError::Kind::kIllegalAddress, name_);
  }
  if (name_ == "spin") return Spin(desc, name_, cancelled);
  if (name_.rfind("fail_", 0) == 0) {
    return Fail(std::stoi(name_.substr(5)), name_);
  }
  return {};
}

FakeQueue::FakeQueue(FakeLoss* loss)
    : loss_(loss), thread_([this] { Work(); }) {}

FakeQueue::~FakeQueue() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

LaunchError FakeQueue::RunOnDevice(const Command& command) {
  LaunchError error;
  {
    std::shared_lock running(loss_->running);
    if (!command.always && loss_->lost) {
      return Failure(LaunchError::Kind::kIllegalAddress, "");
    }
    error = command.run();
  }
  if (error.kernel.rfind("lose", 0) == 0) {
    std::unique_lock alone(loss_->running);
    loss_->for_good = error.kernel == "lose_all";
    loss_->lost = true;
  }
  return error;
}

void FakeQueue::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !commands_.empty(); });
    if (commands_.empty()) return;
    Command command = std::move(commands_.front());
    commands_.pop_front();
    if (error_ && !command.always) {
      changed_.notify_all();
      continue;
    }
    busy_ = true;
    lock.unlock();
    LaunchError error = RunOnDevice(command);
    command.run = nullptr;
    lock.lock();
    busy_ = false;
    if (error.kind != LaunchError::Kind::kNone) error_ = std::move(error);
    changed_.notify_all();
  }
}

absl::Status FakeQueue::Push(Command command) {
  std::lock_guard lock(mutex_);
  if (!error_ && !command.always && !loss_->Check().ok()) return loss_->Check();
  if (command.is_launch) cancelled_ = false;
  commands_.push_back(std::move(command));
  changed_.notify_all();
  return absl::OkStatus();
}

absl::Status FakeQueue::Enqueue(std::function<void()> run, bool always) {
  return Push({[run = std::move(run)] {
                 run();
                 return LaunchError();
               },
               always});
}

absl::Status FakeQueue::EnqueueLaunch(std::function<LaunchError()> run) {
  return Push({std::move(run), /*always=*/false, /*is_launch=*/true});
}

absl::Status FakeQueue::Launch(const LaunchDesc& desc) {
  return EnqueueLaunch([this, desc] {
    return static_cast<FakeKernel*>(desc.kernel)->Run(desc, cancelled_);
  });
}

absl::Status FakeQueue::Copy(uint64_t dst, uint64_t src, uint64_t bytes) {
  return Enqueue([=] {
    std::memmove(reinterpret_cast<void*>(dst), reinterpret_cast<void*>(src),
                 bytes);
  });
}

absl::Status FakeQueue::CopyToDevice(uint64_t dst, const void* src,
                                     uint64_t bytes) {
  return Copy(dst, reinterpret_cast<uint64_t>(src), bytes);
}

absl::Status FakeQueue::CopyFromDevice(void* dst, uint64_t src,
                                       uint64_t bytes) {
  return Copy(reinterpret_cast<uint64_t>(dst), src, bytes);
}

absl::Status FakeQueue::Fill(uint64_t dst, uint64_t pattern,
                             uint32_t pattern_bytes, uint64_t count) {
  return Enqueue([=] {
    for (uint64_t i = 0; i < count; ++i) {
      std::memcpy(reinterpret_cast<char*>(dst) + i * pattern_bytes, &pattern,
                  pattern_bytes);
    }
  });
}

absl::Status FakeQueue::HostFunction(std::function<void()> function) {
  return Enqueue(std::move(function));
}

absl::Status FakeQueue::Record(Event* event) {
  return Enqueue(
      [state = static_cast<FakeEvent*>(event)->state()] { state->Reach(); },
      true);
}

absl::Status FakeQueue::Wait(Event* event) {
  return Enqueue(
      [state = static_cast<FakeEvent*>(event)->state()] { state->Await(); });
}

bool FakeQueue::Idle() const {
  std::lock_guard lock(mutex_);
  return commands_.empty() && !busy_;
}

absl::Status FakeQueue::Synchronize(LaunchError* error) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return commands_.empty() && !busy_; });
  if (!error_) return absl::OkStatus();
  const LaunchError reported = std::move(*error_);
  error_.reset();
  if (error != nullptr) *error = reported;
  return absl::AbortedError(Describe(reported));
}

void FakeQueue::Cancel() {
  std::lock_guard lock(mutex_);
  cancelled_ = true;
  for (const Command& command : commands_) {
    if (command.is_launch && !error_) {
      error_ = Failure(LaunchError::Kind::kCancelled, "");
    }
  }
  std::erase_if(commands_, [](const Command& c) { return !c.always; });
  changed_.notify_all();
}

}  // namespace hetgpu::runtime
