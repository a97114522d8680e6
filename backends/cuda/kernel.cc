#include "backends/cuda/kernel.h"

#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "backends/cuda/core_dump.h"
#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {
namespace {

// More dynamic shared memory than this must be asked for.
constexpr uint32_t kDefaultSharedLimit = 48 << 10;

}  // namespace

LoadedPtx::LoadedPtx(const Context& context, std::string ptx, std::string name,
                     bool has_lines)
    : context_(context),
      ptx_(std::move(ptx)),
      name_(std::move(name)),
      has_lines_(has_lines),
      may_print_(ptx_.find("vprintf") != std::string::npos) {}

LoadedPtx::~LoadedPtx() {
  if (module_ == nullptr || Context::HasRunaway()) return;
  Current current(context_);
  if (!current.status().ok() || generation_ != current.generation()) return;
  current.library().ModuleUnload(module_);
}

absl::Status LoadedPtx::Load(const Current& current) {
  std::array<char, 8192> log = {};
  int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                   CU_JIT_GENERATE_LINE_INFO};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1),
                    reinterpret_cast<void*>(1)};
  const CUresult result = current.library().ModuleLoadDataEx(
      &module_, ptx_.c_str(), has_lines_ && CoreDumpsEnabled() ? 3 : 2, options,
      values);
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  module_ = nullptr;
  const absl::Status status =
      ToStatus(current.library(), result, "cuModuleLoadDataEx");
  return absl::Status(
      status.code(),
      absl::StrCat(name_, ": ", status.message(), log[0] != '\0' ? ": " : "",
                   absl::StripAsciiWhitespace(log.data())));
}

absl::StatusOr<CUmodule> LoadedPtx::Get(const Current& current) {
  if (!current.status().ok()) return current.status();
  std::lock_guard<std::mutex> lock(mutex_);
  if (module_ != nullptr && generation_ == current.generation()) {
    return module_;
  }
  const absl::Status loaded = Load(current);
  if (!loaded.ok()) return loaded;
  generation_ = current.generation();
  return module_;
}

absl::StatusOr<CUfunction> CudaKernel::Get(const Current& current,
                                           uint32_t dynamic_shared) {
  const Library& library = current.library();
  std::lock_guard<std::mutex> lock(mutex_);
  if (function_ == nullptr || generation_ != current.generation()) {
    const absl::StatusOr<CUmodule> module = ptx_->Get(current);
    if (!module.ok()) return module.status();
    HETGPU_CUDA_RETURN_IF_ERROR(library, ModuleGetFunction,
                                (&function_, *module, name_.c_str()));
    const absl::Status found = FindCopies(library, *module);
    if (!found.ok()) return found;
    generation_ = current.generation();
    shared_limit_ = kDefaultSharedLimit;
  }
  if (dynamic_shared > shared_limit_) {
    HETGPU_CUDA_RETURN_IF_ERROR(
        library, FuncSetAttribute,
        (function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
         static_cast<int>(dynamic_shared)));
    shared_limit_ = dynamic_shared;
  }
  return function_;
}

absl::Status CudaKernel::FindCopies(const Library& library, CUmodule module) {
  copies_.clear();
  if (!image_) return absl::OkStatus();
  for (const ConstCopy& copy : image_->const_copies) {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    HETGPU_CUDA_RETURN_IF_ERROR(
        library, ModuleGetGlobal,
        (&address, &bytes, module, copy.symbol.c_str()));
    copies_.push_back(address);
  }
  return absl::OkStatus();
}

CUfunction CudaKernel::Ready(uint64_t generation, uint32_t dynamic_shared) {
  std::lock_guard<std::mutex> lock(mutex_);
  const bool is_ready = generation_ == generation && copies_.empty() &&
                        dynamic_shared <= shared_limit_;
  return is_ready ? function_ : nullptr;
}

CUresult CudaKernel::BeginLaunch(const Current& current, CUstream stream,
                                 const LaunchDesc& desc) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < copies_.size(); ++i) {
    const ConstCopy& copy = image_->const_copies[i];
    const CUresult result = current.library().MemcpyDtoDAsync(
        copies_[i], desc.module_data + copy.offset, copy.bytes, stream);
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

CudaKernel::Arguments CudaKernel::ArgumentsOf(const LaunchDesc& desc) const {
  char* const block = const_cast<char*>(desc.params.data());
  Arguments arguments;
  if (image_) {
    arguments.push_back(const_cast<uint64_t*>(&desc.module_data));
    // An entry without parameters takes the data address alone.
    if (!desc.params.empty()) arguments.push_back(block);
    return arguments;
  }
  for (const ParamInfo& param : desc.info->params) {
    arguments.push_back(block + param.offset);
  }
  return arguments;
}

}  // namespace hetgpu::cuda
