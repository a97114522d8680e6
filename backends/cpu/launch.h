// One launch while it runs: what all workers share.
#ifndef HETGPU_BACKENDS_CPU_LAUNCH_H_
#define HETGPU_BACKENDS_CPU_LAUNCH_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "backends/common/driver.h"
#include "backends/cpu/guarded_memory.h"
#include "backends/cpu/kernel_code.h"

namespace hetgpu::cpu {

class Arena;
class DeviceHeap;
class Overlay;
class PrintSink;
class Watchdog;
class Worker;

// Of the device; outlive every launch.
struct LaunchServices {
  const Overlay* overlay = nullptr;  // null: addresses are host addresses
  const Arena* arena = nullptr;  // null: exact checks know no allocations
  DeviceHeap* heap = nullptr;    // null: in-kernel malloc returns null
  PrintSink* sink = nullptr;     // null: what is printed is dropped
  Watchdog* watchdog = nullptr;  // null: no timeout, no stop in a plain loop
  uint64_t stack_bytes = 256u << 10;  // of a fiber, before the kernel's need
};

struct LaunchConfig {
  const KernelCode* code = nullptr;
  Dim3 grid, block;
  uint32_t shared_bytes = 0;  // static and dynamic
  uint32_t dynamic_shared_bytes = 0;
  std::string_view params;
  uint64_t module_data = 0;
  uint64_t timeout_ms = 0;  // 0 = none
  uint32_t workers = 1;     // that may take part
  bool cooperative = false;
};

// Bytes of memory that a cooperative launch has for barriers of its grid.
inline constexpr uint32_t kWorkspaceBytes = 64;

class Launch {
 public:
  Launch(const LaunchConfig& config, const LaunchServices& services);
  ~Launch();
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;

  const LaunchConfig& config() const { return config_; }
  const KernelCode& code() const { return *config_.code; }
  const LaunchServices& services() const { return services_; }
  uint8_t* params() { return params_; }
  // Of kWorkspaceBytes, which the launch finds zeroed; null: not cooperative.
  uint8_t* workspace() const { return workspace_memory_.low(); }
  uint64_t grid_id() const { return grid_id_; }
  uint64_t block_count() const { return block_count_; }
  uint32_t thread_count() const { return thread_count_; }
  uint32_t unit_count() const { return unit_count_; }

  // Takes the next blocks [*first, *last) in ascending order; false when none
  // is left. One block at a time when blocks may wait for each other.
  bool ClaimBlocks(uint64_t* first, uint64_t* last);
  bool HasUnclaimedBlocks() const;

  // Set once; workers leave soon after.
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // Records the error unless there is one already, and stops the launch. Not
  // for signal handlers.
  void Fail(LaunchError error);
  // Fail() for the watchdog itself.
  void RecordTimeout(uint64_t timeout_ms);
  // After the last worker has left: blocks that no worker had the memory to run
  // are an error.
  void FinishUp();
  // The first error, or kNone. After the launch has ended.
  const LaunchError& error() const { return error_; }

  // Workers that are inside, so that the watchdog can interrupt them.
  void Join(Worker* worker);
  void Leave(Worker* worker);
  // Sends every worker inside the stop signal; false when there was none.
  bool InterruptWorkers();

  Dim3 BlockOf(uint64_t linear) const;
  Dim3 ThreadOf(uint32_t linear) const;

 private:
  uint64_t ChunkSize(uint64_t remaining) const;
  void Record(LaunchError error);
  void RunOutOfMemory(const char* what);

  const LaunchConfig config_;
  const LaunchServices services_;
  GuardedMemory params_memory_;
  uint8_t* params_;
  GuardedMemory workspace_memory_;
  alignas(16) uint8_t inline_params_[256];
  uint64_t grid_id_;
  uint64_t block_count_;
  uint32_t thread_count_;
  uint32_t unit_count_;

  alignas(64) std::atomic<uint64_t> next_block_{0};
  alignas(64) std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  LaunchError error_;             // guarded by mutex_ until the end
  std::vector<Worker*> workers_;  // guarded by mutex_
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_LAUNCH_H_
