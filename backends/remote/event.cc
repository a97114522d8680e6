#include "backends/remote/event.h"

#include <chrono>
#include <utility>

namespace hetgpu::remote {
namespace {

uint64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

RemoteEvent::RemoteEvent(std::shared_ptr<Connection> connection)
    : connection_(std::move(connection)), number_(connection_->NewNumber()) {}

RemoteEvent::~RemoteEvent() {
  if (!recorded_) return;
  connection_->Remove(number_);
  Destroy message;
  message.kind = Destroy::Kind::kEvent;
  message.object = number_;
  (void)connection_->Post(message);
}

void RemoteEvent::Expect() {
  recorded_ = true;
  state_->Reset();
  connection_->Add(number_, std::weak_ptr<EventClient>(state_));
  // The server may have gone before the event was known.
  if (connection_->IsServerGone()) Reach();
}

bool RemoteEvent::Done() const {
  if (state_->Done()) return true;
  QueryEvent message;
  message.event = number_;
  const auto reply = connection_->Call(message);
  if (!reply.ok()) return state_->Done();
  if (reply->number == 0) return false;
  EventReached reached;
  reached.event = number_;
  reached.timestamp_ns = reply->number;
  state_->On(reached);
  return true;
}

absl::Status RemoteEvent::Wait() {
  state_->Wait();
  return absl::OkStatus();
}

uint64_t RemoteEvent::TimestampNs() const {
  if (recorded_) (void)Done();  // the server may not have told yet
  return state_->TimestampNs();
}

bool RemoteEvent::State::Done() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return done_;
}

void RemoteEvent::State::Reset() {
  std::lock_guard<std::mutex> lock(mutex_);
  done_ = false;
}

void RemoteEvent::State::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  reached_.wait(lock, [&] { return done_; });
}

uint64_t RemoteEvent::State::TimestampNs() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return timestamp_ns_;
}

void RemoteEvent::State::On(const EventReached& message) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (done_ && timestamp_ns_ != 0) return;
  done_ = true;
  timestamp_ns_ = message.timestamp_ns != 0 ? message.timestamp_ns : NowNs();
  reached_.notify_all();
}

}  // namespace hetgpu::remote
