#include "backends/common/host_copier.h"

#include <sched.h>

#include <algorithm>
#include <chrono>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hetgpu {
namespace {

// Smaller copies are over before a helper has woken up.
constexpr size_t kSharedBytes = size_t{512} << 10;
constexpr size_t kChunkBytes = size_t{64} << 10;
// Bridges the gap between one transfer and the next.
constexpr auto kSpin = std::chrono::microseconds(200);
// Within a transfer: about as long as a device takes for the largest piece.
constexpr int kSpinsForPiece = 4000;

void Relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

int HelperCount() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 0;
  return std::clamp(CPU_COUNT(&cores) - 1, 0, 14);
}

}  // namespace

HostCopier& HostCopier::Get() {
  static HostCopier* const copier = new HostCopier(HelperCount());
  return *copier;
}

HostCopier::~HostCopier() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  wake_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

bool HostCopier::AwaitCopy(uint64_t seen) {
  const auto until = std::chrono::steady_clock::now() + kSpin;
  while (copy_number_ == seen && !ending_) {
    if (std::chrono::steady_clock::now() < until) {
      Relax();
      continue;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    ++sleeping_;
    wake_.wait(lock, [&] { return copy_number_ != seen || ending_; });
    --sleeping_;
  }
  return !ending_;
}

void HostCopier::Serve(int index) {
  uint64_t seen = 0;
  while (AwaitCopy(seen)) {
    ++inside_;
    seen = copy_number_;
    // Taken back before End() looks at inside_.
    HostCopy* const copy = copy_;
    if (copy != nullptr && index < copy->helper_limit_) copy->Work();
    --inside_;
  }
}

bool HostCopier::Begin(HostCopy* copy) {
  if (helper_limit_ == 0 || busy_.exchange(true)) return false;
  while (static_cast<int>(helpers_.size()) < helper_limit_) {
    const int index = static_cast<int>(helpers_.size());
    helpers_.emplace_back([this, index] { Serve(index); });
  }
  copy_ = copy;
  ++copy_number_;
  if (sleeping_ > 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    wake_.notify_all();
  }
  return true;
}

void HostCopier::End() {
  copy_ = nullptr;
  while (inside_ > 0) Relax();
  busy_ = false;
}

HostCopy::HostCopy(HostCopier& copier, const std::vector<Piece>& pieces,
                   int helpers)
    : copier_(copier),
      helper_limit_(helpers),
      task_count_(pieces.size()),
      tasks_(new Task[pieces.size()]) {
  for (size_t i = 0; i < task_count_; ++i) {
    tasks_[i].piece = pieces[i];
    tasks_[i].first_chunk = chunk_count_;
    tasks_[i].left.store(pieces[i].bytes, std::memory_order_relaxed);
    chunk_count_ += (pieces[i].bytes + kChunkBytes - 1) / kChunkBytes;
  }
}

HostCopy::~HostCopy() {
  ended_ = true;
  if (served_) copier_.End();
}

void HostCopy::Allow(size_t count) {
  allowed_.store(
      count < task_count_ ? tasks_[count].first_chunk : chunk_count_,
      std::memory_order_release);
  if (begun_) return;
  begun_ = true;
  served_ = chunk_count_ * kChunkBytes >= kSharedBytes && copier_.Begin(this);
}

size_t HostCopy::CopyChunk(size_t chunk, size_t from) {
  while (from + 1 < task_count_ && tasks_[from + 1].first_chunk <= chunk) {
    ++from;
  }
  Task& task = tasks_[from];
  const size_t start = (chunk - task.first_chunk) * kChunkBytes;
  const size_t bytes = std::min(kChunkBytes, task.piece.bytes - start);
  CopyBytes(task.piece.dst + start, task.piece.src + start, bytes,
            task.piece.stores);
  task.left.fetch_sub(bytes, std::memory_order_release);
  return from;
}

void HostCopy::Work() {
  size_t task = 0;
  for (;;) {
    const size_t chunk = next_.fetch_add(1, std::memory_order_relaxed);
    if (chunk >= chunk_count_ || ended_) return;
    for (int spins = 0; allowed_.load(std::memory_order_acquire) <= chunk;
         ++spins) {
      if (ended_) return;
      if (spins < kSpinsForPiece) {
        Relax();
      } else {
        std::this_thread::yield();
      }
    }
    task = CopyChunk(chunk, task);
  }
}

void HostCopy::Help() {
  size_t chunk = next_.load(std::memory_order_relaxed);
  const bool ready = chunk < allowed_.load(std::memory_order_relaxed);
  if (ready && next_.compare_exchange_strong(chunk, chunk + 1)) {
    helped_ = CopyChunk(chunk, helped_);
  } else {
    Relax();
  }
}

void HostCopy::Await(size_t piece) {
  while (!IsCopied(piece)) Help();
}

}  // namespace hetgpu
