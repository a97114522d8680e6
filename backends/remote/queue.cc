#include "backends/remote/queue.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/remote/device.h"
#include "backends/remote/event.h"
#include "backends/remote/kernel.h"

namespace hetgpu::remote {
namespace {

absl::Status LostWork(const absl::Status& why) {
  return absl::AbortedError(
      absl::StrCat("work in flight was lost: ", why.message()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Queue>> RemoteQueue::Create(
    std::shared_ptr<Connection> connection) {
  std::vector<UniqueFd> handles(1);
  auto ring = Ring::Create(&handles[0]);
  if (!ring.ok()) return ring.status();
  CreateQueue message;
  message.queue = connection->NewNumber();
  auto state = std::make_shared<State>(*connection, *std::move(ring));
  connection->Add(message.queue, std::weak_ptr<QueueClient>(state));
  const auto reply = connection->Call(message, std::move(handles));
  const absl::Status status = reply.ok() ? reply->status : reply.status();
  if (!status.ok()) {
    connection->Remove(message.queue);
    return status;
  }
  return std::unique_ptr<Queue>(new RemoteQueue(
      std::move(connection), std::move(state), message.queue));
}

RemoteQueue::RemoteQueue(std::shared_ptr<Connection> connection,
                         std::shared_ptr<State> state, uint64_t number)
    : connection_(std::move(connection)),
      state_(std::move(state)),
      number_(number) {}

RemoteQueue::~RemoteQueue() {
  (void)Synchronize(nullptr);
  connection_->Remove(number_);
  Destroy message;
  message.kind = Destroy::Kind::kQueue;
  message.object = number_;
  (void)connection_->Post(message);
}

template <typename Message>
absl::Status RemoteQueue::Enqueue(Message& message) {
  const absl::Status lost = connection_->Lost();
  if (!lost.ok()) return busy_ ? absl::OkStatus() : lost;
  busy_ = true;
  ++commands_;
  message.queue = number_;
  const absl::Status sent = connection_->Post(message);
  // Gone just now: Synchronize reports that.
  return absl::IsUnavailable(sent) ? absl::OkStatus() : sent;
}

absl::Status RemoteQueue::Launch(const LaunchDesc& desc) {
  remote::Launch message;
  message.kernel = static_cast<RemoteKernel*>(desc.kernel)->number();
  message.grid = desc.grid;
  message.block = desc.block;
  message.dynamic_shared_bytes = desc.dynamic_shared_bytes;
  message.params = desc.params;
  message.module_data = desc.module_data;
  message.timeout_ms = desc.timeout_ms;
  message.cooperative = desc.cooperative;
  std::lock_guard<std::mutex> lock(mutex_);
  return Enqueue(message);
}

absl::Status RemoteQueue::Copy(uint64_t dst, uint64_t src, uint64_t bytes) {
  remote::Copy message;
  message.dst = dst;
  message.src = src;
  message.bytes = bytes;
  std::lock_guard<std::mutex> lock(mutex_);
  return Enqueue(message);
}

absl::Status RemoteQueue::CopyToDevice(uint64_t dst, const void* src,
                                       uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  return EnqueueCopyIn(dst, src, bytes);
}

absl::Status RemoteQueue::EnqueueCopyIn(uint64_t dst, const void* src,
                                        uint64_t bytes) {
  CopyIn message;
  message.dst = dst;
  message.bytes = bytes;
  if (!busy_ && bytes <= kInlineBytes) {
    // Nothing before it can change what is copied.
    message.data.assign(static_cast<const char*>(src), bytes);
  } else {
    message.copy = connection_->NewNumber();
    state_->AddCopy(message.copy,
                    const_cast<char*>(static_cast<const char*>(src)), bytes);
  }
  return Enqueue(message);
}

absl::Status RemoteQueue::CopyFromDevice(void* dst, uint64_t src,
                                         uint64_t bytes) {
  CopyOut message;
  message.src = src;
  message.bytes = bytes;
  std::lock_guard<std::mutex> lock(mutex_);
  message.copy = connection_->NewNumber();
  state_->AddCopy(message.copy, static_cast<char*>(dst), bytes);
  return Enqueue(message);
}

absl::Status RemoteQueue::Fill(uint64_t dst, uint64_t pattern,
                               uint32_t pattern_bytes, uint64_t count) {
  remote::Fill message;
  message.dst = dst;
  message.pattern = pattern;
  message.pattern_bytes = pattern_bytes;
  message.count = count;
  std::lock_guard<std::mutex> lock(mutex_);
  return Enqueue(message);
}

// The calls that read wait in this queue's thread for another server, which
// needs nobody's host functions for them.
absl::Status RemoteQueue::CopyPeer(uint64_t dst, Device& source, uint64_t src,
                                   uint64_t bytes) {
  absl::Status lost = source.Lost();
  if (!lost.ok()) return lost;
  const auto read = static_cast<RemoteDevice&>(source).Reader();
  auto piece = std::make_shared<std::string>(
      std::min<uint64_t>(bytes, kSlotBytes), '\0');
  std::lock_guard<std::mutex> lock(mutex_);
  for (uint64_t done = 0; done < bytes; done += piece->size()) {
    const uint64_t count = std::min<uint64_t>(piece->size(), bytes - done);
    const absl::Status fetched = EnqueueFunction(
        [read, piece, from = src + done, count, state = state_.get()] {
          state->Keep(read(piece->data(), from, count));
        });
    if (!fetched.ok()) return fetched;
    const absl::Status put = EnqueueCopyIn(dst + done, piece->data(), count);
    if (!put.ok()) return put;
  }
  // The last piece stays until it has been taken.
  return EnqueueFunction([piece] {});
}

absl::Status RemoteQueue::HostFunction(std::function<void()> function) {
  std::lock_guard<std::mutex> lock(mutex_);
  return EnqueueFunction(std::move(function));
}

absl::Status RemoteQueue::EnqueueFunction(std::function<void()> function) {
  remote::HostFunction message;
  message.function = connection_->NewNumber();
  state_->AddFunction(message.function, std::move(function));
  return Enqueue(message);
}

absl::Status RemoteQueue::Record(Event* event) {
  auto* const recorded = static_cast<RemoteEvent*>(event);
  remote::Record message;
  message.event = recorded->number();
  std::lock_guard<std::mutex> lock(mutex_);
  recorded->Expect();
  // On a device that is lost nothing is left to wait for.
  if (!connection_->Lost().ok() || !Enqueue(message).ok()) recorded->Reach();
  return absl::OkStatus();
}

absl::Status RemoteQueue::Wait(Event* event) {
  remote::Wait message;
  message.event = static_cast<RemoteEvent*>(event)->number();
  std::lock_guard<std::mutex> lock(mutex_);
  return Enqueue(message);
}

bool RemoteQueue::Idle() const {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!busy_ || !connection_->Lost().ok()) return true;
  }
  remote::Idle message;
  message.queue = number_;
  const auto reply = connection_->Call(message);
  return !reply.ok() || reply->number != 0;
}

absl::Status RemoteQueue::Synchronize(LaunchError* error) {
  uint64_t commands = 0, below = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!busy_) return absl::OkStatus();
    commands = commands_;
    below = connection_->NewNumber();
  }
  remote::Synchronize message;
  message.queue = number_;
  auto reply = connection_->Call(message);
  state_->Forget(below);
  const absl::Status failure = state_->TakeFailure();
  std::lock_guard<std::mutex> lock(mutex_);
  if (!reply.ok()) {
    // Reported once.
    if (!std::exchange(busy_, false)) return absl::OkStatus();
    return LostWork(reply.status());
  }
  if (commands == commands_) busy_ = false;
  if (absl::IsUnavailable(reply->status)) return LostWork(reply->status);
  if (error != nullptr) *error = std::move(reply->error);
  if (!reply->status.ok() || failure.ok()) return reply->status;
  return absl::AbortedError(absl::StrCat(
      "a copy from another device failed, what it should have copied is void: ",
      failure.message()));
}

void RemoteQueue::Cancel() {
  remote::Cancel message;
  message.queue = number_;
  (void)connection_->Call(message);
}

void RemoteQueue::State::AddCopy(uint64_t copy, char* memory, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  copies_[copy] = {memory, bytes, 0};
}

void RemoteQueue::State::AddFunction(uint64_t number,
                                     std::function<void()> function) {
  std::lock_guard<std::mutex> lock(mutex_);
  functions_[number] = std::move(function);
  if (caller_ == nullptr) caller_ = std::make_unique<Worker>();
}

void RemoteQueue::State::Forget(uint64_t below) {
  std::lock_guard<std::mutex> lock(mutex_);
  copies_.erase(copies_.begin(), copies_.lower_bound(below));
  functions_.erase(functions_.begin(), functions_.lower_bound(below));
}

void RemoteQueue::State::Keep(const absl::Status& failure) {
  std::lock_guard<std::mutex> lock(failure_mutex_);
  failure_.Update(failure);
}

absl::Status RemoteQueue::State::TakeFailure() {
  std::lock_guard<std::mutex> lock(failure_mutex_);
  return std::exchange(failure_, absl::OkStatus());
}

template <typename Message, typename Move>
void RemoteQueue::State::Transfer(const Message& message, Move move) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = copies_.find(message.copy);
  if (found == copies_.end() || message.bytes > kSlotBytes) return;
  HostCopy& copy = found->second;
  if (message.offset > copy.bytes ||
      message.bytes > copy.bytes - message.offset) {
    return;
  }
  move(copy.memory + message.offset, ring_.Slot(message.use));
  copy.done += message.bytes;
  if (copy.done >= copy.bytes) copies_.erase(found);
}

void RemoteQueue::State::On(const Need& message) {
  Transfer(message, [&](char* memory, char* slot) {
    std::memcpy(slot, memory, message.bytes);
  });
  Filled answer;
  answer.queue = message.queue;
  answer.use = message.use;
  connection_.Answer(answer);
}

void RemoteQueue::State::On(const Data& message) {
  Transfer(message, [&](char* memory, char* slot) {
    std::memcpy(memory, slot, message.bytes);
  });
  Taken answer;
  answer.queue = message.queue;
  answer.use = message.use;
  connection_.Answer(answer);
}

void RemoteQueue::State::On(const CallHost& message) {
  std::function<void()> function;
  HostFunctionDone answer;
  answer.queue = message.queue;
  answer.function = message.function;
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = functions_.find(message.function);
  if (found == functions_.end()) return connection_.Answer(answer);
  function = std::move(found->second);
  functions_.erase(found);
  caller_->Post([this, answer, function = std::move(function)] {
    function();
    connection_.Answer(answer);
  });
}

}  // namespace hetgpu::remote
