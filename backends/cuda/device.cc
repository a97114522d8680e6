#include "backends/cuda/device.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/cuda/event.h"
#include "backends/cuda/module.h"
#include "backends/cuda/queue.h"
#include "backends/cuda/recompiled.h"
#include "backends/cuda/route.h"
#include "backends/cuda/status_util.h"
#include "backends/cuda/texture.h"

namespace hetgpu::cuda {
namespace {

// CUDA maps one thing at an address for all GPUs of a process.
constexpr uint32_t kAddressDomain = 1;

uint32_t Attribute(const Library& library, CUdevice device, int attribute) {
  int value = 0;
  library.DeviceGetAttribute(&value, attribute, device);
  return static_cast<uint32_t>(value);
}

int LimitOf(DeviceLimit limit) {
  return limit == DeviceLimit::kStackBytes ? CU_LIMIT_STACK_SIZE
                                           : CU_LIMIT_MALLOC_HEAP_SIZE;
}

}  // namespace

absl::StatusOr<DeviceInfo> Describe(const Library& library, CUdevice device) {
  const auto get = [&](int attribute) {
    return Attribute(library, device, attribute);
  };
  char name[256] = {};
  size_t memory = 0;
  HETGPU_CUDA_RETURN_IF_ERROR(library, DeviceGetName,
                              (name, sizeof(name) - 1, device));
  HETGPU_CUDA_RETURN_IF_ERROR(library, DeviceTotalMem, (&memory, device));
  if (get(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) == 0) {
    return absl::UnavailableError(absl::StrCat(
        "cuda: ", name, ": the driver cannot map memory at chosen addresses"));
  }
  DeviceInfo info;
  info.backend = "cuda";
  info.address_domain = kAddressDomain;
  info.name = name;
  info.target =
      absl::StrCat("sm_", get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                   get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  info.total_memory = memory;
  info.compute_units = get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info.warp_size = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  info.clock_khz = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  info.max_grid = {get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
                   get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
                   get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)};
  info.max_block = {get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
                    get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                    get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
  info.max_threads_per_block = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  info.max_shared_per_block =
      get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  return info;
}

absl::StatusOr<std::unique_ptr<Device>> CudaDevice::Open(
    const Library& library, CUdevice device, DeviceInfo info,
    OpenOptions options) {
  auto context = Context::Create(library, device);
  if (!context.ok()) return context.status();
  const bool unified = options.unified;
  auto memory = options.memory.reserved.empty()
                    ? Memory::Create(**context, unified)
                    : Memory::Import(**context, std::move(options.memory),
                                     unified);
  if (!memory.ok()) return memory.status();
  if (const Window& window = (*memory)->space().window();
      unified && window.delta != 0) {
    absl::Status possible = CheckRouteOfDistant(window);
    if (!possible.ok()) return possible;
    info.target += TargetSuffix(window);
  }
  return std::unique_ptr<Device>(
      new CudaDevice(std::move(info), *std::move(context), *std::move(memory),
                     options.disposable_process));
}

CudaDevice::CudaDevice(DeviceInfo info, std::unique_ptr<Context> context,
                       std::unique_ptr<Memory> memory, bool disposable)
    : info_(std::move(info)),
      context_(std::move(context)),
      memory_(std::move(memory)),
      recovery_(*context_, *memory_, disposable),
      watchdog_(*context_, recovery_) {}

CudaDevice::~CudaDevice() {
  const Current current(*context_);
  if (current.status().ok() && !Context::HasRunaway()) {
    staging_.Release(current);
  }
}

absl::Status CudaDevice::Lost() const {
  CUresult result = CUDA_SUCCESS;
  uint64_t generation = 0;
  {
    const Current current(*context_);
    if (!context_->lost().ok()) return context_->lost();
    generation = current.generation();
    // The stream that nobody uses: the cheapest call that reports a fault.
    result = current.library().StreamQuery(nullptr);
  }
  if (LaunchFailure(result) == LaunchError::Kind::kNone) {
    return absl::OkStatus();
  }
  recovery_.OnFault(generation, result);
  return context_->lost();
}

absl::StatusOr<MemoryExport> CudaDevice::ExportMemory() {
  return memory_->Export();
}

void CudaDevice::ReleaseLost() {
  memory_->Release();
  context_->DestroyLost();
}

absl::StatusOr<uint64_t> CudaDevice::Allocate(uint64_t bytes) {
  return memory_->Allocate(bytes);
}

absl::Status CudaDevice::Free(uint64_t address) {
  return memory_->Free(address);
}

uint64_t CudaDevice::FreeMemory() const { return memory_->FreeBytes(); }

uint64_t CudaDevice::MapGranularity() const {
  return memory_->MapGranularity();
}

absl::Status CudaDevice::Map(uint64_t address, uint64_t bytes) {
  return memory_->MapAt(address, bytes);
}

absl::Status CudaDevice::Unmap(uint64_t address, uint64_t bytes) {
  return memory_->UnmapAt(address, bytes);
}

absl::Status CudaDevice::TakeMapping(Device& from, uint64_t address,
                                     uint64_t bytes) {
  return memory_->TakeFrom(*static_cast<CudaDevice&>(from).memory_, address,
                           bytes);
}

uint64_t CudaDevice::ContentLosses() const {
  return context_->lost().ok() ? 0 : 1;
}

bool CudaDevice::CanAccessPeer(const Device& other) const {
  // One in a server process is another's.
  if (&other == this || other.info().backend != info_.backend ||
      other.info().address_domain != info_.address_domain) {
    return false;
  }
  const CUdevice device = static_cast<const CudaDevice&>(other).context().device();
  if (device == context_->device()) return true;
  int can = 0;
  const CUresult result = context_->library().DeviceCanAccessPeer(
      &can, context_->device(), device);
  return result == CUDA_SUCCESS && can != 0;
}

absl::Status CudaDevice::RegisterHost(void* memory, uint64_t bytes) {
  const Current current(*context_);
  if (!current.status().ok()) return current.status();
  HETGPU_CUDA_RETURN_IF_ERROR(current.library(), MemHostRegister,
                              (memory, bytes, kHostPortable));
  return absl::OkStatus();
}

// The driver waits for what uses it, or knows it no more.
void CudaDevice::UnregisterHost(void* memory) {
  const Current current(*context_);
  if (current.status().ok()) current.library().MemHostUnregister(memory);
}

absl::StatusOr<uint64_t> CudaDevice::CooperativeLimit(const LaunchDesc& desc) {
  if (Attribute(context_->library(), context_->device(),
                CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) == 0) {
    return absl::UnimplementedError(
        absl::StrCat("cuda: ", info_.name, " has no cooperative launches"));
  }
  const Current current(*context_);
  const absl::StatusOr<CUfunction> function =
      static_cast<CudaKernel*>(desc.kernel)
          ->Get(current, desc.dynamic_shared_bytes);
  if (!function.ok()) return function.status();
  const uint32_t threads = desc.block.x * desc.block.y * desc.block.z;
  int blocks = 0;
  HETGPU_CUDA_RETURN_IF_ERROR(
      current.library(), OccupancyMaxActiveBlocksPerMultiprocessor,
      (&blocks, *function, static_cast<int>(threads),
       desc.dynamic_shared_bytes));
  return uint64_t{info_.compute_units} * blocks;
}

absl::Status CudaDevice::SetLimit(DeviceLimit limit, uint64_t bytes) {
  return context_->SetLimit(LimitOf(limit), bytes);
}

absl::StatusOr<uint64_t> CudaDevice::GetLimit(DeviceLimit limit) {
  return context_->GetLimit(LimitOf(limit));
}

absl::Status CudaDevice::CanRedirectPrintf() const {
  return absl::UnimplementedError(
      "cuda: the driver prints to standard output by itself");
}

absl::StatusOr<std::unique_ptr<DeviceModule>> CudaDevice::LoadModule(
    const ModuleInfo& info, std::string_view source) {
  if (info_.target != WithoutWindow(info_.target)) return nullptr;
  const absl::StatusOr<bool> native = TakesNativeRoute(info);
  if (!native.ok()) return native.status();
  if (!*native) return nullptr;
  return CudaModule::Load(*context_, std::string(source), info.name);
}

absl::StatusOr<std::unique_ptr<Kernel>> CudaDevice::Load(
    const KernelInfo& info, std::string_view image) {
  return LoadRecompiled(*context_, info, image);
}

absl::StatusOr<std::vector<std::unique_ptr<Kernel>>> CudaDevice::LoadTogether(
    const std::vector<KernelImage>& images) {
  return LoadRecompiledTogether(*context_, images);
}

absl::StatusOr<std::unique_ptr<Queue>> CudaDevice::CreateQueue() {
  return std::unique_ptr<Queue>(
      std::make_unique<CudaQueue>(*context_, memory_->space(), recovery_,
                                  watchdog_, staging_));
}

absl::StatusOr<std::unique_ptr<Event>> CudaDevice::CreateEvent() {
  return std::unique_ptr<Event>(
      std::make_unique<CudaEvent>(*context_, clock_, recovery_));
}

absl::StatusOr<std::unique_ptr<Texture>> CudaDevice::CreateTexture(
    const TextureDesc& desc) {
  TextureDesc placed = desc;
  placed.memory = memory_->space().ToDevice(desc.memory);
  return CudaTexture::Create(*context_, placed);
}

}  // namespace hetgpu::cuda
