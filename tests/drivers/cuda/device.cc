// Initialisation, devices, contexts, and the hooks for tests.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/drivers/cuda/control.h"
#include "tests/drivers/cuda/processor.h"
#include "tests/drivers/cuda/state.h"

namespace hetgpu::cuda::fake {
namespace {

constexpr CUresult kInvalidDevice = 101;
constexpr CUresult kInvalidContext = 201;
constexpr CUresult kNotInitialised = 3;

uint64_t Variable(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

struct ErrorName {
  CUresult result;
  const char* name;
};
constexpr ErrorName kErrorNames[] = {
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
    {CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
     "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE"},
    {CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {CUDA_ERROR_ASSERT, "CUDA_ERROR_ASSERT"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
};

struct AttributeValue {
  int attribute;
  int value;
};
constexpr AttributeValue kAttributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, kMultiprocessors},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
};

}  // namespace

int DeviceCount() {
  return static_cast<int>(Variable(kDevicesVariable, 1));
}

uint64_t MemoryBytes() { return Variable(kMemoryVariable, 256) << 20; }

bool CanAccessPeer(CUdevice device, CUdevice peer) {
  return device != peer && Variable(kPeerVariable, 1) != 0;
}

// Never destroyed: streams of contexts that were given up may still run.
State& Get() {
  static State* const state = new State;
  return *state;
}

std::vector<CUcontext>& ContextStack() {
  static thread_local std::vector<CUcontext> stack;
  return stack;
}

CUcontext CurrentContext() {
  return ContextStack().empty() ? nullptr : ContextStack().back();
}

CUresult Misuse(const char* function) {
  std::fprintf(stderr, "test driver: %s: misuse\n", function);
  ++Get().misuses;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult Enter(const char* function, bool needs_context) {
  State& state = Get();
  if (!state.initialised) return kNotInitialised;
  if (auto found = state.injected.find(function);
      found != state.injected.end() && found->second.second-- == 0) {
    const CUresult result = found->second.first;
    state.injected.erase(found);
    return result;
  }
  if (!needs_context) return CUDA_SUCCESS;
  if (state.contexts.count(CurrentContext()) == 0) {
    Misuse(function);
    return kInvalidContext;
  }
  return state.sticky;
}

CUresult GetErrorName(CUresult result, const char** name) {
  *name = nullptr;
  for (const ErrorName& row : kErrorNames) {
    if (row.result == result) *name = row.name;
  }
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult GetErrorString(CUresult result, const char** text) {
  *text = nullptr;
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult Init(unsigned flags) {
  std::lock_guard<std::mutex> lock(Get().mutex);
  if (flags != 0) return Misuse("cuInit");
  Get().initialised = true;
  return CUDA_SUCCESS;
}

CUresult DeviceGetCount(int* count) {
  FAKE_ENTER("cuDeviceGetCount", false);
  *count = DeviceCount();
  return CUDA_SUCCESS;
}

CUresult DeviceGet(CUdevice* device, int ordinal) {
  FAKE_ENTER("cuDeviceGet", false);
  if (ordinal < 0 || ordinal >= DeviceCount()) return kInvalidDevice;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult DeviceGetName(char* name, int bytes, CUdevice device) {
  FAKE_ENTER("cuDeviceGetName", false);
  std::snprintf(name, bytes, "Test GPU %d", device);
  return CUDA_SUCCESS;
}

CUresult DeviceGetAttribute(int* value, int attribute, CUdevice device) {
  FAKE_ENTER("cuDeviceGetAttribute", false);
  for (const AttributeValue& row : kAttributes) {
    if (row.attribute == attribute) {
      *value = row.value;
      return CUDA_SUCCESS;
    }
  }
  return Misuse("cuDeviceGetAttribute");
}

CUresult DeviceTotalMem(size_t* bytes, CUdevice device) {
  FAKE_ENTER("cuDeviceTotalMem_v2", false);
  *bytes = MemoryBytes();
  return CUDA_SUCCESS;
}

CUresult DeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  FAKE_ENTER("cuDeviceCanAccessPeer", false);
  const int count = DeviceCount();
  if (device < 0 || peer < 0 || device >= count || peer >= count) {
    return kInvalidDevice;
  }
  *can = CanAccessPeer(device, peer);
  return CUDA_SUCCESS;
}

CUresult CtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  FAKE_ENTER("cuCtxCreate_v2", false);
  if (device < 0 || device >= DeviceCount()) return kInvalidDevice;
  State& state = Get();
  if (state.sticky != CUDA_SUCCESS) return state.sticky;
  *context = &state.made_contexts.emplace_back();
  (*context)->device = device;
  state.contexts.insert(*context);
  ContextStack().push_back(*context);
  return CUDA_SUCCESS;
}

CUresult CtxDestroy(CUcontext context) {
  FAKE_ENTER("cuCtxDestroy_v2", false);
  State& state = Get();
  if (state.contexts.count(context) == 0) return Misuse("cuCtxDestroy_v2");
  // Waits for what runs, as the real one does.
  const std::set<CUstream> streams = state.streams;
  for (CUstream stream : streams) {
    if (stream->context == context) EndStream(stream, lock);
  }
  std::erase_if(state.events,
                [&](CUevent event) { return event->context == context; });
  const std::set<CUmodule> modules = state.modules;
  for (CUmodule module : modules) {
    if (module->context == context) DropModule(module);
  }
  DropHostMemory(context);
  state.contexts.erase(context);
  Processor::Of(context->device).Flush();
  return CUDA_SUCCESS;
}

CUresult CtxSetLimit(int which, size_t value) {
  FAKE_ENTER("cuCtxSetLimit", true);
  const auto limit = CurrentContext()->limits.find(which);
  if (limit == CurrentContext()->limits.end() || value >= MemoryBytes()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  limit->second = value;
  return CUDA_SUCCESS;
}

CUresult CtxGetLimit(size_t* value, int which) {
  FAKE_ENTER("cuCtxGetLimit", true);
  const auto limit = CurrentContext()->limits.find(which);
  if (limit == CurrentContext()->limits.end()) return CUDA_ERROR_INVALID_VALUE;
  *value = limit->second;
  return CUDA_SUCCESS;
}

CUresult CtxPushCurrent(CUcontext context) {
  FAKE_ENTER("cuCtxPushCurrent_v2", false);
  if (Get().contexts.count(context) == 0) return Misuse("cuCtxPushCurrent_v2");
  ContextStack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult CtxPopCurrent(CUcontext* context) {
  FAKE_ENTER("cuCtxPopCurrent_v2", false);
  if (ContextStack().empty()) return Misuse("cuCtxPopCurrent_v2");
  *context = ContextStack().back();
  ContextStack().pop_back();
  return CUDA_SUCCESS;
}

}  // namespace hetgpu::cuda::fake

using hetgpu::cuda::fake::Counts;
using hetgpu::cuda::fake::Get;

#define HOOK extern "C" __attribute__((visibility("default")))

HOOK void hetgpuFakeCudaFail(const char* function, int result, int after) {
  std::lock_guard<std::mutex> lock(Get().mutex);
  Get().injected[function] = {result, after};
}

HOOK void hetgpuFakeCudaReset() {
  std::lock_guard<std::mutex> lock(Get().mutex);
  Get().sticky = hetgpu::cuda::CUDA_SUCCESS;
  Get().injected.clear();
  Get().misuses = 0;
}

HOOK Counts hetgpuFakeCudaCounts() {
  std::lock_guard<std::mutex> lock(Get().mutex);
  auto& state = Get();
  Counts counts = {};
  counts.contexts = state.contexts.size();
  counts.streams = state.streams.size();
  counts.events = state.events.size();
  counts.modules = state.modules.size();
  counts.textures = hetgpu::cuda::fake::TextureCount();
  for (const auto& [start, range] : state.pinned) {
    counts.pinned_bytes += range.bytes;
  }
  counts.misuses = state.misuses;
  counts.launches = state.launches;
  for (const auto& [start, mapping] : state.mappings) {
    counts.mapped_bytes += mapping.bytes;
  }
  for (const auto& [handle, physical] : state.physical) {
    counts.physical_bytes += physical.bytes;
  }
  return counts;
}
