#include "backends/cuda/module.h"

#include "absl/strings/str_cat.h"
#include "backends/cuda/status_util.h"

namespace hetgpu::cuda {
namespace {

std::string Explain(const Current& current, CUfunction function,
                    const KernelInfo& info) {
  std::string text =
      absl::StrCat("native: the driver compiles the module's PTX; ",
                   ResourcesOf(current, function));
  if (!info.refusal.ok()) {
    absl::StrAppend(&text, "; other routes refuse it: ",
                    info.refusal.message());
  }
  return text;
}

}  // namespace

std::string ResourcesOf(const Current& current, CUfunction function) {
  const auto attribute = [&](int which) {
    int value = 0;
    current.library().FuncGetAttribute(&value, which, function);
    return value;
  };
  return absl::StrCat(
      attribute(CU_FUNC_ATTRIBUTE_NUM_REGS), " registers, ",
      attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES), " local and ",
      attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
      " static shared bytes; the driver prints to stdout by itself");
}

absl::StatusOr<std::unique_ptr<DeviceModule>> CudaModule::Load(
    const Context& context, std::string ptx, std::string name) {
  auto loaded = std::make_shared<LoadedPtx>(context, std::move(ptx),
                                            std::move(name),
                                            /*has_lines=*/true);
  const absl::StatusOr<CUmodule> module = loaded->Get(Current(context));
  if (!module.ok()) return module.status();
  return std::unique_ptr<DeviceModule>(new CudaModule(std::move(loaded)));
}

absl::StatusOr<uint64_t> CudaModule::SymbolAddress(const SymbolInfo& symbol) {
  const Current current(ptx_->context());
  const absl::StatusOr<CUmodule> module = ptx_->Get(current);
  if (!module.ok()) return module.status();
  CUdeviceptr address = 0;
  size_t bytes = 0;
  HETGPU_CUDA_RETURN_IF_ERROR(
      current.library(), ModuleGetGlobal,
      (&address, &bytes, *module, symbol.name.c_str()));
  std::lock_guard<std::mutex> lock(mutex_);
  const auto [given, first] = addresses_.emplace(symbol.name, address);
  if (given->second != address) {
    return absl::FailedPreconditionError(absl::StrCat(
        ptx_->name(), ": global ", symbol.name, " moved from 0x",
        absl::Hex(given->second), " to 0x", absl::Hex(address),
        " when the CUDA context was replaced: load the module again"));
  }
  return address;
}

absl::StatusOr<std::unique_ptr<Kernel>> CudaModule::Load(
    const KernelInfo& info) {
  const Current current(ptx_->context());
  const absl::StatusOr<CUmodule> module = ptx_->Get(current);
  if (!module.ok()) return module.status();
  CUfunction function = nullptr;
  const CUresult result = current.library().ModuleGetFunction(
      &function, *module, info.name.c_str());
  if (result != CUDA_SUCCESS) {
    const std::string call = "kernel " + info.name + ": cuModuleGetFunction";
    return ToStatus(current.library(), result, call.c_str());
  }
  return std::unique_ptr<Kernel>(std::make_unique<CudaKernel>(
      ptx_, info.name, Explain(current, function, info)));
}

}  // namespace hetgpu::cuda
