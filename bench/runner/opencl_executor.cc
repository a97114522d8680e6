// The kernels in OpenCL C, on every OpenCL platform that has a CPU.
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "bench/runner/executor.h"
#include "bench/runner/shared_library.h"

namespace hetgpu::bench {
namespace {

// Numbers of the OpenCL specification.
constexpr unsigned kPlatformName = 0x0902, kPlatformVersion = 0x0901;
constexpr unsigned kDeviceName = 0x102B, kBuildLog = 0x1183;
constexpr uint64_t kDeviceTypeCpu = 2, kReadWrite = 1, kUseHostPtr = 8;

struct OpenCl {
#define OPENCL_FUNCTION(name, result, parameters) \
  result(*name) parameters = nullptr;
#include "bench/runner/opencl_library.def"
#undef OPENCL_FUNCTION
};

absl::Status Check(int result, absl::string_view what) {
  if (result == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(what, ": OpenCL error ", result));
}

absl::StatusOr<OpenCl> OpenLibrary() {
  auto library = SharedLibrary::Open("libOpenCL.so.1");
  if (!library.ok()) return library.status();
  OpenCl cl;
#define OPENCL_FUNCTION(name, result, parameters) \
  BENCH_RETURN_IF_ERROR(library->Get("cl" #name, cl.name));
#include "bench/runner/opencl_library.def"
#undef OPENCL_FUNCTION
  return cl;
}

template <typename Query>
std::string Text(const Query& query) {
  char text[256] = "";
  return query(sizeof(text) - 1, text) == 0 ? text : "?";
}

class OpenClExecutor final : public Executor {
 public:
  OpenClExecutor(const OpenCl& cl, void* device, std::string name,
                 std::string version, std::string folder)
      : Executor(std::move(name)),
        cl_(cl),
        device_(device),
        version_(std::move(version)),
        folder_(std::move(folder)) {}
  ~OpenClExecutor() override { Unload(); }

  absl::Status Open() {
    int result = 0;
    context_ =
        cl_.CreateContext(nullptr, 1, &device_, nullptr, nullptr, &result);
    BENCH_RETURN_IF_ERROR(Check(result, "making a context"));
    queue_ = cl_.CreateCommandQueue(context_, device_, 0, &result);
    return Check(result, "making a queue");
  }

  std::string Describe() const override { return version_; }

  absl::Status Load(const Workload& workload) override {
    workload_ = &workload;
    for (const Buffer& buffer : workload.buffers) {
      BENCH_RETURN_IF_ERROR(MakeBuffer(buffer));
    }
    for (const Launch& launch : workload.launches) {
      BENCH_RETURN_IF_ERROR(MakeKernel(launch));
    }
    return absl::OkStatus();
  }

  void Unload() override {
    for (void* const kernel : kernels_) (void)cl_.ReleaseKernel(kernel);
    for (void* const buffer : buffers_) (void)cl_.ReleaseMemObject(buffer);
    for (void* const memory : memory_) FreeHost(memory);
    kernels_.clear();
    buffers_.clear();
    memory_.clear();
  }

  absl::Status Enqueue(int times) override {
    for (int i = 0; i < times; ++i) {
      for (size_t k = 0; k < kernels_.size(); ++k) {
        const Launch& l = workload_->launches[k];
        const size_t local[3] = {l.block.x, l.block.y, l.block.z};
        const size_t global[3] = {local[0] * l.grid.x, local[1] * l.grid.y,
                                  local[2] * l.grid.z};
        const int result =
            cl_.EnqueueNDRangeKernel(queue_, kernels_[k], 3, nullptr, global,
                                     local, 0, nullptr, nullptr);
        if (result != 0) return Check(result, l.kernel);
      }
    }
    return absl::OkStatus();
  }
  absl::Status Wait() override { return Check(cl_.Finish(queue_), "waiting"); }

  absl::Status Write(int buffer, uint64_t offset, const void* from,
                     uint64_t bytes) override {
    return Check(cl_.EnqueueWriteBuffer(queue_, buffers_[buffer], 1, offset,
                                        bytes, from, 0, nullptr, nullptr),
                 "copying in");
  }
  absl::Status Read(int buffer, uint64_t offset, void* to,
                    uint64_t bytes) override {
    return Check(cl_.EnqueueReadBuffer(queue_, buffers_[buffer], 1, offset,
                                       bytes, to, 0, nullptr, nullptr),
                 "copying out");
  }

 private:
  absl::Status MakeBuffer(const Buffer& buffer) {
    void* const memory = AllocateHost(buffer.bytes);
    if (memory == nullptr) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no memory for ", buffer.bytes, " bytes"));
    }
    memory_.push_back(memory);
    FillHost(memory, buffer.bytes, buffer.pattern.data(),
             buffer.pattern.size());
    int result = 0;
    buffers_.push_back(cl_.CreateBuffer(context_, kReadWrite | kUseHostPtr,
                                        buffer.bytes, memory, &result));
    return Check(result, buffer.name);
  }

  absl::Status Build(const std::string& module, void*& program) {
    const std::string path =
        absl::StrCat(folder_, module.substr(module.rfind('/')), ".cl");
    const auto source = ReadFile(path);
    if (!source.ok()) return source.status();
    const char* text = source->c_str();
    const size_t size = source->size();
    int result = 0;
    program = cl_.CreateProgramWithSource(context_, 1, &text, &size, &result);
    BENCH_RETURN_IF_ERROR(Check(result, path));
    result = cl_.BuildProgram(program, 1, &device_, "", nullptr, nullptr);
    if (result == 0) return absl::OkStatus();
    std::string log(4096, '\0');
    (void)cl_.GetProgramBuildInfo(program, device_, kBuildLog, log.size() - 1,
                                  log.data(), nullptr);
    return absl::InternalError(
        absl::StrCat(path, " does not build: ", log.c_str()));
  }

  absl::Status MakeKernel(const Launch& launch) {
    void*& program = programs_[launch.module];
    if (program == nullptr) {
      BENCH_RETURN_IF_ERROR(Build(launch.module, program));
    }
    int result = 0;
    void* const kernel =
        cl_.CreateKernel(program, launch.kernel.c_str(), &result);
    BENCH_RETURN_IF_ERROR(Check(result, launch.kernel));
    kernels_.push_back(kernel);
    unsigned index = 0;
    for (const Argument& argument : launch.arguments) {
      const void* const value = argument.buffer < 0
                                    ? static_cast<const void*>(&argument.bits)
                                    : &buffers_[argument.buffer];
      BENCH_RETURN_IF_ERROR(Check(
          cl_.SetKernelArg(kernel, index++, argument.size, value), "argument"));
    }
    // Dynamic shared memory is one more argument here.
    if (launch.shared_bytes == 0) return absl::OkStatus();
    return Check(cl_.SetKernelArg(kernel, index, launch.shared_bytes, nullptr),
                 "local memory");
  }

  const OpenCl cl_;
  void* device_;
  const std::string version_;
  const std::string folder_;
  void* context_ = nullptr;
  void* queue_ = nullptr;
  const Workload* workload_ = nullptr;
  std::map<std::string, void*> programs_;
  std::vector<void*> memory_;
  std::vector<void*> buffers_;
  std::vector<void*> kernels_;
};

// "opencl: pocl" for the platforms known by a long name.
std::string ShortName(const std::string& platform) {
  if (absl::StrContains(platform, "Portable")) return "opencl: pocl";
  if (absl::StrContains(platform, "Intel")) return "opencl: intel";
  return absl::StrCat("opencl: ", platform);
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<Executor>>> MakeOpenClExecutors(
    const Places& places) {
  auto cl = OpenLibrary();
  if (!cl.ok()) return cl.status();
  void* platforms[16];
  unsigned count = 0;
  if (cl->GetPlatformIDs(16, platforms, &count) != 0) count = 0;
  std::vector<std::unique_ptr<Executor>> executors;
  for (unsigned i = 0; i < count && i < 16; ++i) {
    void* device = nullptr;
    unsigned devices = 0;
    if (cl->GetDeviceIDs(platforms[i], kDeviceTypeCpu, 1, &device, &devices) !=
            0 ||
        devices == 0) {
      continue;
    }
    const auto platform = [&](unsigned what) {
      return Text([&](size_t size, char* text) {
        return cl->GetPlatformInfo(platforms[i], what, size, text, nullptr);
      });
    };
    const std::string name = platform(kPlatformName);
    const std::string version = absl::StrCat(
        name, ", ", platform(kPlatformVersion), ", ",
        Text([&](size_t size, char* text) {
          return cl->GetDeviceInfo(device, kDeviceName, size, text, nullptr);
        }));
    auto executor = std::make_unique<OpenClExecutor>(
        *cl, device, ShortName(name), version,
        absl::StrCat(places.source_root, "/bench/twins/opencl"));
    if (executor->Open().ok()) executors.push_back(std::move(executor));
  }
  if (executors.empty()) {
    return absl::UnavailableError("no OpenCL platform here has a CPU");
  }
  return executors;
}

}  // namespace hetgpu::bench
