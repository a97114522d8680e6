// A thread that runs tasks in the order in which they are posted.
#ifndef HETGPU_BACKENDS_REMOTE_WORKER_H_
#define HETGPU_BACKENDS_REMOTE_WORKER_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace hetgpu::remote {

// Threads: any. The destructor runs what was posted.
class Worker {
 public:
  Worker() : thread_([this] { Serve(); }) {}
  ~Worker() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
      posted_.notify_all();
    }
    thread_.join();
  }

  void Post(std::function<void()> task) {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::move(task));
    posted_.notify_all();
  }

 private:
  void Serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      posted_.wait(lock, [&] { return ending_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<std::function<void()>> tasks_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace hetgpu::remote

#endif  // HETGPU_BACKENDS_REMOTE_WORKER_H_
