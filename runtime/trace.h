// HETGPU_TRACE: what the process did, where and when, as a file in the array
// form of the trace event format that Chrome and Perfetto read.
//
//   process  one for the host, one for each context ("cpu:0 #1")
//   thread   a thread of the host, or a stream of the context
//   span     category, name, begin, duration in microseconds, arguments
//
// categories: launch, copy, move (of unified memory), fill, host (host functions), compile, cache (images
// found on disk), load (code given to a device), failure (an instant).
//
// The file is readable at any time: the format allows the closing bracket to be
// missing.
#ifndef HETGPU_RUNTIME_TRACE_H_
#define HETGPU_RUNTIME_TRACE_H_

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/statusor.h"

namespace hetgpu::runtime {

// Nanoseconds of the steady clock, which backends use for their events too.
uint64_t NowNs();

// The arguments of a span, as members of a JSON object.
class TraceArgs {
 public:
  TraceArgs& Add(std::string_view key, uint64_t value);
  TraceArgs& Add(std::string_view key, std::string_view value);
  const std::string& json() const { return json_; }

 private:
  std::string json_;
};

// Threads: any.
class Trace {
 public:
  struct Track {
    uint32_t process = 0;
    uint32_t thread = 0;
  };

  // The process's trace; null unless HETGPU_TRACE is set.
  static Trace* Active();
  // Makes this trace the active one, for good. It is finished at exit; that it
  // could not be written whole is then said on stderr.
  static void Activate(std::unique_ptr<Trace> trace);

  // "%p" in `path` stands for the process number. INVALID_ENVIRONMENT says why
  // the file cannot be written.
  static absl::StatusOr<std::unique_ptr<Trace>> Open(const std::string& path);
  ~Trace();  // finishes

  uint32_t AddProcess(std::string_view name);
  Track AddTrack(uint32_t process, std::string_view name);
  // The calling thread's.
  Track HostTrack();

  void Span(Track track, std::string_view category, std::string_view name,
            uint64_t begin_ns, uint64_t end_ns, const TraceArgs& args = {});
  void Instant(Track track, std::string_view category, std::string_view name,
               uint64_t at_ns, const TraceArgs& args = {});

  // `drain` is called when the trace is finished, unless removed before; the
  // number names it.
  uint64_t AddDrain(std::function<void()> drain);
  void RemoveDrain(uint64_t number);
  // Calls the drains and completes the file; later spans are dropped. Says, once,
  // that something could not be written, and why.
  absl::Status Finish();

 private:
  Trace(std::FILE* file, std::string path);
  void Put(std::string_view text);  // needs the mutex
  void Write(std::string_view event);
  std::string Place(Track track, uint64_t at_ns) const;

  const uint64_t start_ns_;
  std::mutex mutex_;
  std::FILE* file_;
  const std::string path_;
  int failure_ = 0;  // errno of the first write that failed
  bool first_ = true;
  uint32_t processes_ = 0;
  uint32_t tracks_ = 0;
  std::map<std::thread::id, Track> host_tracks_;
  std::map<uint64_t, std::function<void()>> drains_;
  uint64_t drain_numbers_ = 0;
};

// A span of the calling thread, from construction to destruction. Costs a branch
// when there is no trace.
class HostSpan {
 public:
  HostSpan(std::string_view category, std::string_view name)
      : trace_(Trace::Active()) {
    if (trace_ == nullptr) return;
    category_ = category;
    name_ = name;
    begin_ns_ = NowNs();
  }
  ~HostSpan() {
    if (trace_ == nullptr) return;
    trace_->Span(trace_->HostTrack(), category_, name_, begin_ns_, NowNs());
  }
  HostSpan(const HostSpan&) = delete;
  HostSpan& operator=(const HostSpan&) = delete;

  // It turned out to be something else.
  void SetCategory(std::string_view category) { category_ = category; }

 private:
  Trace* const trace_;
  std::string category_, name_;
  uint64_t begin_ns_ = 0;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_TRACE_H_
