#include "backends/remote/connection.h"

#include <cstdio>

#include "absl/strings/str_cat.h"

namespace hetgpu::remote {
namespace {

// A server whose threads do not run for so many ticks is stopped. Ticks and not
// a time: while this process is stopped too, they do not pass.
constexpr int kStuckTicks = 20;

}  // namespace

absl::StatusOr<std::shared_ptr<Connection>> Connection::Open(
    std::shared_ptr<ServerProcess> process) {
  auto socket = process->NewSession();
  if (!socket.ok()) return socket.status();
  return std::shared_ptr<Connection>(
      new Connection(std::move(process), *std::move(socket)));
}

Connection::Connection(std::shared_ptr<ServerProcess> process, UniqueFd socket)
    : process_(std::move(process)), channel_(std::move(socket)) {
  channel_.SetTick([this](bool waiting) { CheckBeats(waiting); });
  thread_ = std::thread([this] { Serve(); });
}

Connection::~Connection() {
  channel_.Close();
  thread_.join();
}

void Connection::Serve() {
  const absl::Status status =
      channel_.Serve([this](Frame& frame) { return Handle(frame); });
  // A peer that talks nonsense is not talked to any more.
  if (!absl::IsUnavailable(status)) process_->Kill();
  LoseAll(status);
}

void Connection::LoseAll(absl::Status why) {
  std::map<uint64_t, std::weak_ptr<EventClient>> events;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (lost_.ok()) {
      lost_ = absl::UnavailableError(absl::StrCat(
          "remote: the device server (process ", process_->pid(), ") ",
          stuck_ ? "had stopped and was ended" : "is gone", ": ",
          why.message()));
    }
    is_lost_ = true;
    gone_ = true;
    events = events_;
    replied_.notify_all();
  }
  EventReached reached;
  for (const auto& [number, weak] : events) {
    reached.event = number;
    if (const auto event = weak.lock()) event->On(reached);
  }
}

absl::Status Connection::Explain(absl::Status status) const {
  if (status.ok()) return status;
  std::lock_guard<std::mutex> lock(mutex_);
  return lost_.ok() ? status : lost_;
}

absl::Status Connection::Lost() const {
  if (!is_lost_) return absl::OkStatus();
  std::lock_guard<std::mutex> lock(mutex_);
  return lost_;
}

absl::StatusOr<std::shared_ptr<Connection::Pending>> Connection::Start(
    Type type, std::string payload, std::vector<UniqueFd> sent) {
  auto pending = std::make_shared<Pending>();
  uint64_t call = 0;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (gone_) return lost_;
    call = next_call_++;
    pending_[call] = pending;
  }
  absl::Status status = channel_.SendFrame(type, call, std::move(payload),
                                           std::move(sent), /*wait=*/true);
  if (!status.ok()) return Explain(status);
  return pending;
}

absl::Status Connection::Await(Pending& pending) {
  std::unique_lock<std::mutex> lock(mutex_);
  replied_.wait(lock, [&] { return pending.done || gone_; });
  return pending.done ? absl::OkStatus() : lost_;
}

void Connection::CheckBeats(bool waiting) {
  const uint64_t now = process_->Beats();
  std::lock_guard<std::mutex> lock(mutex_);
  const bool awaited = waiting || !pending_.empty() || !events_.empty();
  still_ = awaited && now == beats_ ? still_ + 1 : 0;
  beats_ = now;
  if (still_ < kStuckTicks) return;
  stuck_ = true;
  process_->Kill();
}

void Connection::Add(uint64_t number, std::weak_ptr<QueueClient> queue) {
  std::lock_guard<std::mutex> lock(mutex_);
  queues_[number] = std::move(queue);
}

void Connection::Add(uint64_t number, std::weak_ptr<EventClient> event) {
  std::lock_guard<std::mutex> lock(mutex_);
  events_[number] = std::move(event);
}

void Connection::Remove(uint64_t number) {
  std::lock_guard<std::mutex> lock(mutex_);
  queues_.erase(number);
  events_.erase(number);
}

void Connection::SetPrintf(std::function<void(std::string_view)> sink) {
  std::lock_guard<std::mutex> lock(print_mutex_);
  print_ = std::move(sink);
}

absl::Status Connection::Handle(Frame& frame) {
  switch (frame.type) {
    case Type::kHandles:
      for (UniqueFd& handle : frame.handles) {
        handles_.push_back(std::move(handle));
      }
      return absl::OkStatus();
    case Type::kReply:
      return HandleReply(frame);
    case Type::kNeed:
      return ToQueue<Need>(frame);
    case Type::kData:
      return ToQueue<Data>(frame);
    case Type::kCallHost:
      return ToQueue<CallHost>(frame);
    case Type::kEventReached:
      return HandleEvent(frame);
    case Type::kPrinted:
      return HandlePrinted(frame);
    case Type::kLost:
      return HandleLost(frame);
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("message of type ", static_cast<int>(frame.type),
                       " is for the server"));
  }
}

absl::Status Connection::HandleReply(Frame& frame) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found = pending_.find(frame.call);
  if (found == pending_.end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("reply to call ", frame.call, ", which is not waiting"));
  }
  found->second->payload = frame.payload;
  found->second->handles = std::exchange(handles_, {});
  found->second->done = true;
  pending_.erase(found);
  replied_.notify_all();
  return absl::OkStatus();
}

template <typename Message>
absl::Status Connection::ToQueue(const Frame& frame) {
  Message message;
  absl::Status decoded = Decode(frame.payload, message);
  if (!decoded.ok()) return decoded;
  std::shared_ptr<QueueClient> queue;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = queues_.find(message.queue);
    if (found != queues_.end()) queue = found->second.lock();
  }
  if (queue != nullptr) queue->On(message);
  return absl::OkStatus();
}

absl::Status Connection::HandleEvent(const Frame& frame) {
  EventReached message;
  absl::Status decoded = Decode(frame.payload, message);
  if (!decoded.ok()) return decoded;
  std::shared_ptr<EventClient> event;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = events_.find(message.event);
    if (found == events_.end()) return absl::OkStatus();
    event = found->second.lock();
    events_.erase(found);
  }
  if (event != nullptr) event->On(message);
  return absl::OkStatus();
}

absl::Status Connection::HandlePrinted(const Frame& frame) {
  Printed message;
  absl::Status decoded = Decode(frame.payload, message);
  if (!decoded.ok()) return decoded;
  std::lock_guard<std::mutex> lock(print_mutex_);
  if (print_) {
    print_(message.text);
  } else {
    std::fwrite(message.text.data(), 1, message.text.size(), stdout);
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

absl::Status Connection::HandleLost(const Frame& frame) {
  remote::Lost message;
  absl::Status decoded = Decode(frame.payload, message);
  if (!decoded.ok()) return decoded;
  if (message.status.ok()) {
    return absl::InvalidArgumentError("device lost without a reason");
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (lost_.ok()) lost_ = message.status;
  is_lost_ = true;
  return absl::OkStatus();
}

}  // namespace hetgpu::remote
