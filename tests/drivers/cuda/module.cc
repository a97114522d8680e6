// Modules and functions.
#include <cstdio>
#include <utility>

#include "tests/drivers/cuda/processor.h"
#include "tests/drivers/cuda/state.h"

namespace hetgpu::cuda::fake {
namespace {

// What is said of every kernel: this driver does not allocate registers.
constexpr int kRegisters = 32;

// Value of an option of cuModuleLoadDataEx, null when not given.
void* Option(int which, unsigned count, const int* options, void** values) {
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == which) return values[i];
  }
  return nullptr;
}

// Needs the mutex.
bool IsValid(CUmodule module) {
  return Get().modules.count(module) != 0 &&
         module->context == CurrentContext();
}

CUresult NewFunction(CUmodule module, const KernelInfo* info,
                     std::unique_ptr<Kernel> kernel, CUfunction* function) {
  CUfunction& known = module->functions[info->name];
  if (known == nullptr) {
    known = new CUfunc_st{module, info, std::move(kernel)};
    Get().functions.insert(known);
  }
  *function = known;
  return CUDA_SUCCESS;
}

}  // namespace

void DropModule(CUmodule module) {
  for (const auto& [name, function] : module->functions) {
    Get().functions.erase(function);
    delete function;
  }
  Get().modules.erase(module);
  delete module;
}

CUresult ModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                          int* options, void** values) {
  FAKE_ENTER("cuModuleLoadDataEx", true);
  const CUcontext context = CurrentContext();
  auto loaded =
      LoadedModule::Load(context->device, static_cast<const char*>(image));
  if (!loaded.ok()) {
    char* log = static_cast<char*>(
        Option(CU_JIT_ERROR_LOG_BUFFER, count, options, values));
    const auto bytes = reinterpret_cast<size_t>(
        Option(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, count, options, values));
    if (log != nullptr) {
      std::snprintf(log, bytes, "%s\n",
                    std::string(loaded.status().message()).c_str());
    }
    return CUDA_ERROR_INVALID_PTX;
  }
  const bool line_info =
      Option(CU_JIT_GENERATE_LINE_INFO, count, options, values) != nullptr;
  *module = new CUmod_st{context, *std::move(loaded), line_info, {}};
  Get().modules.insert(*module);
  return CUDA_SUCCESS;
}

// Waits for nothing: what runs keeps what it needs.
CUresult ModuleUnload(CUmodule module) {
  FAKE_ENTER("cuModuleUnload", true);
  if (!IsValid(module)) return Misuse("cuModuleUnload");
  DropModule(module);
  return CUDA_SUCCESS;
}

// Compiles, which the real driver does when it loads the module.
CUresult ModuleGetFunction(CUfunction* function, CUmodule module,
                           const char* name) {
  FAKE_ENTER("cuModuleGetFunction", true);
  if (!IsValid(module)) return Misuse("cuModuleGetFunction");
  const std::shared_ptr<const LoadedModule> loaded = module->loaded;
  const KernelInfo* const info = loaded->info().FindKernel(name);
  if (info == nullptr) return CUDA_ERROR_NOT_FOUND;
  if (const auto known = module->functions.find(name);
      known != module->functions.end()) {
    *function = known->second;
    return CUDA_SUCCESS;
  }
  const CUdevice device = CurrentContext()->device;
  lock.unlock();
  auto kernel = Processor::Of(device).Load(loaded->ptx(), *info);
  lock.lock();
  if (!kernel.ok()) {
    std::fprintf(stderr, "test driver: cannot run kernel %s: %s\n", name,
                 std::string(kernel.status().message()).c_str());
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  if (!IsValid(module)) return Misuse("cuModuleGetFunction");
  return NewFunction(module, info, *std::move(kernel), function);
}

CUresult ModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule module,
                         const char* name) {
  FAKE_ENTER("cuModuleGetGlobal_v2", true);
  if (!IsValid(module)) return Misuse("cuModuleGetGlobal_v2");
  const LoadedModule& loaded = *module->loaded;
  const SymbolInfo* const symbol = loaded.info().FindSymbol(name);
  if (symbol == nullptr) return CUDA_ERROR_NOT_FOUND;
  *address = loaded.data() + symbol->offset;
  *bytes = symbol->size;
  return CUDA_SUCCESS;
}

CUresult FuncGetAttribute(int* value, int attribute, CUfunction function) {
  FAKE_ENTER("cuFuncGetAttribute", true);
  if (Get().functions.count(function) == 0) {
    return Misuse("cuFuncGetAttribute");
  }
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(function->info->static_shared_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = static_cast<int>(function->info->local_bytes);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = kRegisters;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = static_cast<int>(function->max_dynamic_shared);
      return CUDA_SUCCESS;
  }
  return Misuse("cuFuncGetAttribute");
}

CUresult FuncSetAttribute(CUfunction function, int attribute, int value) {
  FAKE_ENTER("cuFuncSetAttribute", true);
  if (Get().functions.count(function) == 0 ||
      attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    return Misuse("cuFuncSetAttribute");
  }
  if (value < 0 || function->info->static_shared_bytes +
                           static_cast<uint32_t>(value) > kMaxShared) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  function->max_dynamic_shared = static_cast<uint32_t>(value);
  return CUDA_SUCCESS;
}

}  // namespace hetgpu::cuda::fake
