#include "tests/drivers/cuda/processor.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/common/compiler_api.h"
#include "backends/cpu/device.h"
#include "backends/cpu/options.h"
#include "memory/arena.h"
#include "tests/drivers/cuda/core_dump.h"

namespace hetgpu::cuda::fake {
namespace {

// Where the memory of GPUs lies in the process, upwards: apart from the CPU
// memory of the program under test, which has the GPUs' addresses too.
constexpr uint64_t kMemoryBase = 0x200000000000;
constexpr uint64_t kMemoryStride = uint64_t{1} << 42;
constexpr uint64_t kPage = 4096;

struct FailureRow {
  LaunchError::Kind kind;
  CUresult result;
};
// What the driver says of each; anything else is a launch failure.
constexpr FailureRow kFailures[] = {
    {LaunchError::Kind::kNone, CUDA_SUCCESS},
    {LaunchError::Kind::kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS},
    {LaunchError::Kind::kStackOverflow, CUDA_ERROR_ILLEGAL_ADDRESS},
    {LaunchError::Kind::kMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS},
    {LaunchError::Kind::kAssert, CUDA_ERROR_ASSERT},
    {LaunchError::Kind::kInvalidInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION},
};

CUresult ResultOf(LaunchError::Kind kind) {
  for (const FailureRow& row : kFailures) {
    if (row.kind == kind) return row.result;
  }
  return CUDA_ERROR_LAUNCH_FAILED;
}

absl::StatusOr<const CompilerApi*> OpenCompiler() {
  const char* path = std::getenv("HETGPU_COMPILER_LIBRARY");
  if (path == nullptr || *path == '\0') path = HETGPU_FAKE_COMPILER;
  void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return absl::UnavailableError(dlerror());
  const auto get =
      reinterpret_cast<GetCompilerApiFn>(dlsym(library, kCompilerEntry));
  if (get == nullptr || get()->abi != kCompilerAbi) {
    return absl::UnavailableError(
        absl::StrCat(path, " is no compiler of this build"));
  }
  return get();
}

// This copy of the arena lies where the program first reserved addresses. Its
// upper half is for variables of modules; programs use the lower one first.
void TakeAddresses(uint64_t base, uint64_t bytes) {
  static auto* const mutex = new std::mutex;
  std::lock_guard<std::mutex> lock(*mutex);
  memory::Arena& arena = memory::Arena::Process();
  if (arena.is_settled()) return;
  arena.Place(base, bytes);
  arena.Allocate(arena.bytes() / 2, kPage);
}

// Needs the lock of Processor::Of.
std::unique_ptr<Device> OpenDevice(CUdevice ordinal) {
  const memory::Arena& arena = memory::Arena::Process();
  TakeAddresses(arena.base(), arena.bytes());
  absl::StatusOr<cpu::Options> options = cpu::ReadOptions();
  if (options.ok()) {
    options->host_base =
        kMemoryBase + static_cast<uint64_t>(ordinal) * kMemoryStride;
  }
  absl::StatusOr<std::unique_ptr<cpu::CpuDevice>> device =
      options.ok() ? cpu::CpuDevice::Open(*options) : options.status();
  if (!device.ok()) {
    std::fprintf(stderr, "test driver: no CPU device: %s\n",
                 std::string(device.status().message()).c_str());
    std::abort();
  }
  return *std::move(device);
}

}  // namespace

void Processor::PlaceMemory(uint64_t base, uint64_t bytes) {
  TakeAddresses(base, bytes);
}

Processor& Processor::Of(CUdevice device) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::map<CUdevice, Processor*>;
  std::lock_guard<std::mutex> lock(*mutex);
  Processor*& processor = (*all)[device];
  if (processor == nullptr) processor = new Processor(OpenDevice(device));
  return *processor;
}

Processor::Processor(std::unique_ptr<Device> device)
    : device_(std::move(device)) {
  device_->SetPrintf([this](std::string_view text) {
    std::lock_guard<std::mutex> lock(mutex_);
    printed_ += text;
  });
}

absl::StatusOr<std::string> Processor::Compile(const std::string& ptx,
                                               std::string_view kernel) {
  static const auto* const compiler =
      new absl::StatusOr<const CompilerApi*>(OpenCompiler());
  if (!compiler->ok()) return compiler->status();
  CompileRequest request;
  request.source = ptx;
  request.source_name = "test driver";
  request.kernel = kernel;
  request.backend = "cpu";
  request.target = device_->info().target;
  request.fp_mode = "native";
  request.cpu_mode = "auto";
  return (**compiler)->compile(request);
}

absl::StatusOr<std::unique_ptr<Kernel>> Processor::Load(
    const std::string& ptx, const KernelInfo& info) {
  static auto* const mutex = new std::mutex;
  static auto* const images = new std::map<std::string, std::string>;
  const std::string key =
      absl::StrCat(device_->info().target, "\n", info.name, "\n", ptx);
  std::lock_guard<std::mutex> lock(*mutex);
  std::string& image = (*images)[key];
  if (image.empty()) {
    absl::StatusOr<std::string> compiled = Compile(ptx, info.name);
    if (!compiled.ok()) return compiled.status();
    image = *std::move(compiled);
  }
  return device_->Load(info, image);
}

absl::StatusOr<uint64_t> Processor::Allocate(uint64_t bytes) {
  return device_->Allocate(bytes);
}

void* Processor::HostPointer(uint64_t address) const {
  return device_->HostPointer(address);
}

void Processor::Free(uint64_t address) { (void)device_->Free(address); }

CUresult Processor::Run(std::unique_ptr<Queue>& queue, LaunchDesc desc,
                        bool line_info) {
  if (queue == nullptr) {
    auto made = device_->CreateQueue();
    if (!made.ok()) return CUDA_ERROR_LAUNCH_FAILED;
    queue = *std::move(made);
  }
  if (!queue->Launch(desc).ok()) return CUDA_ERROR_LAUNCH_FAILED;
  LaunchError error;
  (void)queue->Synchronize(&error);
  // Threads that wait for nobody wait on a GPU until it is reset.
  while (error.kind == LaunchError::Kind::kDeadlock) pause();
  if (error.kind == LaunchError::Kind::kAssert) {
    std::fprintf(stderr, "%s\n", Describe(error).c_str());
  }
  if (error.kind != LaunchError::Kind::kNone) WriteCoreDump(error, line_info);
  return ResultOf(error.kind);
}

void Processor::Flush() {
  std::lock_guard<std::mutex> lock(mutex_);
  std::fwrite(printed_.data(), 1, printed_.size(), stdout);
  std::fflush(stdout);
  printed_.clear();
}

}  // namespace hetgpu::cuda::fake
