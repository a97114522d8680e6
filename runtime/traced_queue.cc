#include "runtime/traced_queue.h"

#include <utility>
#include <vector>

#include "runtime/status_macros.h"
#include "runtime/text.h"
#include "runtime/trace_move.h"

namespace hetgpu::runtime {
namespace {

// From so many commands in flight on, those that are done are written at the
// next one and not only when the queue is waited for.
constexpr size_t kMaxPending = 1024;

std::string Text(const Dim3& dim) {
  return Cat("(", dim.x, ",", dim.y, ",", dim.z, ")");
}

TraceArgs Bytes(uint64_t bytes) { return TraceArgs().Add("bytes", bytes); }

}  // namespace

TracedQueue::TracedQueue(Trace& trace, Trace::Track track,
                         hetgpu::Device& device,
                         std::unique_ptr<hetgpu::Queue> queue)
    : trace_(trace),
      track_(track),
      device_(device),
      queue_(std::move(queue)),
      drain_(trace.AddDrain([this] { Drain(); })) {}

TracedQueue::~TracedQueue() {
  trace_.RemoveDrain(drain_);
  (void)queue_->Synchronize(nullptr);
  Drain();
}

template <typename Enqueue>
absl::Status TracedQueue::Traced(std::string_view category,
                                 std::string_view name, const TraceArgs& args,
                                 Enqueue&& enqueue) {
  Pending pending{std::string(category), std::string(name), args, {}, {}};
  if (const TraceMove* const move = TraceMove::Current()) {
    pending.category = TraceMove::kCategory;
    pending.name = move->name();
    pending.args = move->args();
  }
  HETGPU_ASSIGN_OR_RETURN(pending.begin, device_.CreateEvent());
  HETGPU_ASSIGN_OR_RETURN(pending.end, device_.CreateEvent());
  {
    std::lock_guard order(order_);
    HETGPU_RETURN_IF_ERROR(queue_->Record(pending.begin.get()));
    const absl::Status status = enqueue();
    HETGPU_RETURN_IF_ERROR(queue_->Record(pending.end.get()));
    std::lock_guard lock(mutex_);
    // Its events must live until the queue has passed them, also when the
    // command was refused.
    pending_.push_back(std::move(pending));
    if (!status.ok()) {
      pending_.back().category.clear();
      return status;
    }
    if (pending_.size() < kMaxPending) return status;
  }
  Drain();
  return absl::OkStatus();
}

void TracedQueue::Drain() {
  std::vector<Pending> done;
  {
    std::lock_guard lock(mutex_);
    while (!pending_.empty() && pending_.front().end->Done()) {
      done.push_back(std::move(pending_.front()));
      pending_.pop_front();
    }
  }
  for (const Pending& command : done) {
    if (command.category.empty()) continue;
    trace_.Span(track_, command.category, command.name,
                command.begin->TimestampNs(), command.end->TimestampNs(),
                command.args);
  }
}

absl::Status TracedQueue::Launch(const LaunchDesc& desc) {
  TraceArgs args;
  args.Add("grid", Text(desc.grid))
      .Add("block", Text(desc.block))
      .Add("dynamic_shared_bytes", desc.dynamic_shared_bytes);
  const std::string name = desc.info->name;
  return Traced("launch", name, args, [&] { return queue_->Launch(desc); });
}

absl::Status TracedQueue::Copy(uint64_t dst, uint64_t src, uint64_t bytes) {
  return Traced("copy", "copy on device", Bytes(bytes),
                [&] { return queue_->Copy(dst, src, bytes); });
}

absl::Status TracedQueue::CopyToDevice(uint64_t dst, const void* src,
                                       uint64_t bytes) {
  return Traced("copy", "copy to device", Bytes(bytes),
                [&] { return queue_->CopyToDevice(dst, src, bytes); });
}

absl::Status TracedQueue::CopyFromDevice(void* dst, uint64_t src,
                                         uint64_t bytes) {
  return Traced("copy", "copy from device", Bytes(bytes),
                [&] { return queue_->CopyFromDevice(dst, src, bytes); });
}

absl::Status TracedQueue::CopyToDeviceNow(uint64_t dst, const void* src,
                                          uint64_t bytes) {
  return Traced("copy", "copy to device", Bytes(bytes),
                [&] { return queue_->CopyToDeviceNow(dst, src, bytes); });
}

absl::Status TracedQueue::CopyFromDeviceNow(void* dst, uint64_t src,
                                            uint64_t bytes) {
  return Traced("copy", "copy from device", Bytes(bytes),
                [&] { return queue_->CopyFromDeviceNow(dst, src, bytes); });
}

absl::Status TracedQueue::CopyPeer(uint64_t dst, hetgpu::Device& source,
                                   uint64_t src, uint64_t bytes) {
  return Traced("copy", "copy between devices", Bytes(bytes), [&] {
    return queue_->CopyPeer(dst, source, src, bytes);
  });
}

absl::Status TracedQueue::Fill(uint64_t dst, uint64_t pattern,
                               uint32_t pattern_bytes, uint64_t count) {
  return Traced("fill", "fill", Bytes(pattern_bytes * count), [&] {
    return queue_->Fill(dst, pattern, pattern_bytes, count);
  });
}

absl::Status TracedQueue::HostFunction(std::function<void()> function) {
  return Traced("host", "host function", {},
                [&] { return queue_->HostFunction(std::move(function)); });
}

absl::Status TracedQueue::Record(hetgpu::Event* event) {
  return queue_->Record(event);
}

absl::Status TracedQueue::Wait(hetgpu::Event* event) {
  return queue_->Wait(event);
}

bool TracedQueue::Idle() const { return queue_->Idle(); }

absl::Status TracedQueue::Synchronize(LaunchError* error) {
  const absl::Status status = queue_->Synchronize(error);
  if (!status.ok()) {
    const auto text = status.message();
    trace_.Instant(track_, "failure", {text.data(), text.size()}, NowNs());
  }
  Drain();
  return status;
}

void TracedQueue::Cancel() { queue_->Cancel(); }

uint32_t TraceContext(std::string_view device) {
  Trace* const trace = Trace::Active();
  return trace == nullptr ? 0 : trace->AddProcess(device);
}

std::unique_ptr<hetgpu::Queue> WithTrace(uint32_t process,
                                         hetgpu::Device& device,
                                         std::unique_ptr<hetgpu::Queue> queue) {
  Trace* const trace = Trace::Active();
  if (trace == nullptr) return queue;
  return std::make_unique<TracedQueue>(
      *trace, trace->AddTrack(process, "stream"), device, std::move(queue));
}

}  // namespace hetgpu::runtime
