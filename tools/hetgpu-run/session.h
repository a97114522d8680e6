// One device, one context, one module: what every run and listing needs.
#ifndef HETGPU_TOOLS_HETGPU_RUN_SESSION_H_
#define HETGPU_TOOLS_HETGPU_RUN_SESSION_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/common/api_status.h"

namespace hetgpu::tools {

// A kernel with what a launch must know of it.
struct Kernel {
  hetgpuFunction handle = nullptr;
  std::string name;
  uint64_t param_bytes = 0;
  std::vector<hetgpuParameterInfo> params;
};

struct Symbol {
  hetgpuDevicePtr address = 0;
  uint64_t size = 0;
};

class Session {
 public:
  struct Config {
    std::string device;       // "" = the first there is
    uint64_t timeout_ms = 0;  // of a launch and of a compilation, 0 = none
    bool printf_to_stderr = false;
  };

  absl::Status Open(const Config& config);
  // `name` appears in messages.
  absl::Status LoadModule(std::string_view text, const std::string& name);

  // NotFound lists the names there are; Aborted when the kernel was refused.
  // The pointer stays valid as long as the session.
  absl::StatusOr<const Kernel*> FindKernel(const std::string& name);
  absl::StatusOr<Symbol> FindSymbol(const std::string& name) const;

  // Bytes of dynamic shared memory etc. of a function.
  static uint64_t Attribute(hetgpuFunction function,
                            hetgpuFunctionAttribute attribute);

  // Gives the context up without destroying it: a compiler that cannot be
  // stopped is at work in it. The process must end by _exit().
  void Abandon() { (void)context_.release(); }

  // Of one launch, and of compiling one kernel; 0 = none.
  uint64_t timeout_ms() const { return timeout_ms_; }
  hetgpuContext context() const { return context_.get(); }
  hetgpuModule module() const { return module_; }
  hetgpuStream stream() const { return stream_; }
  const hetgpuDeviceProperties& device() const { return device_; }

 private:
  uint64_t timeout_ms_ = 0;
  ContextHandle context_;
  hetgpuModule module_ = nullptr;  // owned by the context
  hetgpuStream stream_ = nullptr;  // ditto
  hetgpuDeviceProperties device_{};
  std::map<std::string, Kernel> kernels_;
};

// The parameters of a function in order.
absl::StatusOr<std::vector<hetgpuParameterInfo>> ParametersOf(
    hetgpuFunction function);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_SESSION_H_
