#include "runtime/event.h"

#include <utility>

#include "runtime/error.h"
#include "runtime/status_macros.h"

namespace hetgpu::runtime {

Event::Event(std::shared_ptr<Context> context) : context_(std::move(context)) {}

Event::~Event() {
  if (current_) context_->Retire(std::move(current_), awaited_);
}

absl::StatusOr<Event::Handle> Event::Create(std::shared_ptr<Context> context) {
  Context& owner = *context;
  return owner.Adopt(std::make_shared<Event>(std::move(context)));
}

absl::Status Event::Record(Opening& opening, hetgpu::Queue& queue) {
  HETGPU_ASSIGN_OR_RETURN(auto made, opening.device().CreateEvent());
  std::shared_ptr<hetgpu::Event> next = opening.Own(std::move(made));
  std::lock_guard lock(mutex_);
  HETGPU_RETURN_IF_ERROR(queue.Record(next.get()));
  // Queues that wait for the old point were told so under this lock; they may
  // not have got there yet.
  std::swap(current_, next);
  if (next) context_->Retire(std::move(next), awaited_);
  opening_ = &opening;
  awaited_ = false;
  return absl::OkStatus();
}

absl::Status Event::Delay(Opening& opening, hetgpu::Queue& queue) {
  std::lock_guard lock(mutex_);
  if (!current_ || opening_ != &opening) return absl::OkStatus();
  awaited_ = true;
  return queue.Wait(current_.get());
}

std::shared_ptr<hetgpu::Event> Event::Current() const {
  std::lock_guard lock(mutex_);
  return current_;
}

absl::Status Event::Synchronize() {
  const auto current = Current();
  return current ? current->Wait() : absl::OkStatus();
}

absl::Status Event::Query() const {
  const auto current = Current();
  if (!current || current->Done()) return absl::OkStatus();
  return Error(HETGPU_ERROR_NOT_READY, "event was not reached yet");
}

absl::StatusOr<uint64_t> Event::TimestampNs(std::string_view which) const {
  const auto current = Current();
  if (!current) {
    return Error(HETGPU_ERROR_INVALID_VALUE, which,
                 " event was never recorded");
  }
  if (!current->Done()) {
    return Error(HETGPU_ERROR_NOT_READY, which, " event was not reached yet");
  }
  return current->TimestampNs();
}

}  // namespace hetgpu::runtime
