// C++ with OpenMP: the library of CPU twins.
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/runner/executor.h"
#include "bench/runner/shared_library.h"
#include "bench/twins/cpu/twin.h"

namespace hetgpu::bench {
namespace {

uint32_t FeaturesHere() {
  uint32_t features = 0;
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) features |= kHostAvx2;
  if (__builtin_cpu_supports("fma")) features |= kHostFma;
  if (__builtin_cpu_supports("avx512f")) features |= kHostAvx512f;
  if (__builtin_cpu_supports("avx512bw")) features |= kHostAvx512bw;
  if (__builtin_cpu_supports("avx512vnni")) features |= kHostAvx512vnni;
#endif
  return features;
}

class HostExecutor final : public Executor {
 public:
  explicit HostExecutor(const HostTwins& twins)
      : Executor("openmp"), twins_(twins) {}
  ~HostExecutor() override { Unload(); }

  std::string Describe() const override {
    return absl::StrCat(twins_.compiler, ", ", twins_.threads(),
                        " OpenMP threads");
  }

  absl::Status Load(const Workload& workload) override {
    for (const Buffer& buffer : workload.buffers) {
      void* const memory = AllocateHost(buffer.bytes);
      if (memory == nullptr) {
        return absl::ResourceExhaustedError(
            absl::StrCat("no memory for ", buffer.bytes, " bytes"));
      }
      memory_.push_back(memory);
      FillHost(memory, buffer.bytes, buffer.pattern.data(),
               buffer.pattern.size());
    }
    for (const Argument& argument : workload.host_arguments) {
      values_.push_back(argument.buffer < 0 ? argument.bits
                                            : reinterpret_cast<uintptr_t>(
                                                  memory_[argument.buffer]));
    }
    for (uint64_t& value : values_) arguments_.push_back(&value);
    if (workload.launches.empty()) return absl::OkStatus();
    for (const HostTwin* twin = twins_.twins; twin->name != nullptr; ++twin) {
      if (workload.host_twin == twin->name) run_ = twin->run;
    }
    if (run_ != nullptr) return absl::OkStatus();
    return absl::UnavailableError(
        absl::StrCat("there is no CPU twin ", workload.host_twin));
  }

  void Unload() override {
    for (void* const memory : memory_) FreeHost(memory);
    memory_.clear();
    values_.clear();
    arguments_.clear();
    run_ = nullptr;
  }

  absl::Status Enqueue(int times) override {
    for (int i = 0; i < times; ++i) run_(arguments_.data());
    return absl::OkStatus();
  }
  absl::Status Wait() override { return absl::OkStatus(); }

  absl::Status Write(int buffer, uint64_t offset, const void* from,
                     uint64_t bytes) override {
    std::memcpy(static_cast<char*>(memory_[buffer]) + offset, from, bytes);
    return absl::OkStatus();
  }
  absl::Status Read(int buffer, uint64_t offset, void* to,
                    uint64_t bytes) override {
    std::memcpy(to, static_cast<const char*>(memory_[buffer]) + offset, bytes);
    return absl::OkStatus();
  }

 private:
  const HostTwins twins_;
  HostTwinFunction run_ = nullptr;
  std::vector<void*> memory_;
  std::vector<uint64_t> values_;
  std::vector<void*> arguments_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Executor>> MakeHostExecutor(
    const Places& places) {
  auto library = SharedLibrary::Open(
      absl::StrCat(places.twins, "/libhetgpu_bench_host_twins.so"));
  if (!library.ok()) {
    return absl::UnavailableError(absl::StrCat("not built (OpenMP is needed): ",
                                               library.status().message()));
  }
  const HostTwins* twins = nullptr;
  BENCH_RETURN_IF_ERROR(library->Get("hetgpu_bench_host_twins", twins));
  if ((twins->features & ~FeaturesHere()) != 0) {
    return absl::UnavailableError(
        "compiled for a CPU with instructions that this one lacks");
  }
  return std::make_unique<HostExecutor>(*twins);
}

}  // namespace hetgpu::bench
