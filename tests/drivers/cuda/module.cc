// Modules and launches. Of the PTX only the names of kernels and variables are
// read; kernels do what their name says:
//
//   nothing                  ends at once
//   store(u64, u32)          writes its second argument where the first points
//   wait(u64)                ends when the word there is not 0
//   fault_<n>                fails with result n
//
// PTX that contains "refuse me" is refused.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <thread>

#include "tests/drivers/cuda/state.h"

namespace hetgpu::cuda::fake {
namespace {

// Value of an option of cuModuleLoadDataEx, null when not given.
void* Option(int which, unsigned count, const int* options, void** values) {
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == which) return values[i];
  }
  return nullptr;
}

void Scan(const std::string& ptx, CUmodule module) {
  std::istringstream words(ptx);
  for (std::string word; words >> word;) {
    if (word == ".entry") {
      words >> word;
      module->kernels.insert(word.substr(0, word.find('(')));
    } else if (word == ".global") {
      words >> word >> word;  // type, name
      module->globals[word.substr(0, word.find(';'))].resize(4);
    }
  }
}

CUresult Wait(uint64_t address) {
  const auto* flag = reinterpret_cast<uint32_t*>(address);
  while (__atomic_load_n(flag, __ATOMIC_RELAXED) == 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return CUDA_SUCCESS;
}

CUresult Run(const std::string& kernel, const std::string& params) {
  uint64_t address = 0;
  if (params.size() >= 8) std::memcpy(&address, params.data(), 8);
  if (kernel == "wait") return Wait(address);
  if (kernel == "store") {
    std::memcpy(reinterpret_cast<void*>(address), params.data() + 8, 4);
  }
  if (kernel.rfind("fault_", 0) == 0) return std::stoi(kernel.substr(6));
  return CUDA_SUCCESS;
}

// Needs the mutex.
bool IsValid(CUmodule module) {
  return Get().modules.count(module) != 0 &&
         module->context == CurrentContext();
}

// The parameter block from the list that cuLaunchKernel takes.
bool ReadParameters(void** extra, std::string* params) {
  if (extra == nullptr) return true;
  if (extra[0] != kLaunchParamBuffer || extra[2] != kLaunchParamBufferSize ||
      extra[4] != kLaunchParamEnd) {
    return false;
  }
  params->assign(static_cast<const char*>(extra[1]),
                 *static_cast<const size_t*>(extra[3]));
  return true;
}

}  // namespace

bool IsGlobal(uint64_t address, uint64_t bytes) {
  for (CUmodule module : Get().modules) {
    for (const auto& [name, data] : module->globals) {
      const auto start = reinterpret_cast<uint64_t>(data.data());
      if (address >= start && address - start <= data.size() &&
          bytes <= data.size() - (address - start)) {
        return true;
      }
    }
  }
  return false;
}

CUresult ModuleLoadDataEx(CUmodule* module, const void* image, unsigned count,
                          int* options, void** values) {
  FAKE_ENTER("cuModuleLoadDataEx", true);
  const std::string ptx = static_cast<const char*>(image);
  if (ptx.find("refuse me") != std::string::npos) {
    char* log = static_cast<char*>(
        Option(CU_JIT_ERROR_LOG_BUFFER, count, options, values));
    const auto bytes = reinterpret_cast<size_t>(
        Option(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, count, options, values));
    if (log != nullptr) std::snprintf(log, bytes, "line 3; error: refused\n");
    return CUDA_ERROR_INVALID_PTX;
  }
  *module = new CUmod_st;
  (*module)->context = CurrentContext();
  Scan(ptx, *module);
  Get().modules.insert(*module);
  return CUDA_SUCCESS;
}

CUresult ModuleUnload(CUmodule module) {
  FAKE_ENTER("cuModuleUnload", true);
  if (!IsValid(module)) return Misuse("cuModuleUnload");
  Get().modules.erase(module);
  for (const auto& [name, function] : module->functions) delete function;
  delete module;
  return CUDA_SUCCESS;
}

CUresult ModuleGetFunction(CUfunction* function, CUmodule module,
                           const char* name) {
  FAKE_ENTER("cuModuleGetFunction", true);
  if (!IsValid(module)) return Misuse("cuModuleGetFunction");
  if (module->kernels.count(name) == 0) return CUDA_ERROR_NOT_FOUND;
  CUfunction& known = module->functions[name];
  if (known == nullptr) known = new CUfunc_st{module, name};
  *function = known;
  return CUDA_SUCCESS;
}

CUresult ModuleGetGlobal(CUdeviceptr* address, size_t* bytes, CUmodule module,
                         const char* name) {
  FAKE_ENTER("cuModuleGetGlobal_v2", true);
  if (!IsValid(module)) return Misuse("cuModuleGetGlobal_v2");
  const auto found = module->globals.find(name);
  if (found == module->globals.end()) return CUDA_ERROR_NOT_FOUND;
  *address = reinterpret_cast<uint64_t>(found->second.data());
  *bytes = found->second.size();
  return CUDA_SUCCESS;
}

CUresult FuncGetAttribute(int* value, int attribute, CUfunction function) {
  FAKE_ENTER("cuFuncGetAttribute", true);
  *value = 0;
  return CUDA_SUCCESS;
}

CUresult FuncSetAttribute(CUfunction function, int attribute, int value) {
  FAKE_ENTER("cuFuncSetAttribute", true);
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    return Misuse("cuFuncSetAttribute");
  }
  function->max_dynamic_shared = value;
  return CUDA_SUCCESS;
}

CUresult LaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                      unsigned grid_z, unsigned block_x, unsigned block_y,
                      unsigned block_z, unsigned shared, CUstream stream,
                      void** arguments, void** extra) {
  FAKE_ENTER("cuLaunchKernel", true);
  std::string params;
  if (!IsValid(function->module) || arguments != nullptr ||
      grid_x * grid_y * grid_z == 0 || block_x * block_y * block_z == 0 ||
      !ReadParameters(extra, &params)) {
    return Misuse("cuLaunchKernel");
  }
  if (static_cast<int>(shared) > function->max_dynamic_shared) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return Push("cuLaunchKernel", stream,
              [kernel = function->name, params] { return Run(kernel, params); });
}

}  // namespace hetgpu::cuda::fake
