// One way of running workloads on a device: hetGPU itself, or a native twin.
//
//   hetgpu_executor   the committed PTX through libhetgpu
//   cuda_executor     what nvcc made of the same sources, by the CUDA driver
//   host_executor     C++ with OpenMP
//   opencl_executor   OpenCL C
//
// All get the same Workload and are timed with the same clock around the same
// two calls, Enqueue and Wait. Used by one thread.
#ifndef HETGPU_BENCH_RUNNER_EXECUTOR_H_
#define HETGPU_BENCH_RUNNER_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/workloads/workload.h"

namespace hetgpu::bench {

class Executor {
 public:
  // `name` as in the report: "hetgpu", "nvcc", "openmp", "opencl: …".
  explicit Executor(std::string name) : name_(std::move(name)) {}
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  const std::string& name() const { return name_; }
  // Versions of what it runs on, for the description of the machine.
  virtual std::string Describe() const = 0;

  // Makes and fills the buffers and compiles the kernels of `workload`, which
  // must outlive Unload. At most one workload is loaded.
  virtual absl::Status Load(const Workload& workload) = 0;
  virtual void Unload() = 0;

  // The loaded workload's launches, `times` over. Enqueue may return before
  // they ran.
  virtual absl::Status Enqueue(int times) = 0;
  virtual absl::Status Wait() = 0;

  // Part of a buffer from and to host memory, now.
  virtual absl::Status Write(int buffer, uint64_t offset, const void* from,
                             uint64_t bytes) = 0;
  virtual absl::Status Read(int buffer, uint64_t offset, void* to,
                            uint64_t bytes) = 0;

  // The same in the turn of what was enqueued; Wait() waits for it too.
  virtual absl::Status EnqueueWrite(int buffer, uint64_t offset,
                                    const void* from, uint64_t bytes) {
    return Write(buffer, offset, from, bytes);
  }
  virtual absl::Status EnqueueRead(int buffer, uint64_t offset, void* to,
                                   uint64_t bytes) {
    return Read(buffer, offset, to, bytes);
  }

  // Seconds that the content of a buffer takes to the device (or from it), to the
  // place where it is needed from where it was written last. Unavailable for
  // memory that stays where it is.
  virtual absl::StatusOr<double> Move(int buffer, bool is_in) {
    return absl::UnavailableError("memory does not move");
  }

  // Compiles all kernels of a module and forgets it again.
  virtual absl::Status CompileModule(const std::string& module) {
    return absl::UnimplementedError(name_ + " does not compile " + module);
  }

 private:
  std::string name_;
};

// Where kernels and twins lie.
struct Places {
  std::string source_root;  // holds examples/ and bench/
  std::string twins;        // the built twins
  std::string library;      // libhetgpu.so
};

// Unavailable, with the reason, where the device or the twin is absent.
// `environment` is "NAME=VALUE" settings for this instance of the library,
// separated by commas; "" = none. `is_unified`: its context is, and another one
// on the CPU.
absl::StatusOr<std::unique_ptr<Executor>> MakeHetgpuExecutor(
    const Places& places, const std::string& device, const std::string& name,
    const std::string& environment, bool is_unified = false);
absl::StatusOr<std::unique_ptr<Executor>> MakeCudaExecutor(
    const Places& places);
// The same driver, given the committed PTX: what JIT rows compare with.
absl::StatusOr<std::unique_ptr<Executor>> MakeCudaPtxExecutor(
    const Places& places);
absl::StatusOr<std::unique_ptr<Executor>> MakeHostExecutor(
    const Places& places);
// One per OpenCL platform that has a CPU.
absl::StatusOr<std::vector<std::unique_ptr<Executor>>> MakeOpenClExecutors(
    const Places& places);

// Host memory that the CUDA driver has pinned for all contexts.
struct PinnedMemory {
  std::shared_ptr<void> owner;
  void* data = nullptr;
};
absl::StatusOr<PinnedMemory> AllocatePinned(Executor& cuda, uint64_t bytes);

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_RUNNER_EXECUTOR_H_
