// A kernel of a loaded module, compiled when first needed.
#ifndef HETGPU_RUNTIME_FUNCTION_H_
#define HETGPU_RUNTIME_FUNCTION_H_

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/module.h"

namespace hetgpu::runtime {

// A kernel in an opening of the device, with all that a launch refers to.
struct PreparedKernel {
  std::shared_ptr<ModuleState> module;
  const KernelInfo* info = nullptr;  // of the module
  std::shared_ptr<Opening> opening;
  std::unique_ptr<hetgpu::Kernel> kernel;
};

// Threads: any.
class Function {
 public:
  using Handle = hetgpuFunction;
  static constexpr HandleKind kKind = HandleKind::kFunction;

  // `info` is of the module of `state`.
  Function(std::shared_ptr<ModuleState> state, const KernelInfo* info);

  Context& context() const { return state_->context(); }
  const ModuleState& module() const { return *state_; }
  const KernelInfo& info() const { return *info_; }
  // Why the kernel cannot run; "" when it can.
  const std::string& refusal() const { return refusal_; }

  // The kernel on the device, compiled and loaded by the first call in the
  // opening, which must be the context's present one. UNSUPPORTED when refused.
  absl::StatusOr<std::shared_ptr<const PreparedKernel>> Prepare(
      Opening& opening);
  absl::Status Prepare();
  // Prepares those of `functions`, of one module and in its order, that nothing
  // refuses: compiles them at the same time and loads them together. The first
  // failure in order; what did compile is prepared all the same.
  static absl::Status PrepareTogether(
      const std::vector<std::shared_ptr<Function>>& functions,
      Opening& opening);
  bool IsPrepared() const;
  uint64_t ImageBytes() const;  // 0 until prepared
  // What it may access; found out by the first call.
  const AccessSummary& Access();
  // How it runs and why; prepares.
  absl::StatusOr<const std::string*> Explain();

 private:
  absl::StatusOr<std::unique_ptr<hetgpu::Kernel>> Load(Opening& opening);
  absl::StatusOr<std::shared_ptr<const std::string>> Image(Opening& opening);
  bool IsPreparedIn(const Opening& opening) const {  // needs the mutex
    return kernel_ && kernel_->opening.get() == &opening;
  }
  // Of compiled modules; none is prepared, the mutexes of all are held.
  static absl::Status PrepareLocked(const std::vector<Function*>& functions,
                                    Opening& opening);
  void Keep(Opening& opening, std::unique_ptr<hetgpu::Kernel> kernel);

  const std::shared_ptr<ModuleState> state_;
  const KernelInfo* const info_;
  const std::string refusal_;
  mutable std::mutex mutex_;  // held while compiling: one compilation for all
  std::shared_ptr<const PreparedKernel> kernel_;
  uint64_t image_bytes_ = 0;
  std::string explanation_;
  std::once_flag access_found_;
  AccessSummary access_;
};

// INVALID_VALUE for unknown enumerators.
absl::StatusOr<uint64_t> AttributeOf(const Function& function,
                                     hetgpuFunctionAttribute attribute);

// Strings live as long as the module.
hetgpuParameterInfo ToApi(const ParamInfo& param);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_FUNCTION_H_
