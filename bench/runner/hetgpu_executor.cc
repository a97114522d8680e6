// The committed PTX through libhetgpu's C API.
#include <algorithm>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/runner/executor.h"
#include "bench/runner/hetgpu_api.h"
#include "bench/runner/shared_library.h"

namespace hetgpu::bench {
namespace {

struct Prepared {
  hetgpuFunction function = nullptr;
  const Launch* launch = nullptr;
  std::vector<uint64_t> values;
  std::vector<void*> arguments;
};

class HetgpuExecutor final : public Executor {
 public:
  HetgpuExecutor(HetgpuApi api, std::string root, std::string name)
      : Executor(std::move(name)), api_(api), root_(std::move(root)) {}
  ~HetgpuExecutor() override {
    Unload();
    for (hetgpuContext context : {context_, host_}) {
      if (context != nullptr) (void)api_.ContextDestroy(context);
    }
  }

  absl::Status Open(const std::string& device, bool is_unified) {
    const uint32_t flags = is_unified ? HETGPU_CONTEXT_UNIFIED : 0;
    hetgpuDevice handle = nullptr;
    BENCH_RETURN_IF_ERROR(
        Check(api_.DeviceGetByName(device.c_str(), &handle), device.c_str()));
    properties_.struct_size = sizeof(properties_);
    BENCH_RETURN_IF_ERROR(
        Check(api_.DeviceGetProperties(handle, &properties_), "properties"));
    BENCH_RETURN_IF_ERROR(
        Check(api_.ContextCreate(handle, flags, &context_), "making a context"));
    if (is_unified) {
      hetgpuDevice cpu = nullptr;
      BENCH_RETURN_IF_ERROR(Check(api_.DeviceGetByName("cpu:0", &cpu), "cpu:0"));
      BENCH_RETURN_IF_ERROR(
          Check(api_.ContextCreate(cpu, flags, &host_), "making a context"));
    }
    return Check(api_.ContextGetDefaultStream(context_, &stream_), "stream");
  }

  std::string Describe() const override {
    uint32_t version = 0;
    (void)api_.GetVersion(&version);
    return absl::StrCat("hetGPU ", version / 10000, ".", version / 100 % 100,
                        ".", version % 100, " on ", properties_.name, ", ",
                        properties_.target);
  }

  absl::Status Load(const Workload& workload) override {
    workload_ = &workload;
    for (const Buffer& buffer : workload.buffers) {
      hetgpuDevicePtr address = 0;
      BENCH_RETURN_IF_ERROR(
          Check(api_.MemAlloc(context_, buffer.bytes, &address),
                buffer.name.c_str()));
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
    for (const hetgpuDevicePtr address : addresses_) {
      (void)api_.MemFree(context_, address);
    }
    addresses_.clear();
    prepared_.clear();
  }

  absl::Status Enqueue(int times) override {
    for (int i = 0; i < times; ++i) {
      for (Prepared& p : prepared_) {
        const Launch& l = *p.launch;
        const hetgpuResult result =
            api_.LaunchKernel(p.function, {l.grid.x, l.grid.y, l.grid.z},
                              {l.block.x, l.block.y, l.block.z}, l.shared_bytes,
                              stream_, p.arguments.data());
        if (result != HETGPU_SUCCESS) return Check(result, l.kernel.c_str());
      }
    }
    return absl::OkStatus();
  }

  absl::Status Wait() override {
    return Check(api_.StreamSynchronize(stream_), "waiting");
  }

  absl::Status Write(int buffer, uint64_t offset, const void* from,
                     uint64_t bytes) override {
    return Check(
        api_.MemCopyHtoD(context_, addresses_[buffer] + offset, from, bytes),
        "copying in");
  }
  absl::Status Read(int buffer, uint64_t offset, void* to,
                    uint64_t bytes) override {
    return Check(
        api_.MemCopyDtoH(context_, to, addresses_[buffer] + offset, bytes),
        "copying out");
  }
  absl::Status EnqueueWrite(int buffer, uint64_t offset, const void* from,
                            uint64_t bytes) override {
    return Check(api_.MemCopyHtoDAsync(addresses_[buffer] + offset, from, bytes,
                                       stream_),
                 "copying in");
  }
  absl::Status EnqueueRead(int buffer, uint64_t offset, void* to,
                           uint64_t bytes) override {
    return Check(api_.MemCopyDtoHAsync(to, addresses_[buffer] + offset, bytes,
                                       stream_),
                 "copying out");
  }

  absl::StatusOr<double> Move(int buffer, bool is_in) override {
    if (host_ == nullptr) return Executor::Move(buffer, is_in);
    const hetgpuDevicePtr address = addresses_[buffer];
    const uint64_t bytes = workload_->buffers[buffer].bytes;
    BENCH_RETURN_IF_ERROR(Check(api_.MemFill(is_in ? host_ : context_, address,
                                             ++written_, 1, bytes),
                                "writing"));
    const auto start = std::chrono::steady_clock::now();
    BENCH_RETURN_IF_ERROR(Check(
        api_.MemPrefetch(is_in ? context_ : host_, address, bytes), "moving"));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }

  absl::Status CompileModule(const std::string& module) override {
    hetgpuModule handle = nullptr;
    BENCH_RETURN_IF_ERROR(LoadModule(module, handle));
    const absl::Status status =
        Check(api_.ModulePrepare(handle), module.c_str());
    (void)api_.ModuleUnload(handle);
    return status;
  }

 private:
  absl::Status Check(hetgpuResult result, const char* what) const {
    return api_.Check(result, what);
  }

  absl::Status LoadModule(const std::string& module, hetgpuModule& handle) {
    const std::string path = absl::StrCat(root_, "/", module, ".ptx");
    return Check(api_.ModuleLoadFile(context_, path.c_str(), &handle),
                 path.c_str());
  }

  // The pattern, then copies of what is there, twice as much each time.
  absl::Status Fill(hetgpuDevicePtr address, const Buffer& buffer) {
    uint64_t filled = std::min<uint64_t>(buffer.pattern.size(), buffer.bytes);
    if (filled == 0) {
      return Check(api_.MemFill(context_, address, 0, 1, buffer.bytes), "fill");
    }
    BENCH_RETURN_IF_ERROR(Check(
        api_.MemCopyHtoD(context_, address, buffer.pattern.data(), filled),
        "upload"));
    while (filled < buffer.bytes) {
      const uint64_t more = std::min(filled, buffer.bytes - filled);
      BENCH_RETURN_IF_ERROR(Check(
          api_.MemCopyDtoD(context_, address + filled, address, more), "fill"));
      filled += more;
    }
    return absl::OkStatus();
  }

  absl::Status Prepare(const Launch& launch, Prepared& prepared) {
    hetgpuModule& module = modules_[launch.module];
    if (module == nullptr) {
      BENCH_RETURN_IF_ERROR(LoadModule(launch.module, module));
    }
    const char* const name = launch.kernel.c_str();
    BENCH_RETURN_IF_ERROR(
        Check(api_.ModuleGetFunction(module, name, &prepared.function), name));
    BENCH_RETURN_IF_ERROR(Check(api_.FunctionPrepare(prepared.function), name));
    prepared.launch = &launch;
    for (const Argument& argument : launch.arguments) {
      prepared.values.push_back(
          argument.buffer < 0 ? argument.bits : addresses_[argument.buffer]);
    }
    for (uint64_t& value : prepared.values) {
      prepared.arguments.push_back(&value);
    }
    prepared.arguments.push_back(nullptr);
    return absl::OkStatus();
  }

  const HetgpuApi api_;
  const std::string root_;
  hetgpuDeviceProperties properties_ = {};
  hetgpuContext context_ = nullptr;
  hetgpuContext host_ = nullptr;  // the one on the CPU
  uint64_t written_ = 0;
  hetgpuStream stream_ = nullptr;
  const Workload* workload_ = nullptr;
  std::map<std::string, hetgpuModule> modules_;
  std::vector<hetgpuDevicePtr> addresses_;
  std::vector<Prepared> prepared_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Executor>> MakeHetgpuExecutor(
    const Places& places, const std::string& device, const std::string& name,
    const std::string& environment, bool is_unified) {
  // Until the device is open: it is then that an instance takes its addresses.
  const ScopedEnvironment scope(
      InstanceEnvironment(places.library, environment));
  auto api = OpenHetgpu(places.library, !environment.empty());
  if (!api.ok()) return api.status();
  auto executor =
      std::make_unique<HetgpuExecutor>(*api, places.source_root, name);
  BENCH_RETURN_IF_ERROR(executor->Open(device, is_unified));
  return executor;
}

}  // namespace hetgpu::bench
