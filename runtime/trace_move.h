// Moves of unified memory in the trace: their own category, and what they were
// for.
#ifndef HETGPU_RUNTIME_TRACE_MOVE_H_
#define HETGPU_RUNTIME_TRACE_MOVE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/trace.h"

namespace hetgpu::runtime {

// While it exists, the calling thread moves data for a command: "launch" of
// "saxpy", "copy". The texts must outlive it.
class TraceCause {
 public:
  explicit TraceCause(std::string_view command, std::string_view name = "");
  ~TraceCause();
  TraceCause(const TraceCause&) = delete;
  TraceCause& operator=(const TraceCause&) = delete;

  // "launch saxpy"; "" when there is none.
  static std::string Current();

 private:
  const std::string_view command_, name_;
  const TraceCause* const outer_;
};

// While it exists, what the calling thread puts on traced queues is a move, with
// bytes, granules of 64 KiB and the cause. Costs a branch without a trace.
class TraceMove {
 public:
  TraceMove(std::string_view from, std::string_view to, uint64_t bytes);
  ~TraceMove();
  TraceMove(const TraceMove&) = delete;
  TraceMove& operator=(const TraceMove&) = delete;

  static constexpr std::string_view kCategory = "move";
  // Null when the calling thread's commands are not moves.
  static const TraceMove* Current();
  // "host to cuda:0".
  const std::string& name() const { return name_; }
  const TraceArgs& args() const { return args_; }

 private:
  std::string name_;
  TraceArgs args_;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_TRACE_MOVE_H_
