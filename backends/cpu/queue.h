// A queue: one thread that takes commands in order and is also a worker of the
// launches it starts.
#ifndef HETGPU_BACKENDS_CPU_QUEUE_H_
#define HETGPU_BACKENDS_CPU_QUEUE_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "backends/common/driver.h"
#include "backends/cpu/launch.h"
#include "backends/cpu/transfer.h"
#include "backends/cpu/worker_pool.h"

namespace hetgpu::cpu {

class CpuQueue final : public Queue {
 public:
  // Both outlive the queue.
  CpuQueue(WorkerPool* pool, const LaunchServices& services);
  ~CpuQueue() override;

  absl::Status Launch(const LaunchDesc& desc) override;
  absl::Status Copy(uint64_t dst, uint64_t src, uint64_t bytes) override;
  absl::Status CopyToDevice(uint64_t dst, const void* src,
                            uint64_t bytes) override;
  absl::Status CopyFromDevice(void* dst, uint64_t src, uint64_t bytes) override;
  absl::Status Fill(uint64_t dst, uint64_t pattern, uint32_t pattern_bytes,
                    uint64_t count) override;
  absl::Status HostFunction(std::function<void()> function) override;
  absl::Status Record(Event* event) override;
  absl::Status Wait(Event* event) override;
  bool Idle() const override;
  absl::Status Synchronize(LaunchError* error) override;
  void Cancel() override;

 private:
  struct Command {
    std::function<void()> run;
    bool always = false;  // also on a failed queue
    std::string kernel;   // of a launch; never empty then
  };

  absl::Status Enqueue(Command command);
  void Serve();
  bool NextCommand(Command* command);
  void RunLaunch(const LaunchDesc& desc);
  uint64_t ToHost(uint64_t address) const;
  absl::Status EnqueueTransfer(Transfer transfer);
  void RunTransfer(const Transfer& transfer);
  // These need mutex_. The first error stays.
  void SetError(LaunchError error);
  std::string DropQueued();

  WorkerPool* const pool_;
  const LaunchServices services_;
  Worker worker_;

  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::condition_variable idle_;
  std::deque<Command> commands_;  // guarded by mutex_, as all below
  bool busy_ = false;
  std::string starting_;  // kernel of the launch being run, "" when none
  bool ending_ = false;
  LaunchError error_;
  cpu::Launch* running_ = nullptr;

  std::atomic<uint32_t> pending_{0};  // commands queued or running
  std::thread thread_;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_QUEUE_H_
