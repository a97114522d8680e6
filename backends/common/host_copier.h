// Copies of large stretches of host memory by several threads.
//
// One core moves 5 to 10 GB/s, a link to a GPU several times that.
//
// A copy is a list of pieces that become ready one after another and are copied
// in that order, so that it keeps pace with a device that fills or empties what
// lies at the other end. Threads take chunks of a piece, and go on with the next
// piece without waiting for each other:
//
//   pieces   | 0         | 1         | 2         |  ready: those before 2
//   threads  | a b c a c | b a c …               |
#ifndef HETGPU_BACKENDS_COMMON_HOST_COPIER_H_
#define HETGPU_BACKENDS_COMMON_HOST_COPIER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "backends/common/host_stores.h"

namespace hetgpu {

class HostCopy;

// The threads that help. Thread-safe. They serve one copy at a time; others are
// made by their callers alone meanwhile.
class HostCopier {
 public:
  // `helpers` threads besides the caller's, started by the first large copy.
  explicit HostCopier(int helpers) : helper_limit_(helpers) {}
  ~HostCopier();
  HostCopier(const HostCopier&) = delete;
  HostCopier& operator=(const HostCopier&) = delete;

  // Of the process; all cores but one, 15 at most.
  static HostCopier& Get();

 private:
  friend class HostCopy;

  // Whether helpers come; then End() has to follow, from any thread.
  bool Begin(HostCopy* copy);
  void End();
  void Serve();
  // Waits for another copy than number `seen`, which this helper took part in or
  // not; false at the end.
  bool AwaitCopy(uint32_t seen, bool was_of_use);
  // Whoever joins wakes two others: to wake all takes longer than the first
  // pieces.
  void WakeTwo();

  const int helper_limit_;
  std::atomic<bool> busy_{false};  // there is a copy that is served
  std::atomic<HostCopy*> copy_{nullptr};
  std::atomic<uint32_t> copy_number_{0};
  std::atomic<int> inside_{0};  // helpers that may look at copy_
  std::atomic<bool> ending_{false};
  std::vector<std::thread> helpers_;  // of whoever set busy_
};

// One copy. Methods are for one thread at a time. It ends when destroyed, copied
// or not.
class HostCopy {
 public:
  struct Piece {
    char* dst;
    const char* src;
    size_t bytes;
    Stores stores = Stores::kCached;
  };

  // At most `helpers` threads help.
  HostCopy(HostCopier& copier, const std::vector<Piece>& pieces,
           int helpers = INT32_MAX);
  ~HostCopy();
  HostCopy(const HostCopy&) = delete;
  HostCopy& operator=(const HostCopy&) = delete;

  // The first `count` pieces may be copied; never fewer than before.
  void Allow(size_t count);
  bool IsCopied(size_t piece) const {
    return tasks_[piece].left.load(std::memory_order_acquire) == 0;
  }
  // Copies a chunk in this thread, if one is ready that no helper has taken.
  void Help();
  // Until a piece that may be copied is.
  void Await(size_t piece);

 private:
  friend class HostCopier;

  struct Task {
    Piece piece;
    size_t first_chunk;
    alignas(64) std::atomic<size_t> left;  // bytes
  };

  // Whether one more helper may Work().
  bool Join() { return places_.fetch_sub(1, std::memory_order_relaxed) > 0; }
  void Work();
  // Copies a chunk of task `from` or a later one, which it returns.
  size_t CopyChunk(size_t chunk, size_t from);

  HostCopier& copier_;
  bool begun_ = false, served_ = false;
  size_t task_count_ = 0, chunk_count_ = 0;
  std::unique_ptr<Task[]> tasks_;
  size_t helped_ = 0;  // the task of which Help() last copied
  alignas(64) std::atomic<size_t> next_{0};     // chunk that nobody has taken
  alignas(64) std::atomic<size_t> allowed_{0};  // chunks
  std::atomic<bool> ended_{false};
  std::atomic<int> places_{0};  // for helpers
};

}  // namespace hetgpu

#endif  // HETGPU_BACKENDS_COMMON_HOST_COPIER_H_
