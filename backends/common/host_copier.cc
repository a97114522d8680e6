#include "backends/common/host_copier.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace hetgpu {
namespace {

// Smaller copies are over before a helper has woken up.
constexpr size_t kSharedBytes = size_t{512} << 10;
constexpr size_t kPieceBytes = size_t{64} << 10;
// Bridges the gap between the pieces of a pipelined transfer.
constexpr auto kSpin = std::chrono::microseconds(200);

void Relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

#if defined(__x86_64__)
__attribute__((target("avx"))) void StreamLines(char* dst, const char* src,
                                                size_t lines) {
  for (; lines > 0; --lines, dst += 64, src += 64) {
    const auto* from = reinterpret_cast<const __m256i*>(src);
    auto* to = reinterpret_cast<__m256i*>(dst);
    const __m256i low = _mm256_loadu_si256(from);
    const __m256i high = _mm256_loadu_si256(from + 1);
    _mm256_stream_si256(to, low);
    _mm256_stream_si256(to + 1, high);
  }
  _mm_sfence();
}

void StreamPiece(char* dst, const char* src, size_t bytes) {
  static const bool has_avx = __builtin_cpu_supports("avx");
  const size_t lead = (64 - reinterpret_cast<uintptr_t>(dst) % 64) % 64;
  if (!has_avx || bytes < lead + 64) {
    std::memcpy(dst, src, bytes);
    return;
  }
  std::memcpy(dst, src, lead);
  const size_t lines = (bytes - lead) / 64;
  const size_t done = lead + lines * 64;
  StreamLines(dst + lead, src + lead, lines);
  std::memcpy(dst + done, src + done, bytes - done);
}
#else
void StreamPiece(char* dst, const char* src, size_t bytes) {
  std::memcpy(dst, src, bytes);
}
#endif

int HelperCount() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 0;
  return std::clamp(CPU_COUNT(&cores) * 3 / 4 - 1, 0, 11);
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

void HostCopier::Work(Job& job) {
  for (;;) {
    const size_t start = job.next.fetch_add(kPieceBytes);
    if (start >= job.bytes) return;
    const size_t bytes = std::min(kPieceBytes, job.bytes - start);
    if (job.stores == Stores::kStreaming) {
      StreamPiece(job.dst + start, job.src + start, bytes);
    } else {
      std::memcpy(job.dst + start, job.src + start, bytes);
    }
  }
}

void HostCopier::Start() {
  while (static_cast<int>(helpers_.size()) < helper_limit_) {
    helpers_.emplace_back([this] { Serve(); });
  }
}

bool HostCopier::AwaitJob(uint64_t seen) {
  const auto until = std::chrono::steady_clock::now() + kSpin;
  while (job_number_ == seen && !ending_) {
    if (std::chrono::steady_clock::now() < until) {
      Relax();
      continue;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    ++sleeping_;
    wake_.wait(lock, [&] { return job_number_ != seen || ending_; });
    --sleeping_;
  }
  return !ending_;
}

void HostCopier::Serve() {
  uint64_t seen = 0;
  while (AwaitJob(seen)) {
    ++inside_;
    seen = job_number_;
    // Taken back before the caller looks at inside_.
    if (Job* const job = job_) Work(*job);
    --inside_;
  }
}

void HostCopier::Copy(void* dst, const void* src, size_t bytes,
                      Stores stores) {
  std::unique_lock<std::mutex> busy(busy_, std::defer_lock);
  if (bytes < kSharedBytes || !busy.try_lock()) {
    std::memcpy(dst, src, bytes);
    return;
  }
  Start();
  Job job{static_cast<char*>(dst), static_cast<const char*>(src), bytes,
          stores};
  job_ = &job;
  ++job_number_;
  if (sleeping_ > 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    wake_.notify_all();
  }
  Work(job);
  job_ = nullptr;
  while (inside_ > 0) Relax();
}

}  // namespace hetgpu
