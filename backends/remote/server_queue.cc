#include "backends/remote/server_queue.h"

#include <algorithm>
#include <utility>

namespace hetgpu::remote {
namespace {

// Of so many objects kept for work in flight, the queue lets go by itself.
constexpr size_t kMaxInFlight = 256;

uint64_t Pieces(uint64_t bytes) {
  return (bytes + kSlotBytes - 1) / kSlotBytes;
}

uint64_t BytesOf(uint64_t piece, uint64_t bytes) {
  return std::min(kSlotBytes, bytes - piece * kSlotBytes);
}

}  // namespace

ServerQueue::ServerQueue(uint64_t number, std::unique_ptr<Queue> queue,
                         Ring ring, Channel& channel,
                         std::function<void()> failed)
    : number_(number),
      queue_(std::move(queue)),
      ring_(std::move(ring)),
      channel_(channel),
      failed_(std::move(failed)),
      waiter_(std::make_unique<Worker>()) {}

ServerQueue::~ServerQueue() {
  queue_->Cancel();
  waiter_.reset();
}

void ServerQueue::Keep(const absl::Status& status) {
  if (status.ok()) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (refused_.ok()) refused_ = status;
  }
  failed_();
}

void ServerQueue::Enqueue(const Launch& message,
                          std::shared_ptr<ServerKernel> kernel) {
  LaunchDesc desc;
  desc.kernel = kernel->kernel.get();
  desc.info = &kernel->info;
  desc.grid = message.grid;
  desc.block = message.block;
  desc.dynamic_shared_bytes = message.dynamic_shared_bytes;
  desc.params = message.params;
  desc.module_data = message.module_data;
  desc.timeout_ms = message.timeout_ms;
  desc.cooperative = message.cooperative;
  Keep(queue_->Launch(desc));
  if (in_flight_.empty() || in_flight_.back() != kernel) {
    KeepInFlight(std::move(kernel));
  }
}

void ServerQueue::Enqueue(const Copy& message) {
  Keep(queue_->Copy(message.dst, message.src, message.bytes));
}

void ServerQueue::Enqueue(CopyIn message) {
  if (!message.data.empty()) {
    auto data = std::make_shared<std::string>(std::move(message.data));
    if (data->size() != message.bytes) {
      return Keep(absl::InvalidArgumentError("remote: copy of another size"));
    }
    Keep(queue_->CopyToDevice(message.dst, data->data(), data->size()));
    return KeepInFlight(std::move(data));
  }
  const uint64_t first = next_use_, pieces = Pieces(message.bytes);
  next_use_ += pieces;
  auto requested = std::make_shared<uint64_t>(0);
  for (uint64_t i = 0; i < pieces; ++i) {
    Keep(queue_->HostFunction([this, message, first, i, requested] {
      Fetch(message, first, i, requested.get());
    }));
    Keep(queue_->CopyToDevice(message.dst + i * kSlotBytes,
                              ring_.Slot(first + i),
                              BytesOf(i, message.bytes)));
  }
}

// Runs before piece `piece` is copied, hence after all pieces before it have
// been: the slots of the next ones are free for what comes next.
void ServerQueue::Fetch(const CopyIn& copy, uint64_t first_use, uint64_t piece,
                        uint64_t* requested) {
  const uint64_t end = std::min(Pieces(copy.bytes), piece + kSlots);
  for (; *requested < end; ++*requested) {
    Need need;
    need.queue = number_;
    need.copy = copy.copy;
    need.offset = *requested * kSlotBytes;
    need.bytes = BytesOf(*requested, copy.bytes);
    need.use = first_use + *requested;
    WaitUntilTaken(need.use);
    (void)channel_.Send(need);
  }
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t use = first_use + piece;
  answered_.wait(lock, [&] {
    return closed_ || slots_[use % kSlots].filled > use;
  });
}

void ServerQueue::Enqueue(const CopyOut& message) {
  const uint64_t first = next_use_, pieces = Pieces(message.bytes);
  next_use_ += pieces;
  for (uint64_t i = 0; i < pieces; ++i) {
    Data data;
    data.queue = number_;
    data.copy = message.copy;
    data.offset = i * kSlotBytes;
    data.bytes = BytesOf(i, message.bytes);
    data.use = first + i;
    Keep(queue_->HostFunction([this, data] { WaitUntilTaken(data.use); }));
    Keep(queue_->CopyFromDevice(ring_.Slot(data.use), message.src + data.offset,
                                data.bytes));
    Keep(queue_->HostFunction([this, data] { Lend(data.use, data); }));
  }
}

void ServerQueue::Lend(uint64_t use, const Data& data) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    slots_[use % kSlots].lent = true;
  }
  (void)channel_.Send(data);
}

void ServerQueue::WaitUntilTaken(uint64_t use) {
  std::unique_lock<std::mutex> lock(mutex_);
  answered_.wait(lock,
                 [&] { return closed_ || !slots_[use % kSlots].lent; });
}

void ServerQueue::Enqueue(const Fill& message) {
  Keep(queue_->Fill(message.dst, message.pattern, message.pattern_bytes,
                    message.count));
}

void ServerQueue::Enqueue(const HostFunction& message) {
  const uint64_t function = message.function;
  Keep(queue_->HostFunction([this, function] { CallHostFunction(function); }));
}

void ServerQueue::CallHostFunction(uint64_t function) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    called_.insert(function);
  }
  CallHost call;
  call.queue = number_;
  call.function = function;
  (void)channel_.Send(call);
  std::unique_lock<std::mutex> lock(mutex_);
  answered_.wait(lock, [&] { return closed_ || called_.count(function) == 0; });
}

void ServerQueue::Enqueue(const Record& message,
                          std::shared_ptr<Event> event) {
  Keep(queue_->Record(event.get()));
  waiter_->Post([this, number = message.event, event = std::move(event)] {
    (void)event->Wait();
    failed_();  // the client learns of a loss before the events of its queues
    EventReached reached;
    reached.event = number;
    reached.timestamp_ns = event->TimestampNs();
    (void)channel_.Send(reached);
  });
}

void ServerQueue::Enqueue(const Wait& message, std::shared_ptr<Event> event) {
  Keep(queue_->Wait(event.get()));
  KeepInFlight(std::move(event));
}

// They are destroyed by the waiter: host functions must not call drivers.
void ServerQueue::KeepInFlight(std::shared_ptr<void> object) {
  in_flight_.push_back(std::move(object));
  if (in_flight_.size() < kMaxInFlight) return;
  Keep(queue_->HostFunction(
      [this, passed = std::exchange(in_flight_, {})]() mutable {
        waiter_->Post([passed = std::move(passed)] {});
      }));
}

void ServerQueue::Synchronize(uint64_t call) {
  waiter_->Post([this, call, passed = std::exchange(in_flight_, {})] {
    FinishSynchronize(call);
  });
}

void ServerQueue::FinishSynchronize(uint64_t call) {
  SynchronizeReply reply;
  reply.status = queue_->Synchronize(&reply.error);
  if (!reply.status.ok()) failed_();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (reply.status.ok()) std::swap(reply.status, refused_);
    refused_ = absl::OkStatus();
  }
  (void)channel_.SendFrame(Type::kReply, call, Encode(reply), {}, false);
}

void ServerQueue::Answer(const Filled& message) {
  std::lock_guard<std::mutex> lock(mutex_);
  slots_[message.use % kSlots].filled = message.use + 1;
  answered_.notify_all();
}

void ServerQueue::Answer(const Taken& message) {
  std::lock_guard<std::mutex> lock(mutex_);
  slots_[message.use % kSlots].lent = false;
  answered_.notify_all();
}

void ServerQueue::Answer(const HostFunctionDone& message) {
  std::lock_guard<std::mutex> lock(mutex_);
  called_.erase(message.function);
  answered_.notify_all();
}

void ServerQueue::Close() {
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  answered_.notify_all();
}

}  // namespace hetgpu::remote
