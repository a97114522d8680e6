// The threads that run blocks, shared by all queues of a device.
#ifndef HETGPU_BACKENDS_CPU_WORKER_POOL_H_
#define HETGPU_BACKENDS_CPU_WORKER_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/cpu/launch.h"
#include "backends/cpu/worker.h"

namespace hetgpu::cpu {

// Several threads may run launches at once; each takes part in its own.
class WorkerPool {
 public:
  // `threads` counts the caller of Run(): threads - 1 are started, when the
  // first launch needs them.
  explicit WorkerPool(uint32_t threads);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  uint32_t threads() const { return thread_limit_; }

  // Runs all blocks of `launch`; `caller` is the calling thread's worker. On
  // return no worker is inside the launch and its error() is final.
  void Run(Launch* launch, Worker* caller);

 private:
  struct Job {
    Launch* launch;
    uint32_t open_places;          // guarded by mutex_
    std::atomic<uint32_t> inside;  // workers other than the caller
  };

  void StartThreads(uint32_t count);
  void Serve(Worker* worker);
  Job* TakeJob();
  Job* WaitForJob();
  void FinishJob(Job* job);

  const uint32_t thread_limit_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable finished_;
  std::vector<Job*> jobs_;  // with open places
  std::atomic<uint32_t> job_count_{0};
  bool ending_ = false;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_WORKER_POOL_H_
