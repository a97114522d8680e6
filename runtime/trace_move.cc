#include "runtime/trace_move.h"

#include "memory/residency.h"
#include "runtime/text.h"

namespace hetgpu::runtime {
namespace {

thread_local const TraceCause* current_cause = nullptr;
thread_local const TraceMove* current_move = nullptr;

}  // namespace

TraceCause::TraceCause(std::string_view command, std::string_view name)
    : command_(command), name_(name), outer_(current_cause) {
  current_cause = this;
}

TraceCause::~TraceCause() { current_cause = outer_; }

std::string TraceCause::Current() {
  if (current_cause == nullptr) return "";
  const bool named = !current_cause->name_.empty();
  return Cat(current_cause->command_, named ? " " : "", current_cause->name_);
}

TraceMove::TraceMove(std::string_view from, std::string_view to,
                     uint64_t bytes) {
  if (Trace::Active() == nullptr) return;
  name_ = Cat(from, " to ", to);
  args_.Add("bytes", bytes)
      .Add("granules", (bytes - 1) / memory::kGranuleBytes + 1)
      .Add("for", TraceCause::Current());
  current_move = this;
}

TraceMove::~TraceMove() { current_move = nullptr; }

const TraceMove* TraceMove::Current() { return current_move; }

}  // namespace hetgpu::runtime
