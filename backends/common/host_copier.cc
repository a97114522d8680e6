#include "backends/common/host_copier.h"

#include <sched.h>

#include <algorithm>
#include <chrono>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hetgpu {
namespace {

constexpr size_t kChunkBytes = size_t{64} << 10;
// Each helper's share pays for waking it.
constexpr size_t kBytesPerHelper = size_t{512} << 10;
// Bridges the gap between one transfer and the next, while a device moves what
// was copied last.
constexpr auto kSpin = std::chrono::microseconds(600);
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
  return std::clamp(CPU_COUNT(&cores) - 1, 0, 15);
}

}  // namespace

HostCopier& HostCopier::Get() {
  static HostCopier* const copier = new HostCopier(HelperCount());
  return *copier;
}

HostCopier::~HostCopier() {
  ending_ = true;
  ++copy_number_;
  copy_number_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

bool HostCopier::AwaitCopy(uint32_t seen, bool was_of_use) {
  // Who was not needed leaves its core to others at once: one of those who are
  // would have to wait for one, and all with it.
  const auto until = std::chrono::steady_clock::now() + kSpin;
  while (was_of_use && copy_number_ == seen &&
         std::chrono::steady_clock::now() < until) {
    Relax();
  }
  copy_number_.wait(seen);
  return !ending_;
}

void HostCopier::WakeTwo() {
  copy_number_.notify_one();
  copy_number_.notify_one();
}

void HostCopier::Serve() {
  uint32_t seen = 0;
  bool was_of_use = false;
  while (AwaitCopy(seen, was_of_use)) {
    ++inside_;
    seen = copy_number_;
    // Taken back before End() looks at inside_.
    HostCopy* const copy = copy_;
    was_of_use = copy != nullptr && copy->Join();
    if (was_of_use) {
      WakeTwo();
      copy->Work();
    }
    --inside_;
  }
}

bool HostCopier::Begin(HostCopy* copy) {
  if (helper_limit_ == 0 || busy_.exchange(true)) return false;
  while (static_cast<int>(helpers_.size()) < helper_limit_) {
    helpers_.emplace_back([this] { Serve(); });
  }
  copy_ = copy;
  ++copy_number_;
  WakeTwo();
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
      task_count_(pieces.size()),
      tasks_(new Task[pieces.size()]) {
  for (size_t i = 0; i < task_count_; ++i) {
    tasks_[i].piece = pieces[i];
    tasks_[i].first_chunk = chunk_count_;
    tasks_[i].left.store(pieces[i].bytes, std::memory_order_relaxed);
    chunk_count_ += (pieces[i].bytes + kChunkBytes - 1) / kChunkBytes;
  }
  const size_t worthwhile = chunk_count_ * kChunkBytes / kBytesPerHelper;
  places_ = static_cast<int>(std::min<size_t>(helpers, worthwhile));
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
  served_ = places_ > 0 && copier_.Begin(this);
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
