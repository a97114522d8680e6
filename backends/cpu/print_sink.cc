#include "backends/cpu/print_sink.h"

#include <cstdio>
#include <utility>

namespace hetgpu::cpu {

void PrintSink::Set(std::function<void(std::string_view)> sink) {
  std::lock_guard<std::mutex> lock(mutex_);
  sink_ = std::move(sink);
}

void PrintSink::Write(std::string_view text) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (sink_) {
    sink_(text);
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace hetgpu::cpu
