#include "backends/cuda/staging.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "backends/common/host_copier.h"

namespace hetgpu::cuda {
namespace {

constexpr uint64_t kBufferBytes = uint64_t{8} << 20;
constexpr uint64_t kPieceUnit = uint64_t{64} << 10;
// Found on an H200 whose host has 16 cores.
constexpr uint64_t kSmallestIn = uint64_t{512} << 10;
constexpr uint64_t kSmallestOut = uint64_t{128} << 10;
constexpr size_t kBuffersIn = 8;
constexpr size_t kBuffersOut = 16;
constexpr int kHelpersIn = 14;
constexpr int kHelpersOut = 12;
// The device stops for a moment at every event, so there is one for several
// pieces.
constexpr size_t kPiecesPerEvent = 4;
// Where the processor cannot put data into the cache that all cores share: the
// device is slow to take what is still in those next to the cores. In the
// beginning that is all, so it is stored past them; later the device is so far
// behind that they have let go of it.
constexpr uint64_t kStreamedBytes = uint64_t{64} << 20;
// Less than this may be read by the caller at once.
constexpr uint64_t kCachedBytes = uint64_t{4} << 20;

struct Piece {
  uint64_t start = 0;
  uint64_t bytes = 0;
};
using Pieces = std::vector<Piece>;

// A piece of about `wish` bytes of those left.
uint64_t PieceBytes(uint64_t wish, uint64_t smallest, uint64_t left) {
  const uint64_t units = wish / kPieceUnit * kPieceUnit;
  return std::min(left, std::clamp(units, smallest, kBufferBytes));
}

// Into a device: larger and larger, for nothing goes on beside the first one.
Pieces CutIn(uint64_t bytes) {
  Pieces pieces;
  for (uint64_t done = 0; done < bytes; done += pieces.back().bytes) {
    pieces.push_back({done, PieceBytes(done / 5 * 3, kSmallestIn, bytes - done)});
  }
  return pieces;
}

// Out of a device: smaller and smaller towards the end.
Pieces CutOut(uint64_t bytes) {
  Pieces pieces;
  for (uint64_t done = 0; done < bytes; done += pieces.back().bytes) {
    const uint64_t left = bytes - done;
    pieces.push_back({done, PieceBytes(left / 20 * 9, kSmallestOut, left)});
  }
  return pieces;
}

// The host's part of a copy into a device: fills buffers in turn.
std::unique_ptr<HostCopy> Filling(const Pieces& pieces, const void* src,
                                  const std::vector<void*>& buffers) {
  const char* const from = static_cast<const char*>(src);
  std::vector<HostCopy::Piece> parts;
  for (const Piece& piece : pieces) {
    char* const to =
        static_cast<char*>(buffers[parts.size() % buffers.size()]);
    const bool cached = !HasSharedStores() && piece.start >= kStreamedBytes;
    parts.push_back({to, from + piece.start, piece.bytes,
                     cached ? Stores::kCached : Stores::kShared});
  }
  return std::make_unique<HostCopy>(HostCopier::Get(), parts, kHelpersIn);
}

// Out of a device: empties them.
std::unique_ptr<HostCopy> Draining(const Pieces& pieces, void* dst,
                                   const std::vector<void*>& buffers) {
  char* const to = static_cast<char*>(dst);
  const uint64_t bytes = pieces.back().start + pieces.back().bytes;
  const Stores stores =
      bytes < kCachedBytes ? Stores::kCached : Stores::kStreaming;
  std::vector<HostCopy::Piece> parts;
  for (const Piece& piece : pieces) {
    const char* const from =
        static_cast<const char*>(buffers[parts.size() % buffers.size()]);
    parts.push_back({to + piece.start, from, piece.bytes, stores});
  }
  return std::make_unique<HostCopy>(HostCopier::Get(), parts, kHelpersOut);
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

CUresult Poll(const Current& current, CUevent event, bool* done) {
  const CUresult result = current.library().EventQuery(event);
  *done = result == CUDA_SUCCESS;
  return result == CUDA_ERROR_NOT_READY ? CUresult{CUDA_SUCCESS} : result;
}

// Records the event on one stream and makes the other wait for it.
CUresult Chain(const Current& current, CUevent event, CUstream from,
               CUstream to) {
  const CUresult result = current.library().EventRecord(event, from);
  if (result != CUDA_SUCCESS) return result;
  return current.library().StreamWaitEvent(to, event, 0);
}

// The host's part of a copy that a stream's functions do. One that could not be
// enqueued to its end is cancelled: the caller's memory is not touched then.
class QueuedCopy {
 public:
  explicit QueuedCopy(std::unique_ptr<HostCopy> copy) : copy_(std::move(copy)) {}

  // What is not allowed yet may be copied from now on; returns when `piece`, if
  // there is one, has been.
  void Continue(size_t allowed, std::optional<size_t> piece) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (copy_ == nullptr) return;
    copy_->Allow(allowed);
    if (piece) copy_->Await(*piece);
  }
  void Cancel() {
    std::lock_guard<std::mutex> lock(mutex_);
    copy_ = nullptr;
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<HostCopy> copy_;
};

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

CUresult Staging::Prepare(const Current& current, size_t count,
                          std::vector<void*>* memory) {
  HETGPU_CUDA_TRY(arena_.Lend(current, count, &buffers_));
  memory->clear();
  for (const StagingBuffer& buffer : buffers_) {
    if (memory->size() < count) memory->push_back(buffer.data);
  }
  return CUDA_SUCCESS;
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
  const Library& library = current.library();
  const Pieces pieces = CutIn(bytes);
  std::vector<void*> memory;
  HETGPU_CUDA_TRY(
      Prepare(current, std::min(pieces.size(), kBuffersIn), &memory));
  const size_t count = memory.size();
  const auto copy = Filling(pieces, src, memory);
  copy->Allow(count);
  const size_t stride = std::clamp<size_t>(count / 2, 1, kPiecesPerEvent);
  size_t sent = 0, taken = 0;  // pieces: to the device, by the device
  while (sent < pieces.size()) {
    const size_t next_event = taken + stride;
    if (copy->IsCopied(sent)) {
      StagingBuffer& buffer = buffers_[sent % count];
      HETGPU_CUDA_TRY(library.MemcpyHtoDAsync(dst + pieces[sent].start,
                                              buffer.data, pieces[sent].bytes,
                                              stream));
      if (++sent % stride == 0) {
        HETGPU_CUDA_TRY(library.EventRecord(buffer.filled, stream));
      }
    } else if (sent >= next_event) {
      bool done = false;
      HETGPU_CUDA_TRY(
          Poll(current, buffers_[(next_event - 1) % count].filled, &done));
      if (done) taken = next_event;
      copy->Allow(taken + count);
      copy->Help();
    } else {
      copy->Help();
    }
  }
  for (size_t i = 0; i < count; ++i) {
    HETGPU_CUDA_TRY(RecordFree(current, stream, buffers_[i]));
  }
  return CUDA_SUCCESS;
}

CUresult Staging::CopyFromDeviceNow(const Current& current, CUstream stream,
                                    void* dst, uint64_t src, uint64_t bytes) {
  const Library& library = current.library();
  const Pieces pieces = CutOut(bytes);
  std::vector<void*> memory;
  HETGPU_CUDA_TRY(
      Prepare(current, std::min(pieces.size(), kBuffersOut), &memory));
  const size_t count = memory.size();
  const auto copy = Draining(pieces, dst, memory);
  copy->Allow(0);
  size_t asked = 0, ready = 0, drained = 0;  // pieces
  while (drained < pieces.size()) {
    if (asked < pieces.size() && asked < drained + count) {
      StagingBuffer& buffer = buffers_[asked % count];
      HETGPU_CUDA_TRY(library.MemcpyDtoHAsync(buffer.data,
                                              src + pieces[asked].start,
                                              pieces[asked].bytes, stream));
      HETGPU_CUDA_TRY(library.EventRecord(buffer.filled, stream));
      ++asked;
    } else if (drained < ready && copy->IsCopied(drained)) {
      ++drained;
    } else {
      if (ready < asked) {
        bool done = false;
        HETGPU_CUDA_TRY(Poll(current, buffers_[ready % count].filled, &done));
        if (done) ++ready;
        copy->Allow(ready);
      }
      copy->Help();
    }
  }
  for (StagingBuffer& buffer : buffers_) buffer.used = false;
  return CUDA_SUCCESS;
}

CUresult Staging::CopyToDevice(const Current& current, CUstream stream,
                               HostWork& host_work, uint64_t dst,
                               const void* src, uint64_t bytes) {
  const Pieces pieces = CutIn(bytes);
  std::vector<void*> memory;
  HETGPU_CUDA_TRY(
      Prepare(current, std::min(pieces.size(), kBuffersIn), &memory));
  HETGPU_CUDA_TRY(PrepareHelper(current, stream));
  const auto copy =
      std::make_shared<QueuedCopy>(Filling(pieces, src, memory));
  const size_t count = memory.size();
  const auto enqueue = [&](size_t i, size_t* allowed) -> CUresult {
    // Those that follow are filled while the host function waits for this one.
    const size_t last = std::min(pieces.size(), i + count / 2 + 1);
    for (; *allowed < last; ++*allowed) {
      HETGPU_CUDA_TRY(
          DelayUntilFree(current, helper_, buffers_[*allowed % count]));
    }
    HETGPU_CUDA_TRY(host_work.Enqueue(
        current, helper_,
        [copy, allowed = *allowed, i] { copy->Continue(allowed, i); }));
    StagingBuffer& buffer = buffers_[i % count];
    HETGPU_CUDA_TRY(Chain(current, buffer.filled, helper_, stream));
    HETGPU_CUDA_TRY(current.library().MemcpyHtoDAsync(
        dst + pieces[i].start, buffer.data, pieces[i].bytes, stream));
    return RecordFree(current, stream, buffer);
  };
  CUresult result = CUDA_SUCCESS;
  size_t allowed = 0;
  for (size_t i = 0; i < pieces.size() && result == CUDA_SUCCESS; ++i) {
    result = enqueue(i, &allowed);
  }
  if (result != CUDA_SUCCESS) copy->Cancel();
  return result;
}

CUresult Staging::CopyFromDevice(const Current& current, CUstream stream,
                                 HostWork& host_work, void* dst, uint64_t src,
                                 uint64_t bytes) {
  const Pieces pieces = CutOut(bytes);
  std::vector<void*> memory;
  HETGPU_CUDA_TRY(
      Prepare(current, std::min(pieces.size(), kBuffersOut), &memory));
  HETGPU_CUDA_TRY(PrepareHelper(current, stream));
  const auto copy =
      std::make_shared<QueuedCopy>(Draining(pieces, dst, memory));
  const size_t count = memory.size();
  const auto fill = [&](size_t i) -> CUresult {
    StagingBuffer& buffer = buffers_[i % count];
    HETGPU_CUDA_TRY(DelayUntilFree(current, stream, buffer));
    HETGPU_CUDA_TRY(current.library().MemcpyDtoHAsync(
        buffer.data, src + pieces[i].start, pieces[i].bytes, stream));
    return Chain(current, buffer.filled, stream, helper_);
  };
  const auto drain = [&](size_t allowed, std::optional<size_t> piece) {
    HETGPU_CUDA_TRY(host_work.Enqueue(
        current, helper_,
        [copy, allowed, piece] { copy->Continue(allowed, piece); }));
    return piece ? RecordFree(current, helper_, buffers_[*piece % count])
                 : CUresult{CUDA_SUCCESS};
  };
  // A host function waits for the piece before the one that it is called for, so
  // that threads go from piece to piece.
  const size_t lag = count > 1 ? 1 : 0;
  CUresult result = CUDA_SUCCESS;
  for (size_t i = 0; i < pieces.size() + lag && result == CUDA_SUCCESS; ++i) {
    if (i < pieces.size()) result = fill(i);
    if (result != CUDA_SUCCESS) break;
    result = drain(std::min(i + 1, pieces.size()),
                   i < lag ? std::nullopt : std::optional<size_t>(i - lag));
  }
  // Pieces are drained in order.
  if (result == CUDA_SUCCESS) result = Chain(current, start_, helper_, stream);
  if (result != CUDA_SUCCESS) copy->Cancel();
  return result;
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
