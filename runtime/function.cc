#include "runtime/function.h"

#include <algorithm>
#include <utility>

#include "runtime/error.h"
#include "runtime/platform.h"
#include "runtime/status_macros.h"
#include "runtime/trace.h"
#include "runtime/types.h"

namespace hetgpu::runtime {
namespace {

uint64_t MaxDynamicShared(const Function& function) {
  const uint64_t limit = function.context().info().max_shared_per_block;
  const uint64_t used = function.info().dynamic_shared_offset;
  return used < limit ? limit - used : 0;
}

uint64_t MaxThreads(const Function& function) {
  const uint64_t limit = function.context().info().max_threads_per_block;
  const uint32_t* max = function.info().max_threads;
  const uint64_t product = uint64_t{max[0]} * max[1] * max[2];
  return product == 0 ? limit : std::min(limit, product);
}

struct AttributeRow {
  hetgpuFunctionAttribute attribute;
  uint64_t (*get)(const Function& function);
};

#define HETGPU_ATTRIBUTE(name, expression)                         \
  {                                                                \
    name, [](const Function& f) -> uint64_t { return expression; } \
  }
constexpr AttributeRow kAttributes[] = {
    HETGPU_ATTRIBUTE(HETGPU_FUNCTION_PARAM_BYTES, f.info().param_bytes),
    HETGPU_ATTRIBUTE(HETGPU_FUNCTION_STATIC_SHARED_BYTES,
                     f.info().static_shared_bytes),
    HETGPU_ATTRIBUTE(HETGPU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES,
                     MaxDynamicShared(f)),
    HETGPU_ATTRIBUTE(HETGPU_FUNCTION_USES_DYNAMIC_SHARED,
                     f.info().uses_dynamic_shared),
    HETGPU_ATTRIBUTE(HETGPU_FUNCTION_LOCAL_BYTES, f.info().local_bytes),
    HETGPU_ATTRIBUTE(HETGPU_FUNCTION_MAX_THREADS_PER_BLOCK, MaxThreads(f)),
    HETGPU_ATTRIBUTE(HETGPU_FUNCTION_REQUIRED_BLOCK_X,
                     f.info().required_threads[0]),
    HETGPU_ATTRIBUTE(HETGPU_FUNCTION_REQUIRED_BLOCK_Y,
                     f.info().required_threads[1]),
    HETGPU_ATTRIBUTE(HETGPU_FUNCTION_REQUIRED_BLOCK_Z,
                     f.info().required_threads[2]),
    HETGPU_ATTRIBUTE(HETGPU_FUNCTION_SOURCE_LINE, f.info().line),
    HETGPU_ATTRIBUTE(HETGPU_FUNCTION_IS_PREPARED, f.IsPrepared()),
    HETGPU_ATTRIBUTE(HETGPU_FUNCTION_IMAGE_BYTES, f.ImageBytes()),
};
#undef HETGPU_ATTRIBUTE

}  // namespace

Function::Function(std::shared_ptr<ModuleState> state, const KernelInfo* info)
    : state_(std::move(state)),
      info_(info),
      refusal_(state_->is_native() ? "" : info->refusal.message()) {}

absl::StatusOr<std::shared_ptr<const std::string>> Function::Image(
    Opening& opening) {
  HETGPU_ASSIGN_OR_RETURN(Platform* const platform, Platform::Get());
  return platform->jit().Get(state_->source(), *info_,
                             opening.device().info());
}

absl::StatusOr<std::unique_ptr<hetgpu::Kernel>> Function::Load(
    Opening& opening) {
  if (state_->is_native()) {
    HETGPU_ASSIGN_OR_RETURN(const auto native, state_->Native(opening));
    const HostSpan span("load", info_->name);
    return native->Load(*info_);
  }
  HETGPU_ASSIGN_OR_RETURN(const auto image, Image(opening));
  const HostSpan span("load", info_->name);
  image_bytes_ = image->size();
  return opening.device().Load(*info_, *image);
}

absl::StatusOr<std::shared_ptr<const PreparedKernel>> Function::Prepare(
    Opening& opening) {
  HETGPU_RETURN_IF_ERROR(state_->RefusalOf(*info_));
  std::lock_guard lock(mutex_);
  if (IsPreparedIn(opening)) return kernel_;
  if (!context().IsPresent(opening)) {
    return absl::UnavailableError("the context has moved");
  }
  HETGPU_ASSIGN_OR_RETURN(auto kernel, Load(opening));
  Keep(opening, std::move(kernel));
  return kernel_;
}

void Function::Keep(Opening& opening, std::unique_ptr<hetgpu::Kernel> kernel) {
  auto prepared = std::make_shared<PreparedKernel>();
  prepared->module = state_;
  prepared->info = info_;
  prepared->opening = opening.shared_from_this();
  prepared->kernel = std::move(kernel);
  kernel_ = std::move(prepared);
}

absl::Status Function::Prepare() {
  return context()
      .OnDevice([&](Opening& opening) { return Prepare(opening); })
      .status();
}

bool Function::IsPrepared() const {
  std::lock_guard lock(mutex_);
  return kernel_ != nullptr;
}

uint64_t Function::ImageBytes() const {
  std::lock_guard lock(mutex_);
  return image_bytes_;
}

const AccessSummary& Function::Access() {
  std::call_once(access_found_, [this] {
    access_ = FindAccess(state_->source(), *info_);
  });
  return access_;
}

absl::StatusOr<const std::string*> Function::Explain() {
  HETGPU_ASSIGN_OR_RETURN(
      const auto prepared,
      context().OnDevice([&](Opening& opening) { return Prepare(opening); }));
  std::lock_guard lock(mutex_);
  if (explanation_.empty()) explanation_ = prepared->kernel->Explain();
  return &explanation_;
}

absl::StatusOr<uint64_t> AttributeOf(const Function& function,
                                     hetgpuFunctionAttribute attribute) {
  for (const AttributeRow& row : kAttributes) {
    if (row.attribute == attribute) return row.get(function);
  }
  return Error(HETGPU_ERROR_INVALID_VALUE, "function attribute ",
               static_cast<int>(attribute), " does not exist");
}

hetgpuParameterInfo ToApi(const ParamInfo& param) {
  hetgpuParameterInfo info = {};
  info.name = param.name.c_str();
  info.offset = param.offset;
  info.size = param.size;
  info.align = param.align;
  info.type = ToApi(param.type);
  info.is_array = param.is_array;
  info.is_pointer = param.is_pointer;
  return info;
}

}  // namespace hetgpu::runtime
