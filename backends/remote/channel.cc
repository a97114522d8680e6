#include "backends/remote/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hetgpu::remote {
namespace {

constexpr size_t kHighWater = 1 << 20;
constexpr size_t kReadBytes = 256 << 10;

absl::Status Gone(std::string_view why) {
  return absl::UnavailableError(
      absl::StrCat("connection: ", absl::string_view(why.data(), why.size())));
}

absl::Status Malformed(const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("connection: ", what));
}

absl::Status CheckHeader(const FrameHeader& header) {
  if (header.magic != kMagic) {
    return Malformed(absl::StrCat("found 0x", absl::Hex(header.magic),
                                  " where a message begins"));
  }
  if (header.bytes > kMaxPayload || header.handles > kMaxHandles ||
      header.zero != 0) {
    return Malformed(absl::StrCat("message of ", header.bytes, " bytes with ",
                                  header.handles, " handles"));
  }
  const auto type = static_cast<Type>(header.type);
  if (type < Type::kReply || type >= Type::kMaxType) {
    return Malformed(absl::StrCat("message of unknown type ", header.type));
  }
  return absl::OkStatus();
}

}  // namespace

Channel::Channel(UniqueFd socket)
    : socket_(std::move(socket)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

// False when the socket takes no more for now.
bool Channel::SendSome(Outgoing& outgoing) {
  iovec piece = {outgoing.bytes.data() + outgoing.sent,
                 outgoing.bytes.size() - outgoing.sent};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxHandles * sizeof(int))];
  if (!outgoing.handles.empty()) {
    message.msg_control = control;
    message.msg_controllen =
        CMSG_SPACE(outgoing.handles.size() * sizeof(int));
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(outgoing.handles.size() * sizeof(int));
    auto* const fds = reinterpret_cast<int*>(CMSG_DATA(header));
    for (size_t i = 0; i < outgoing.handles.size(); ++i) {
      fds[i] = outgoing.handles[i].get();
    }
  }
  const ssize_t sent =
      sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) {
    if (errno == EINTR) return SendSome(outgoing);
    if (errno == EAGAIN) return false;
    closed_ = true;
    return false;
  }
  outgoing.handles.clear();
  outgoing.sent += sent;
  queued_ -= sent;
  return outgoing.sent == outgoing.bytes.size();
}

void Channel::Flush() {
  while (!outgoing_.empty() && SendSome(outgoing_.front())) {
    outgoing_.pop_front();
  }
  if (closed_) outgoing_.clear();
  flushed_.notify_all();
}

absl::Status Channel::SendFrame(Type type, uint64_t call, std::string payload,
                                std::vector<UniqueFd> handles, bool wait) {
  if (payload.size() > kMaxPayload || handles.size() > kMaxHandles) {
    return absl::ResourceExhaustedError(
        absl::StrCat("connection: message of ", payload.size(), " bytes with ",
                     handles.size(), " handles is too large"));
  }
  FrameHeader header = {};
  header.magic = kMagic;
  header.bytes = payload.size();
  header.type = static_cast<uint16_t>(type);
  header.handles = handles.size();
  header.call = call;
  Outgoing outgoing;
  outgoing.bytes.reserve(sizeof(header) + payload.size());
  outgoing.bytes.append(reinterpret_cast<const char*>(&header), sizeof(header));
  outgoing.bytes.append(payload);
  outgoing.handles = std::move(handles);

  std::unique_lock<std::mutex> lock(mutex_);
  if (wait) {
    flushed_.wait(lock, [&] { return queued_ < kHighWater || closed_; });
  }
  if (closed_) return Gone("closed");
  const bool first = outgoing_.empty();
  queued_ += outgoing.bytes.size();
  outgoing_.push_back(std::move(outgoing));
  if (first) Flush();
  if (closed_) return Gone("closed by the other side");
  if (first && !outgoing_.empty()) eventfd_write(wake_.get(), 1);
  return absl::OkStatus();
}

absl::Status Channel::SendHandles(std::vector<UniqueFd> handles) {
  for (size_t first = 0; first < handles.size(); first += kMaxHandles) {
    const size_t count = std::min<size_t>(kMaxHandles, handles.size() - first);
    std::vector<UniqueFd> part;
    for (size_t i = 0; i < count; ++i) {
      part.push_back(std::move(handles[first + i]));
    }
    Handles message;
    message.count = count;
    absl::Status sent = Send(message, 0, std::move(part));
    if (!sent.ok()) return sent;
  }
  return absl::OkStatus();
}

absl::Status Channel::Poll() {
  pollfd polled[2] = {{socket_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return Gone("closed");
    if (!outgoing_.empty()) polled[0].events |= POLLOUT;
  }
  const int ready = poll(polled, 2, tick_ ? kTickMs : -1);
  if (ready < 0) {
    return errno == EINTR ? absl::OkStatus() : Gone("poll failed");
  }
  if (ready == 0) tick_((polled[0].events & POLLOUT) != 0);
  if ((polled[1].revents & POLLIN) != 0) {
    eventfd_t ignored = 0;
    eventfd_read(wake_.get(), &ignored);
  }
  if ((polled[0].revents & POLLOUT) != 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    Flush();
  }
  if ((polled[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) return Receive();
  return absl::OkStatus();
}

absl::Status Channel::Receive() {
  const size_t before = received_.size();
  received_.resize(before + kReadBytes);
  iovec piece = {received_.data() + before, kReadBytes};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxHandles * sizeof(int))];
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t got =
      recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  received_.resize(before + std::max<ssize_t>(got, 0));
  if (got == 0) return Gone("the other side is gone");
  if (got < 0) {
    if (errno == EAGAIN || errno == EINTR) return absl::OkStatus();
    return Gone("the other side is gone");
  }
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_type != SCM_RIGHTS) continue;
    const auto* fds = reinterpret_cast<const int*>(CMSG_DATA(header));
    const size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) received_handles_.emplace_back(fds[i]);
  }
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    return absl::ResourceExhaustedError(
        "connection: handles were dropped: too many open files");
  }
  return absl::OkStatus();
}

absl::Status Channel::Dispatch(
    const std::function<absl::Status(Frame&)>& handle) {
  size_t used = 0;
  absl::Status status;
  while (status.ok() && received_.size() - used >= sizeof(FrameHeader)) {
    FrameHeader header;
    std::memcpy(&header, received_.data() + used, sizeof(header));
    status = CheckHeader(header);
    if (!status.ok() ||
        received_.size() - used - sizeof(header) < header.bytes) {
      break;
    }
    Frame frame;
    frame.type = static_cast<Type>(header.type);
    frame.call = header.call;
    frame.payload = std::string_view(received_).substr(used + sizeof(header),
                                                       header.bytes);
    if (header.handles > received_handles_.size()) {
      return Malformed(absl::StrCat("message with ", header.handles,
                                    " handles, but ",
                                    received_handles_.size(), " came along"));
    }
    for (int i = 0; i < header.handles; ++i) {
      frame.handles.push_back(std::move(received_handles_.front()));
      received_handles_.pop_front();
    }
    used += sizeof(header) + header.bytes;
    status = handle(frame);
  }
  received_.erase(0, used);
  return status;
}

absl::Status Channel::Serve(
    const std::function<absl::Status(Frame&)>& handle) {
  absl::Status status;
  while (status.ok()) {
    status = Poll();
    if (status.ok()) status = Dispatch(handle);
  }
  Close();
  return status;
}

void Channel::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  outgoing_.clear();
  flushed_.notify_all();
  shutdown(socket_.get(), SHUT_RDWR);
  eventfd_write(wake_.get(), 1);
}

}  // namespace hetgpu::remote
