// Copies of large stretches of host memory by several threads.
//
// One core moves about 10 GB/s, a link to a GPU several times that.
#ifndef HETGPU_BACKENDS_COMMON_HOST_COPIER_H_
#define HETGPU_BACKENDS_COMMON_HOST_COPIER_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace hetgpu {

// Thread-safe. Helpers serve one caller at a time; others copy alone meanwhile.
class HostCopier {
 public:
  // `helpers` threads besides the caller's, started by the first large copy.
  explicit HostCopier(int helpers) : helper_limit_(helpers) {}
  ~HostCopier();
  HostCopier(const HostCopier&) = delete;
  HostCopier& operator=(const HostCopier&) = delete;

  // Of the process; three quarters of the cores, twelve at most.
  static HostCopier& Get();

  // memcpy.
  enum class Stores {
    kCached,
    kStreaming,  // past the caches, where the processor can
  };
  void Copy(void* dst, const void* src, size_t bytes,
            Stores stores = Stores::kCached);

 private:
  struct Job {
    char* dst;
    const char* src;
    size_t bytes;
    Stores stores;
    std::atomic<size_t> next{0};
  };

  static void Work(Job& job);
  void Start();
  void Serve();
  // Waits for another job than number `seen`; false at the end.
  bool AwaitJob(uint64_t seen);

  const int helper_limit_;
  std::mutex busy_;  // held by the caller that is served
  std::atomic<Job*> job_{nullptr};
  std::atomic<uint64_t> job_number_{0};
  std::atomic<int> inside_{0};  // helpers that may look at job_
  std::atomic<int> sleeping_{0};
  std::atomic<bool> ending_{false};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> helpers_;  // guarded by busy_
};

}  // namespace hetgpu

#endif  // HETGPU_BACKENDS_COMMON_HOST_COPIER_H_
