#include "runtime/trace.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "absl/strings/str_format.h"
#include "runtime/error.h"

namespace hetgpu::runtime {
namespace {

std::atomic<Trace*> active = nullptr;

std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppendFormat(&quoted, "\\u%04x", c);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string WithProcessNumber(std::string path) {
  if (const size_t at = path.find("%p"); at != std::string::npos) {
    path.replace(at, 2, std::to_string(getpid()));
  }
  return path;
}

std::string Metadata(std::string_view what, Trace::Track track,
                     std::string_view name) {
  return Cat(R"("ph":"M","name":")", what, R"(","pid":)", track.process,
             R"(,"tid":)", track.thread, R"(,"args":{"name":)", Quoted(name),
             "}");
}

// The format counts in microseconds.
std::string Microseconds(uint64_t ns) {
  return absl::StrFormat("%d.%03d", ns / 1000, ns % 1000);
}

}  // namespace

uint64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

TraceArgs& TraceArgs::Add(std::string_view key, uint64_t value) {
  json_ += Cat(json_.empty() ? "" : ",", Quoted(key), ":", value);
  return *this;
}

TraceArgs& TraceArgs::Add(std::string_view key, std::string_view value) {
  json_ += Cat(json_.empty() ? "" : ",", Quoted(key), ":", Quoted(value));
  return *this;
}

Trace* Trace::Active() { return active.load(std::memory_order_acquire); }

void Trace::Activate(std::unique_ptr<Trace> trace) {
  active.store(trace.release(), std::memory_order_release);
  std::atexit([] {
    const absl::Status status = Active()->Finish();
    if (status.ok()) return;
    const absl::string_view text = status.message();
    std::fprintf(stderr, "hetgpu: %.*s\n", static_cast<int>(text.size()),
                 text.data());
  });
}

absl::StatusOr<std::unique_ptr<Trace>> Trace::Open(const std::string& path) {
  const std::string name = WithProcessNumber(path);
  std::FILE* const file = std::fopen(name.c_str(), "we");
  if (file == nullptr) {
    return Error(HETGPU_ERROR_INVALID_ENVIRONMENT, "HETGPU_TRACE is \"", path,
                 "\": cannot write ", name, ": ", std::strerror(errno));
  }
  return std::unique_ptr<Trace>(new Trace(file, name));
}

Trace::Trace(std::FILE* file, std::string path)
    : start_ns_(NowNs()), file_(file), path_(std::move(path)) {
  AddProcess("host");
}

Trace::~Trace() { (void)Finish(); }

void Trace::Put(std::string_view text) {
  if (failure_ != 0) return;
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) {
    failure_ = errno;
  }
}

void Trace::Write(std::string_view event) {
  std::lock_guard lock(mutex_);
  if (file_ == nullptr) return;
  Put(first_ ? "[\n{" : ",\n{");
  Put(event);
  Put("}");
  first_ = false;
}

uint32_t Trace::AddProcess(std::string_view name) {
  Track track;
  {
    std::lock_guard lock(mutex_);
    track.process = processes_++;
  }
  Write(Metadata("process_name", track, name));
  return track.process;
}

Trace::Track Trace::AddTrack(uint32_t process, std::string_view name) {
  Track track{process, 0};
  {
    std::lock_guard lock(mutex_);
    track.thread = ++tracks_;
  }
  Write(Metadata("thread_name", track, name));
  return track;
}

Trace::Track Trace::HostTrack() {
  const std::thread::id id = std::this_thread::get_id();
  size_t number = 0;
  {
    std::lock_guard lock(mutex_);
    if (const auto found = host_tracks_.find(id); found != host_tracks_.end()) {
      return found->second;
    }
    number = host_tracks_.size();
  }
  const Track track = AddTrack(0, Cat("thread ", number));
  std::lock_guard lock(mutex_);
  return host_tracks_.emplace(id, track).first->second;
}

std::string Trace::Place(Track track, uint64_t at_ns) const {
  return Cat(R"(,"pid":)", track.process, R"(,"tid":)", track.thread,
             R"(,"ts":)",
             Microseconds(at_ns > start_ns_ ? at_ns - start_ns_ : 0));
}

void Trace::Span(Track track, std::string_view category, std::string_view name,
                 uint64_t begin_ns, uint64_t end_ns, const TraceArgs& args) {
  Write(Cat(R"("ph":"X","cat":)", Quoted(category), R"(,"name":)", Quoted(name),
            Place(track, begin_ns), R"(,"dur":)",
            Microseconds(end_ns > begin_ns ? end_ns - begin_ns : 0),
            R"(,"args":{)", args.json(), "}"));
}

void Trace::Instant(Track track, std::string_view category,
                    std::string_view name, uint64_t at_ns,
                    const TraceArgs& args) {
  Write(Cat(R"("ph":"i","s":"t","cat":)", Quoted(category), R"(,"name":)",
            Quoted(name), Place(track, at_ns), R"(,"args":{)", args.json(),
            "}"));
}

uint64_t Trace::AddDrain(std::function<void()> drain) {
  std::lock_guard lock(mutex_);
  drains_[++drain_numbers_] = std::move(drain);
  return drain_numbers_;
}

void Trace::RemoveDrain(uint64_t number) {
  std::lock_guard lock(mutex_);
  drains_.erase(number);
}

absl::Status Trace::Finish() {
  std::map<uint64_t, std::function<void()>> drains;
  {
    std::lock_guard lock(mutex_);
    drains.swap(drains_);
  }
  for (const auto& [number, drain] : drains) drain();
  std::lock_guard lock(mutex_);
  if (file_ == nullptr) return absl::OkStatus();
  Put("\n]\n");
  if (std::fclose(std::exchange(file_, nullptr)) != 0 && failure_ == 0) {
    failure_ = errno;
  }
  if (failure_ == 0) return absl::OkStatus();
  return Error(HETGPU_ERROR_INVALID_ENVIRONMENT, "HETGPU_TRACE: cannot write ",
               path_, ": ", std::strerror(failure_));
}

}  // namespace hetgpu::runtime
