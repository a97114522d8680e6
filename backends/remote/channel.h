// Messages over a stream socket, with descriptors. Sending never waits for the
// peer unless asked to: what the socket does not take is queued and sent by the
// thread in Serve(), so that two sides that both send cannot block each other.
#ifndef HETGPU_BACKENDS_REMOTE_CHANNEL_H_
#define HETGPU_BACKENDS_REMOTE_CHANNEL_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "backends/common/unique_fd.h"
#include "backends/remote/protocol.h"
#include "backends/remote/wire.h"

namespace hetgpu::remote {

struct Frame {
  Type type = Type::kReply;
  uint64_t call = 0;
  std::string_view payload;         // valid during the handler's call
  std::vector<UniqueFd> handles;
};

// Threads: any, Serve() one at a time.
class Channel {
 public:
  explicit Channel(UniqueFd socket);

  template <typename Message>
  absl::Status Send(const Message& message, uint64_t call = 0,
                    std::vector<UniqueFd> handles = {}, bool wait = false) {
    return SendFrame(Message::kType, call, Encode(message), std::move(handles),
                     wait);
  }
  // `wait`: not before most of what is queued has been taken. Unavailable once
  // the channel is closed.
  absl::Status SendFrame(Type type, uint64_t call, std::string payload,
                         std::vector<UniqueFd> handles, bool wait);
  // Any number of descriptors, ahead of the message that they belong to.
  absl::Status SendHandles(std::vector<UniqueFd> handles);

  // Has Serve() call `tick` whenever nothing has come or gone for kTickMs;
  // `waiting`: something is queued. Before Serve().
  static constexpr int kTickMs = 500;
  void SetTick(std::function<void(bool waiting)> tick) {
    tick_ = std::move(tick);
  }
  // Hands every message that arrives to `handle` until the peer is gone, the
  // channel is closed, something malformed arrives or `handle` fails; says which.
  absl::Status Serve(const std::function<absl::Status(Frame&)>& handle);
  // Ends Serve() and all waiting senders.
  void Close();

 private:
  struct Outgoing {
    std::string bytes;
    size_t sent = 0;
    std::vector<UniqueFd> handles;  // go with the first byte
  };

  absl::Status Poll();
  absl::Status Receive();
  absl::Status Dispatch(const std::function<absl::Status(Frame&)>& handle);
  // Both need mutex_.
  void Flush();
  bool SendSome(Outgoing& outgoing);

  const UniqueFd socket_;
  const UniqueFd wake_;  // an eventfd: there is something to flush, or to end
  std::mutex mutex_;
  std::condition_variable flushed_;
  std::deque<Outgoing> outgoing_;  // guarded by mutex_, as the two below
  size_t queued_ = 0;              // bytes in it
  bool closed_ = false;

  std::function<void(bool waiting)> tick_;
  // Of the thread in Serve().
  std::string received_;
  std::deque<UniqueFd> received_handles_;
};

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_CHANNEL_H_
