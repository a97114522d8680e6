// Where what kernels print goes.
#ifndef HETGPU_BACKENDS_CPU_PRINT_SINK_H_
#define HETGPU_BACKENDS_CPU_PRINT_SINK_H_

#include <functional>
#include <mutex>
#include <string_view>

namespace hetgpu::cpu {

// Thread-safe; one call of the sink at a time.
class PrintSink {
 public:
  // Empty: standard output.
  void Set(std::function<void(std::string_view)> sink);
  void Write(std::string_view text);

 private:
  std::mutex mutex_;
  std::function<void(std::string_view)> sink_;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_PRINT_SINK_H_
