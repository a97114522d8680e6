// What nvcc made of the same CUDA C++, through the driver alone.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/runner/executor.h"
#include "bench/runner/shared_library.h"

namespace hetgpu::bench {
namespace {

constexpr unsigned kHostAllocPortable = 1;
constexpr unsigned kStreamNonBlocking = 1;

struct CudaDriver {
#define CUDA_FUNCTION(name, symbol, parameters) int(*name) parameters = nullptr;
#include "bench/runner/cuda_driver.def"
#undef CUDA_FUNCTION

  absl::Status Check(int result, const char* what) const {
    if (result == 0) return absl::OkStatus();
    const char* text = nullptr;
    (void)GetErrorString(result, &text);
    return absl::InternalError(absl::StrCat(what, ": CUDA error ", result, ": ",
                                            text ? text : "unknown"));
  }
};

absl::StatusOr<CudaDriver> OpenDriver() {
  const char* const path = std::getenv("HETGPU_CUDA_LIBRARY");
  auto library = SharedLibrary::Open(path ? path : "libcuda.so.1");
  if (!library.ok()) return library.status();
  CudaDriver driver;
#define CUDA_FUNCTION(name, symbol, parameters) \
  BENCH_RETURN_IF_ERROR(library->Get(#symbol, driver.name));
#include "bench/runner/cuda_driver.def"
#undef CUDA_FUNCTION
  if (const int result = driver.Init(0); result != 0) {
    return absl::UnavailableError(driver.Check(result, "cuInit").message());
  }
  return driver;
}

struct Prepared {
  void* function = nullptr;
  const Launch* launch = nullptr;
  std::vector<uint64_t> values;
  std::vector<void*> arguments;
};

class CudaExecutor final : public Executor {
 public:
  // `suffix` tells what of a module is loaded: the fatbin or the PTX.
  CudaExecutor(const CudaDriver& driver, std::string name, std::string folder,
               bool is_ptx)
      : Executor(std::move(name)),
        cu_(driver),
        folder_(std::move(folder)),
        is_ptx_(is_ptx) {}
  ~CudaExecutor() override { Unload(); }

  absl::Status Open() {
    int device = 0;
    BENCH_RETURN_IF_ERROR(cu_.Check(cu_.DeviceGet(&device, 0), "device 0"));
    char name[128] = "";
    BENCH_RETURN_IF_ERROR(
        cu_.Check(cu_.DeviceGetName(name, sizeof(name), device), "name"));
    device_name_ = name;
    BENCH_RETURN_IF_ERROR(
        cu_.Check(cu_.PrimaryCtxRetain(&context_, device), "context"));
    BENCH_RETURN_IF_ERROR(Enter());
    return cu_.Check(cu_.StreamCreate(&stream_, kStreamNonBlocking), "stream");
  }

  std::string Describe() const override {
    int version = 0;
    (void)cu_.DriverGetVersion(&version);
    return absl::StrCat(device_name_, ", CUDA driver API ", version / 1000, ".",
                        version % 1000 / 10);
  }

  absl::Status Load(const Workload& workload) override {
    BENCH_RETURN_IF_ERROR(Enter());
    for (const Buffer& buffer : workload.buffers) {
      uint64_t address = 0;
      BENCH_RETURN_IF_ERROR(
          cu_.Check(cu_.MemAlloc(&address, buffer.bytes), buffer.name.c_str()));
      addresses_.push_back(address);
      BENCH_RETURN_IF_ERROR(Fill(address, buffer));
    }
    prepared_.resize(workload.launches.size());
    for (size_t i = 0; i < prepared_.size(); ++i) {
      BENCH_RETURN_IF_ERROR(Prepare(workload.launches[i], prepared_[i]));
    }
    return absl::OkStatus();
  }

  void Unload() override {
    if (!Enter().ok()) return;
    for (const uint64_t address : addresses_) (void)cu_.MemFree(address);
    addresses_.clear();
    prepared_.clear();
  }

  absl::Status Enqueue(int times) override {
    BENCH_RETURN_IF_ERROR(Enter());
    for (int i = 0; i < times; ++i) {
      for (Prepared& p : prepared_) {
        const Launch& l = *p.launch;
        const int result = cu_.LaunchKernel(
            p.function, l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y,
            l.block.z, l.shared_bytes, stream_, p.arguments.data(), nullptr);
        if (result != 0) return cu_.Check(result, l.kernel.c_str());
      }
    }
    return absl::OkStatus();
  }

  absl::Status Wait() override {
    BENCH_RETURN_IF_ERROR(Enter());
    return cu_.Check(cu_.StreamSynchronize(stream_), "waiting");
  }

  absl::Status Write(int buffer, uint64_t offset, const void* from,
                     uint64_t bytes) override {
    BENCH_RETURN_IF_ERROR(Enter());
    return cu_.Check(cu_.MemcpyHtoD(addresses_[buffer] + offset, from, bytes),
                     "copying in");
  }
  absl::Status Read(int buffer, uint64_t offset, void* to,
                    uint64_t bytes) override {
    BENCH_RETURN_IF_ERROR(Enter());
    return cu_.Check(cu_.MemcpyDtoH(to, addresses_[buffer] + offset, bytes),
                     "copying out");
  }
  absl::Status EnqueueWrite(int buffer, uint64_t offset, const void* from,
                            uint64_t bytes) override {
    BENCH_RETURN_IF_ERROR(Enter());
    return cu_.Check(cu_.MemcpyHtoDAsync(addresses_[buffer] + offset, from,
                                         bytes, stream_),
                     "copying in");
  }
  absl::Status EnqueueRead(int buffer, uint64_t offset, void* to,
                           uint64_t bytes) override {
    BENCH_RETURN_IF_ERROR(Enter());
    return cu_.Check(
        cu_.MemcpyDtoHAsync(to, addresses_[buffer] + offset, bytes, stream_),
        "copying out");
  }

  absl::Status CompileModule(const std::string& module) override {
    BENCH_RETURN_IF_ERROR(Enter());
    void* handle = nullptr;
    BENCH_RETURN_IF_ERROR(LoadModule(module, handle));
    return cu_.Check(cu_.ModuleUnload(handle), "unloading");
  }

  absl::StatusOr<PinnedMemory> Pinned(uint64_t bytes) {
    BENCH_RETURN_IF_ERROR(Enter());
    void* data = nullptr;
    BENCH_RETURN_IF_ERROR(cu_.Check(
        cu_.MemHostAlloc(&data, bytes, kHostAllocPortable), "pinned memory"));
    return PinnedMemory{std::shared_ptr<void>(data,
                                              [this](void* memory) {
                                                if (Enter().ok())
                                                  (void)cu_.MemFreeHost(memory);
                                              }),
                        data};
  }

 private:
  // hetGPU makes contexts of its own current on this thread.
  absl::Status Enter() const {
    return cu_.Check(cu_.CtxSetCurrent(context_), "entering the context");
  }

  absl::Status LoadModule(const std::string& module, void*& handle) {
    const std::string path =
        is_ptx_ ? absl::StrCat(folder_, "/", module, ".ptx")
                : absl::StrCat(folder_, "/", module.substr(module.rfind('/')),
                               ".fatbin");
    const auto image = ReadFile(path);
    if (!image.ok()) return image.status();
    return cu_.Check(cu_.ModuleLoadData(&handle, image->c_str()), path.c_str());
  }

  absl::Status Fill(uint64_t address, const Buffer& buffer) {
    uint64_t filled = std::min<uint64_t>(buffer.pattern.size(), buffer.bytes);
    if (filled == 0) {
      return cu_.Check(cu_.MemsetD8(address, 0, buffer.bytes), "fill");
    }
    BENCH_RETURN_IF_ERROR(cu_.Check(
        cu_.MemcpyHtoD(address, buffer.pattern.data(), filled), "upload"));
    while (filled < buffer.bytes) {
      const uint64_t more = std::min(filled, buffer.bytes - filled);
      BENCH_RETURN_IF_ERROR(
          cu_.Check(cu_.MemcpyDtoD(address + filled, address, more), "fill"));
      filled += more;
    }
    return absl::OkStatus();
  }

  absl::Status Prepare(const Launch& launch, Prepared& prepared) {
    void*& module = modules_[launch.module];
    if (module == nullptr) {
      BENCH_RETURN_IF_ERROR(LoadModule(launch.module, module));
    }
    BENCH_RETURN_IF_ERROR(
        cu_.Check(cu_.ModuleGetFunction(&prepared.function, module,
                                        launch.kernel.c_str()),
                  launch.kernel.c_str()));
    prepared.launch = &launch;
    for (const Argument& argument : launch.arguments) {
      prepared.values.push_back(
          argument.buffer < 0 ? argument.bits : addresses_[argument.buffer]);
    }
    for (uint64_t& value : prepared.values) {
      prepared.arguments.push_back(&value);
    }
    return absl::OkStatus();
  }

  const CudaDriver cu_;
  const std::string folder_;
  const bool is_ptx_;
  std::string device_name_;
  void* context_ = nullptr;
  void* stream_ = nullptr;
  std::map<std::string, void*> modules_;
  std::vector<uint64_t> addresses_;
  std::vector<Prepared> prepared_;
};

absl::StatusOr<std::unique_ptr<Executor>> Make(std::string name,
                                               std::string folder,
                                               bool is_ptx) {
  auto driver = OpenDriver();
  if (!driver.ok()) return driver.status();
  auto executor = std::make_unique<CudaExecutor>(*driver, std::move(name),
                                                 std::move(folder), is_ptx);
  BENCH_RETURN_IF_ERROR(executor->Open());
  return executor;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Executor>> MakeCudaExecutor(
    const Places& places) {
  const std::string folder = absl::StrCat(places.twins, "/cuda");
  if (!ReadFile(absl::StrCat(folder, "/vecadd.fatbin")).ok()) {
    return absl::UnavailableError(
        absl::StrCat("not built: no nvcc was found (", folder, " is empty)"));
  }
  return Make("nvcc", folder, false);
}

absl::StatusOr<std::unique_ptr<Executor>> MakeCudaPtxExecutor(
    const Places& places) {
  return Make("driver", places.source_root, true);
}

absl::StatusOr<PinnedMemory> AllocatePinned(Executor& cuda, uint64_t bytes) {
  return static_cast<CudaExecutor&>(cuda).Pinned(bytes);
}

}  // namespace hetgpu::bench
