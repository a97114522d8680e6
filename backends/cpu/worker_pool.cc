#include "backends/cpu/worker_pool.h"

#include <algorithm>

#include "backends/cpu/watchdog.h"

namespace hetgpu::cpu {
namespace {

// About ten microseconds: shorter than a sleep and a wake-up.
constexpr int kSpins = 300;

inline void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

template <typename Condition>
bool SpinUntil(Condition condition) {
  for (int i = 0; i < kSpins; ++i) {
    if (condition()) return true;
    Pause();
  }
  return condition();
}

}  // namespace

WorkerPool::WorkerPool(uint32_t threads)
    : thread_limit_(std::max(threads, 1u)) {}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::StartThreads(uint32_t count) {
  while (threads_.size() < count) {
    const uint32_t index = static_cast<uint32_t>(threads_.size()) + 1;
    workers_.push_back(std::make_unique<Worker>(index));
    threads_.emplace_back([this, worker = workers_.back().get()] {
      worker->Attach();
      Serve(worker);
      worker->Detach();
    });
  }
}

WorkerPool::Job* WorkerPool::TakeJob() {
  if (jobs_.empty()) return nullptr;
  Job* job = jobs_.front();
  job->inside.fetch_add(1, std::memory_order_relaxed);
  if (--job->open_places == 0) {
    jobs_.erase(jobs_.begin());
    job_count_.fetch_sub(1, std::memory_order_relaxed);
  }
  return job;
}

WorkerPool::Job* WorkerPool::WaitForJob() {
  SpinUntil([&] { return job_count_.load(std::memory_order_relaxed) != 0; });
  std::unique_lock<std::mutex> lock(mutex_);
  work_.wait(lock, [&] { return ending_ || !jobs_.empty(); });
  return ending_ ? nullptr : TakeJob();
}

void WorkerPool::FinishJob(Job* job) {
  // Under the lock: the job is gone as soon as its runner sees zero.
  std::lock_guard<std::mutex> lock(mutex_);
  if (job->inside.fetch_sub(1, std::memory_order_release) == 1) {
    finished_.notify_all();
  }
}

void WorkerPool::Serve(Worker* worker) {
  while (Job* job = WaitForJob()) {
    worker->Run(job->launch);
    FinishJob(job);
  }
}

void WorkerPool::Run(Launch* launch, Worker* caller) {
  const uint64_t useful = launch->block_count() - 1;
  Job job{launch,
          static_cast<uint32_t>(std::min<uint64_t>(useful, thread_limit_ - 1)),
          {0}};
  const bool shared = job.open_places != 0;
  Watchdog* watchdog = launch->services().watchdog;
  if (watchdog != nullptr && launch->config().timeout_ms != 0) {
    watchdog->Arm(launch, launch->config().timeout_ms);
  }
  if (shared) {
    std::lock_guard<std::mutex> lock(mutex_);
    StartThreads(thread_limit_ - 1);
    jobs_.push_back(&job);
    job_count_.fetch_add(1, std::memory_order_relaxed);
    for (uint32_t i = 0; i < job.open_places; ++i) work_.notify_one();
  }
  caller->Run(launch);
  if (shared) {
    const auto nobody_inside = [&] {
      return job.inside.load(std::memory_order_acquire) == 0;
    };
    std::unique_lock<std::mutex> lock(mutex_);
    if (std::erase(jobs_, &job) != 0) {
      job_count_.fetch_sub(1, std::memory_order_relaxed);
    }
    if (!nobody_inside()) {
      lock.unlock();
      SpinUntil(nobody_inside);
      lock.lock();
      finished_.wait(lock, nobody_inside);
    }
  }
  launch->FinishUp();
  if (watchdog != nullptr) watchdog->Forget(launch);
}

}  // namespace hetgpu::cpu
