#include "tests/isa/recompile.h"

#include <dlfcn.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/common/compiler_api.h"
#include "backends/cuda/image.h"

#define HETGPU_RETURN_IF_FAILED(call)                 \
  do {                                                \
    const hetgpuResult result_of_call = (call);       \
    if (result_of_call != HETGPU_SUCCESS) return result_of_call; \
  } while (false)

namespace hetgpu::isa {
namespace {

const CompilerApi* Compiler() {
  static const CompilerApi* const api = []() -> const CompilerApi* {
    void* const library = dlopen(HETGPU_COMPILER_FILE, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    const auto get =
        reinterpret_cast<GetCompilerApiFn>(dlsym(library, kCompilerEntry));
    return get == nullptr ? nullptr : get();
  }();
  return api;
}

}  // namespace

absl::StatusOr<std::string> CudaImage(const std::string& ptx,
                                      const std::string& name,
                                      const std::string& kernel,
                                      const std::string& target) {
  const CompilerApi* const api = Compiler();
  if (api == nullptr) {
    return absl::UnavailableError(
        absl::StrCat(HETGPU_COMPILER_FILE, " cannot be opened"));
  }
  CompileRequest request;
  request.source = ptx;
  request.source_name = name;
  request.kernel = kernel;
  request.backend = "cuda";
  request.target = target;
  request.fp_mode = "native";
  request.cpu_mode = "auto";
  return api->compile(request);
}

Recompiled::~Recompiled() {
  if (module_ != nullptr) hetgpuModuleUnload(module_);
}

hetgpuResult Recompiled::Load(const std::string& image) {
  HETGPU_RETURN_IF_FAILED(hetgpuModuleLoadData(
      context_, image.data(), image.size(), "recompiled.ptx", &module_));
  const char* name = nullptr;
  HETGPU_RETURN_IF_FAILED(hetgpuModuleGetKernelName(module_, 0, &name));
  HETGPU_RETURN_IF_FAILED(hetgpuModuleGetFunction(module_, name, &function_));
  HETGPU_RETURN_IF_FAILED(hetgpuFunctionPrepare(function_));
  HETGPU_RETURN_IF_FAILED(FindData());
  return CopyConstants(image);
}

// The first variable begins the segment.
hetgpuResult Recompiled::FindData() {
  uint32_t count = 0;
  HETGPU_RETURN_IF_FAILED(hetgpuModuleGetGlobalCount(original_, &count));
  if (count == 0) return HETGPU_SUCCESS;
  hetgpuGlobalInfo info = {};
  info.struct_size = sizeof(info);
  HETGPU_RETURN_IF_FAILED(hetgpuModuleGetGlobalInfo(original_, 0, &info));
  data_ = info.address;
  return HETGPU_SUCCESS;
}

hetgpuResult Recompiled::CopyConstants(const std::string& image) {
  const auto header = cuda::ParseHeader(image);
  if (!header.ok()) return HETGPU_ERROR_INVALID_MODULE;
  for (const cuda::ConstCopy& copy : header->const_copies) {
    hetgpuDevicePtr place = 0;
    HETGPU_RETURN_IF_FAILED(hetgpuModuleGetGlobal(
        module_, copy.symbol.c_str(), &place, nullptr));
    std::vector<char> bytes(copy.bytes);
    HETGPU_RETURN_IF_FAILED(hetgpuMemCopyDtoH(
        context_, bytes.data(), data_ + copy.offset, bytes.size()));
    HETGPU_RETURN_IF_FAILED(
        hetgpuMemCopyHtoD(context_, place, bytes.data(), bytes.size()));
  }
  return HETGPU_SUCCESS;
}

hetgpuResult Recompiled::Pack(const std::vector<void*>& args,
                              std::string* block) {
  uint64_t bytes = 0;
  HETGPU_RETURN_IF_FAILED(hetgpuFunctionGetAttribute(
      original_function_, HETGPU_FUNCTION_PARAM_BYTES, &bytes));
  const size_t prefix = bytes == 0 ? sizeof(data_) : cuda::kParamOffset;
  block->assign(prefix + bytes, '\0');
  std::memcpy(block->data(), &data_, sizeof(data_));
  for (uint32_t i = 0; i < args.size(); ++i) {
    hetgpuParameterInfo info = {};
    info.struct_size = sizeof(info);
    HETGPU_RETURN_IF_FAILED(
        hetgpuFunctionGetParameter(original_function_, i, &info));
    std::memcpy(block->data() + prefix + info.offset, args[i], info.size);
  }
  return HETGPU_SUCCESS;
}

hetgpuResult Recompiled::Launch(hetgpuDim3 grid, hetgpuDim3 block,
                                uint32_t shared_bytes,
                                const std::vector<void*>& args) {
  std::string params;
  HETGPU_RETURN_IF_FAILED(Pack(args, &params));
  return hetgpuLaunchKernelPacked(function_, grid, block, shared_bytes,
                                  nullptr, params.data(), params.size());
}

}  // namespace hetgpu::isa
