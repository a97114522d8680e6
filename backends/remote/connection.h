// The client's side of a session: calls and their replies, messages without
// reply, and what the server sends by itself. When the server dies, stops, or
// breaks the protocol, everything ends with one status that says so.
#ifndef HETGPU_BACKENDS_REMOTE_CONNECTION_H_
#define HETGPU_BACKENDS_REMOTE_CONNECTION_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/remote/channel.h"
#include "backends/remote/server_process.h"

namespace hetgpu::remote {

// Of a queue: what the server asks the client for, in the order of messages. On
// the connection's thread.
class QueueClient {
 public:
  virtual ~QueueClient() = default;
  virtual void On(const Need& message) = 0;
  virtual void On(const Data& message) = 0;
  virtual void On(const CallHost& message) = 0;
};

// Of an event, likewise. Also called, with 0, when the connection is lost.
class EventClient {
 public:
  virtual ~EventClient() = default;
  virtual void On(const EventReached& message) = 0;
};

// Threads: any, but none of the callbacks may wait for a call.
class Connection {
 public:
  static absl::StatusOr<std::shared_ptr<Connection>> Open(
      std::shared_ptr<ServerProcess> process);
  ~Connection();

  uint64_t NewNumber() { return next_number_++; }

  template <typename Message>
  absl::Status Post(const Message& message) {
    return Explain(channel_.Send(message, 0, {}, /*wait=*/true));
  }
  // Never waits: for the callbacks.
  template <typename Message>
  void Answer(const Message& message) {
    (void)channel_.Send(message);
  }
  // The reply; not OK: there is none. Its own status is for the caller.
  // `handles` are those that came before it.
  template <typename Message>
  absl::StatusOr<typename Message::Reply> Call(
      const Message& message, std::vector<UniqueFd> sent = {},
      std::vector<UniqueFd>* handles = nullptr);
  absl::Status SendHandles(std::vector<UniqueFd> handles) {
    return Explain(channel_.SendHandles(std::move(handles)));
  }

  void Add(uint64_t number, std::weak_ptr<QueueClient> queue);
  void Add(uint64_t number, std::weak_ptr<EventClient> event);
  void Remove(uint64_t number);
  void SetPrintf(std::function<void(std::string_view)> sink);

  // OK until the device is lost or the server gone.
  absl::Status Lost() const;
  bool IsServerGone() const { return gone_; }
  ServerProcess& process() { return *process_; }

 private:
  struct Pending {
    bool done = false;
    std::string payload;
    std::vector<UniqueFd> handles;
  };

  Connection(std::shared_ptr<ServerProcess> process, UniqueFd socket);
  void Serve();
  absl::Status Handle(Frame& frame);
  absl::Status HandleReply(Frame& frame);
  template <typename Message>
  absl::Status ToQueue(const Frame& frame);
  absl::Status HandleEvent(const Frame& frame);
  absl::Status HandlePrinted(const Frame& frame);
  absl::Status HandleLost(const Frame& frame);
  // `status`, or what is known of the server's end.
  absl::Status Explain(absl::Status status) const;
  absl::StatusOr<std::shared_ptr<Pending>> Start(Type type, std::string payload,
                                                 std::vector<UniqueFd> sent);
  absl::Status Await(Pending& pending);
  // Ends a server that is waited for and whose threads do not run.
  void CheckBeats(bool waiting);
  void LoseAll(absl::Status why);

  const std::shared_ptr<ServerProcess> process_;
  Channel channel_;
  std::atomic<uint64_t> next_number_ = 1;
  std::atomic<bool> gone_ = false;
  std::atomic<bool> is_lost_ = false;

  mutable std::mutex mutex_;  // guards all below
  std::condition_variable replied_;
  uint64_t next_call_ = 1;
  std::map<uint64_t, std::shared_ptr<Pending>> pending_;
  std::map<uint64_t, std::weak_ptr<QueueClient>> queues_;
  std::map<uint64_t, std::weak_ptr<EventClient>> events_;
  absl::Status lost_;
  bool stuck_ = false;  // the server was ended because it had stopped

  std::mutex print_mutex_;
  std::function<void(std::string_view)> print_;

  // Of the thread that serves.
  std::vector<UniqueFd> handles_;
  uint64_t beats_ = 0;
  int still_ = 0;  // ticks for which beats_ has not grown
  std::thread thread_;
};

template <typename Message>
absl::StatusOr<typename Message::Reply> Connection::Call(
    const Message& message, std::vector<UniqueFd> sent,
    std::vector<UniqueFd>* handles) {
  const auto pending = Start(Message::kType, Encode(message), std::move(sent));
  if (!pending.ok()) return pending.status();
  absl::Status status = Await(**pending);
  if (!status.ok()) return status;
  typename Message::Reply reply;
  status = Decode((*pending)->payload, reply);
  if (!status.ok()) return status;
  if (handles != nullptr) *handles = std::move((*pending)->handles);
  return reply;
}

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_CONNECTION_H_
