#include "backends/cuda/staging.h"

#include <algorithm>
#include <utility>

#include "backends/common/host_copier.h"

namespace hetgpu::cuda {
namespace {

constexpr uint64_t kBufferBytes = uint64_t{8} << 20;
constexpr uint64_t kSmallestPiece = uint64_t{512} << 10;
constexpr size_t kBuffersOfCopy = 8;
// The device is slow to take what is still in the caches next to the cores. In the
// beginning that is all, so it is stored past them; later the device is so far
// behind that they have let go of it, and reads it from the outer cache.
constexpr uint64_t kStreamedBytes = uint64_t{64} << 20;

// The piece after `done` of `bytes` bytes into a device: larger and larger.
uint64_t PieceIn(uint64_t done, uint64_t bytes) {
  const uint64_t piece = std::clamp(done, kSmallestPiece, kBufferBytes);
  return std::min(piece, bytes - done);
}

// Out of a device: smaller and smaller towards the end.
uint64_t PieceOut(uint64_t done, uint64_t bytes) {
  const uint64_t left = bytes - done;
  return std::min(left, std::clamp(left / 2, kSmallestPiece, kBufferBytes));
}

// Fills a buffer with the piece after `done`.
void CopyIn(void* buffer, const char* src, uint64_t done, uint64_t bytes) {
  HostCopier::Get().Copy(buffer, src + done, bytes,
                         done < kStreamedBytes
                             ? HostCopier::Stores::kStreaming
                             : HostCopier::Stores::kCached);
}

void CopyOut(char* dst, const void* buffer, uint64_t bytes) {
  HostCopier::Get().Copy(dst, buffer, bytes);
}

// Asks again and again: sleeping would take longer than what is waited for.
CUresult Await(const Current& current, CUevent event) {
  CUresult result = CUDA_ERROR_NOT_READY;
  while (result == CUDA_ERROR_NOT_READY) {
    result = current.library().EventQuery(event);
  }
  return result;
}

CUresult AwaitFree(const Current& current, const StagingBuffer& buffer) {
  return buffer.used ? Await(current, buffer.free) : CUresult{CUDA_SUCCESS};
}

// Makes `stream` wait until the buffer can be filled.
CUresult DelayUntilFree(const Current& current, CUstream stream,
                        const StagingBuffer& buffer) {
  if (!buffer.used) return CUDA_SUCCESS;
  return current.library().StreamWaitEvent(stream, buffer.free, 0);
}

CUresult RecordFree(const Current& current, CUstream stream,
                    StagingBuffer& buffer) {
  buffer.used = true;
  return current.library().EventRecord(buffer.free, stream);
}

// Records the event on one stream and makes the other wait for it.
CUresult Chain(const Current& current, CUevent event, CUstream from,
               CUstream to) {
  const CUresult result = current.library().EventRecord(event, from);
  if (result != CUDA_SUCCESS) return result;
  return current.library().StreamWaitEvent(to, event, 0);
}

}  // namespace

// The first result that is not a success ends the enclosing function.
#define HETGPU_CUDA_TRY(expression)                         \
  do {                                                      \
    const CUresult hetgpu_result = (expression);            \
    if (hetgpu_result != CUDA_SUCCESS) return hetgpu_result; \
  } while (false)

bool IsPinned(const Current& current, const void* memory, uint64_t bytes) {
  char* const first = static_cast<char*>(const_cast<void*>(memory));
  unsigned flags = 0;
  const Library& library = current.library();
  return library.MemHostGetFlags(&flags, first) == CUDA_SUCCESS &&
         library.MemHostGetFlags(&flags, first + bytes - 1) == CUDA_SUCCESS;
}

CUresult StagingArena::Add(const Current& current, StagingBuffer* buffer) {
  const Library& library = current.library();
  HETGPU_CUDA_TRY(library.EventCreate(&buffer->filled, kEventDisableTiming));
  CUresult result = library.EventCreate(&buffer->free, kEventDisableTiming);
  if (result == CUDA_SUCCESS) {
    result = library.MemHostAlloc(&buffer->data, kBufferBytes, kHostPortable);
    if (result == CUDA_SUCCESS) return result;
    library.EventDestroy(buffer->free);
  }
  library.EventDestroy(buffer->filled);
  return result;
}

void StagingArena::Follow(const Current& current) {
  if (generation_ == current.generation()) return;
  generation_ = current.generation();
  idle_.clear();
}

CUresult StagingArena::Lend(const Current& current, size_t count,
                            std::vector<StagingBuffer>* buffers) {
  std::lock_guard<std::mutex> lock(mutex_);
  Follow(current);
  while (buffers->size() < count) {
    StagingBuffer buffer;
    if (!idle_.empty()) {
      buffer = idle_.back();
      idle_.pop_back();
    } else {
      const CUresult result = Add(current, &buffer);
      if (result != CUDA_SUCCESS) {
        return buffers->empty() ? result : CUresult{CUDA_SUCCESS};
      }
    }
    buffer.used = false;
    buffers->push_back(buffer);
  }
  return CUDA_SUCCESS;
}

void StagingArena::TakeBack(const Current& current,
                            std::vector<StagingBuffer> buffers) {
  std::lock_guard<std::mutex> lock(mutex_);
  Follow(current);
  idle_.insert(idle_.end(), buffers.begin(), buffers.end());
}

void StagingArena::Release(const Current& current) {
  std::lock_guard<std::mutex> lock(mutex_);
  Follow(current);
  for (const StagingBuffer& buffer : idle_) {
    current.library().EventDestroy(buffer.filled);
    current.library().EventDestroy(buffer.free);
    current.library().MemFreeHost(buffer.data);
  }
  idle_.clear();
}

CUresult Staging::Prepare(const Current& current, uint64_t bytes) {
  const uint64_t needed = (bytes + kSmallestPiece - 1) / kSmallestPiece;
  return arena_.Lend(current, std::min<uint64_t>(needed, kBuffersOfCopy),
                     &buffers_);
}

CUresult Staging::PrepareHelper(const Current& current, CUstream stream) {
  const Library& library = current.library();
  if (helper_ == nullptr) {
    HETGPU_CUDA_TRY(library.StreamCreate(&helper_, kStreamNonBlocking));
  }
  if (start_ == nullptr) {
    HETGPU_CUDA_TRY(library.EventCreate(&start_, kEventDisableTiming));
  }
  return Chain(current, start_, stream, helper_);
}

CUresult Staging::CopyToDeviceNow(const Current& current, CUstream stream,
                                  uint64_t dst, const void* src,
                                  uint64_t bytes) {
  HETGPU_CUDA_TRY(Prepare(current, bytes));
  const char* const from = static_cast<const char*>(src);
  uint64_t done = 0;
  for (size_t i = 0; done < bytes; ++i) {
    StagingBuffer& buffer = buffers_[i % buffers_.size()];
    const uint64_t piece = PieceIn(done, bytes);
    HETGPU_CUDA_TRY(AwaitFree(current, buffer));
    CopyIn(buffer.data, from, done, piece);
    HETGPU_CUDA_TRY(current.library().MemcpyHtoDAsync(
        dst + done, buffer.data, piece, stream));
    HETGPU_CUDA_TRY(RecordFree(current, stream, buffer));
    done += piece;
  }
  return CUDA_SUCCESS;
}

CUresult Staging::CopyFromDeviceNow(const Current& current, CUstream stream,
                                    void* dst, uint64_t src, uint64_t bytes) {
  HETGPU_CUDA_TRY(Prepare(current, bytes));
  char* const to = static_cast<char*>(dst);
  const size_t count = buffers_.size();
  uint64_t started = 0, done = 0;
  size_t next = 0;
  for (size_t i = 0; done < bytes; ++i) {
    for (; next < i + count && started < bytes; ++next) {
      StagingBuffer& buffer = buffers_[next % count];
      const uint64_t piece = PieceOut(started, bytes);
      HETGPU_CUDA_TRY(current.library().MemcpyDtoHAsync(
          buffer.data, src + started, piece, stream));
      HETGPU_CUDA_TRY(current.library().EventRecord(buffer.filled, stream));
      started += piece;
    }
    const StagingBuffer& buffer = buffers_[i % count];
    const uint64_t piece = PieceOut(done, bytes);
    HETGPU_CUDA_TRY(Await(current, buffer.filled));
    CopyOut(to + done, buffer.data, piece);
    done += piece;
  }
  for (StagingBuffer& buffer : buffers_) buffer.used = false;
  return CUDA_SUCCESS;
}

CUresult Staging::CopyToDevice(const Current& current, CUstream stream,
                               HostWork& host_work, uint64_t dst,
                               const void* src, uint64_t bytes) {
  HETGPU_CUDA_TRY(Prepare(current, bytes));
  HETGPU_CUDA_TRY(PrepareHelper(current, stream));
  const char* const from = static_cast<const char*>(src);
  uint64_t done = 0;
  for (size_t i = 0; done < bytes; ++i) {
    StagingBuffer& buffer = buffers_[i % buffers_.size()];
    const uint64_t piece = PieceIn(done, bytes);
    HETGPU_CUDA_TRY(DelayUntilFree(current, helper_, buffer));
    HETGPU_CUDA_TRY(host_work.Enqueue(
        current, helper_, [to = buffer.data, from, done, piece] {
          CopyIn(to, from, done, piece);
        }));
    HETGPU_CUDA_TRY(Chain(current, buffer.filled, helper_, stream));
    HETGPU_CUDA_TRY(current.library().MemcpyHtoDAsync(
        dst + done, buffer.data, piece, stream));
    HETGPU_CUDA_TRY(RecordFree(current, stream, buffer));
    done += piece;
  }
  return CUDA_SUCCESS;
}

CUresult Staging::CopyFromDevice(const Current& current, CUstream stream,
                                 HostWork& host_work, void* dst, uint64_t src,
                                 uint64_t bytes) {
  HETGPU_CUDA_TRY(Prepare(current, bytes));
  HETGPU_CUDA_TRY(PrepareHelper(current, stream));
  char* const to = static_cast<char*>(dst);
  uint64_t done = 0;
  for (size_t i = 0; done < bytes; ++i) {
    StagingBuffer& buffer = buffers_[i % buffers_.size()];
    const uint64_t piece = PieceOut(done, bytes);
    HETGPU_CUDA_TRY(DelayUntilFree(current, stream, buffer));
    HETGPU_CUDA_TRY(current.library().MemcpyDtoHAsync(
        buffer.data, src + done, piece, stream));
    HETGPU_CUDA_TRY(Chain(current, buffer.filled, stream, helper_));
    HETGPU_CUDA_TRY(host_work.Enqueue(
        current, helper_, [to = to + done, from = buffer.data, piece] {
          CopyOut(to, from, piece);
        }));
    HETGPU_CUDA_TRY(RecordFree(current, helper_, buffer));
    done += piece;
  }
  // Pieces are drained in order.
  return Chain(current, start_, helper_, stream);
}

void Staging::Return(const Current& current) {
  if (buffers_.empty()) return;
  arena_.TakeBack(current, std::exchange(buffers_, {}));
}

void Staging::Release(const Current& current) {
  Return(current);
  if (start_ != nullptr) current.library().EventDestroy(start_);
  if (helper_ != nullptr) current.library().StreamDestroy(helper_);
  start_ = nullptr;
  helper_ = nullptr;
}

void Staging::Forget() {
  buffers_.clear();
  start_ = nullptr;
  helper_ = nullptr;
}

}  // namespace hetgpu::cuda
