#include "tools/hetgpu-run/session.h"

#include <cstdio>
#include <utility>

#include "tools/common/status_macros.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

void PrintToStderr(void*, const char* text, size_t size) {
  std::fwrite(text, 1, size, stderr);
}

absl::StatusOr<hetgpuDevice> FindDevice(const std::string& name) {
  hetgpuDevice device = nullptr;
  RETURN_IF_ERROR(ToStatus(name.empty()
                               ? hetgpuDeviceGet(0, &device)
                               : hetgpuDeviceGetByName(name.c_str(), &device)));
  return device;
}

}  // namespace

absl::Status Session::Open(const Config& config) {
  ASSIGN_OR_RETURN(const hetgpuDevice device, FindDevice(config.device));
  device_.struct_size = sizeof device_;
  RETURN_IF_ERROR(ToStatus(hetgpuDeviceGetProperties(device, &device_)));
  hetgpuContext context = nullptr;
  RETURN_IF_ERROR(ToStatus(hetgpuContextCreate(device, 0, &context)));
  context_.reset(context);
  RETURN_IF_ERROR(ToStatus(hetgpuStreamCreate(context, 0, &stream_)));
  timeout_ms_ = config.timeout_ms;
  if (config.timeout_ms != 0) {
    RETURN_IF_ERROR(ToStatus(hetgpuContextSetLimit(
        context, HETGPU_LIMIT_LAUNCH_TIMEOUT_MS, config.timeout_ms)));
  }
  if (config.printf_to_stderr) {
    const hetgpuResult set =
        hetgpuContextSetPrintf(context, PrintToStderr, nullptr);
    if (set == HETGPU_ERROR_UNSUPPORTED) {
      std::fprintf(stderr, "hetgpu-run: what kernels print is mixed with the "
                           "output: %s\n", hetgpuGetLastErrorDetail());
    } else {
      RETURN_IF_ERROR(ToStatus(set));
    }
  }
  return absl::OkStatus();
}

absl::Status Session::LoadModule(std::string_view text,
                                 const std::string& name) {
  if (text.empty()) {
    return absl::DataLossError(Cat("'", name, "' is empty"));
  }
  const absl::Status status = ToStatus(hetgpuModuleLoadData(
      context(), text.data(), text.size(), name.c_str(), &module_));
  // A module that this build does not take is a bad file, not a failed launch.
  if (absl::IsAborted(status)) return absl::DataLossError(status.message());
  return status;
}

absl::StatusOr<const Kernel*> Session::FindKernel(const std::string& name) {
  const auto found = kernels_.find(name);
  if (found != kernels_.end()) return &found->second;
  Kernel kernel;
  kernel.name = name;
  RETURN_IF_ERROR(
      ToStatus(hetgpuModuleGetFunction(module_, name.c_str(), &kernel.handle)));
  const char* refusal = "";
  RETURN_IF_ERROR(ToStatus(hetgpuFunctionGetText(
      kernel.handle, HETGPU_FUNCTION_TEXT_REFUSAL, &refusal)));
  if (*refusal != '\0') {
    return absl::AbortedError(Cat("kernel '", name, "' cannot run: ", refusal));
  }
  kernel.param_bytes = Attribute(kernel.handle, HETGPU_FUNCTION_PARAM_BYTES);
  ASSIGN_OR_RETURN(kernel.params, ParametersOf(kernel.handle));
  return &kernels_.emplace(name, std::move(kernel)).first->second;
}

absl::StatusOr<Symbol> Session::FindSymbol(const std::string& name) const {
  Symbol symbol;
  RETURN_IF_ERROR(ToStatus(hetgpuModuleGetGlobal(
      module_, name.c_str(), &symbol.address, &symbol.size)));
  return symbol;
}

uint64_t Session::Attribute(hetgpuFunction function,
                            hetgpuFunctionAttribute attribute) {
  uint64_t value = 0;
  (void)hetgpuFunctionGetAttribute(function, attribute, &value);
  return value;
}

absl::StatusOr<std::vector<hetgpuParameterInfo>> ParametersOf(
    hetgpuFunction function) {
  uint32_t count = 0;
  RETURN_IF_ERROR(ToStatus(hetgpuFunctionGetParameterCount(function, &count)));
  std::vector<hetgpuParameterInfo> params(count);
  for (uint32_t i = 0; i < count; ++i) {
    params[i].struct_size = sizeof params[i];
    RETURN_IF_ERROR(
        ToStatus(hetgpuFunctionGetParameter(function, i, &params[i])));
  }
  return params;
}

}  // namespace hetgpu::tools
