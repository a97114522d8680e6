#include "backends/cuda/staging.h"

#include <algorithm>
#include <utility>

#include "backends/common/host_copier.h"

namespace hetgpu::cuda {
namespace {

constexpr uint64_t kBufferBytes = uint64_t{8} << 20;
constexpr uint64_t kPieceUnit = uint64_t{64} << 10;
// Found on an H200 whose host has 16 cores.
constexpr uint64_t kSmallestIn = uint64_t{1} << 20;
constexpr uint64_t kSmallestOut = uint64_t{512} << 10;
constexpr size_t kBuffersIn = 6;
constexpr size_t kBuffersInQueued = 8;
constexpr size_t kBuffersOut = 16;
// Queued copies have two threads more at work: who waits, and a host function.
// Out of a device half the threads keep up; one that loses its core for a
// moment holds up all.
constexpr int kHelpersIn = 15;
constexpr int kHelpersInQueued = 14;
constexpr int kHelpersOut = 8;
// Into a device: what is still in the caches. Out of it: what no core has read
// lately, for the device has to take that out of the cores' caches first.
constexpr auto kIn = StagingArena::Order::kNewestFirst;
constexpr auto kOut = StagingArena::Order::kOldestFirst;
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
    pieces.push_back(
        {done, PieceBytes(done / 20 * 9, kSmallestIn, bytes - done)});
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
                                  const std::vector<void*>& buffers,
                                  int helpers) {
  const char* const from = static_cast<const char*>(src);
  std::vector<HostCopy::Piece> parts;
  for (const Piece& piece : pieces) {
    char* const to =
        static_cast<char*>(buffers[parts.size() % buffers.size()]);
    const bool cached = !HasSharedStores() && piece.start >= kStreamedBytes;
    parts.push_back({to, from + piece.start, piece.bytes,
                     cached ? Stores::kCached : Stores::kShared});
  }
  return std::make_unique<HostCopy>(HostCopier::Get(), parts, helpers);
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

CUresult Poll(const Current& current, CUevent event, bool* done) {
  const CUresult result = current.library().EventQuery(event);
  *done = result == CUDA_SUCCESS;
  return result == CUDA_ERROR_NOT_READY ? CUresult{CUDA_SUCCESS} : result;
}

// What a stream of an abandoned context may still write to stays for good.
void Keep(std::shared_ptr<CopyProgress> progress) {
  static std::mutex mutex;
  static auto* const kept = new std::vector<std::shared_ptr<CopyProgress>>;
  std::lock_guard<std::mutex> lock(mutex);
  kept->push_back(std::move(progress));
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
  HETGPU_CUDA_TRY(library.EventCreate(&buffer->moved, kEventDisableTiming));
  const CUresult result =
      library.MemHostAlloc(&buffer->data, kBufferBytes, kHostPortable);
  if (result != CUDA_SUCCESS) library.EventDestroy(buffer->moved);
  return result;
}

void StagingArena::Follow(const Current& current) {
  if (generation_ == current.generation()) return;
  generation_ = current.generation();
  idle_.clear();
}

CUresult StagingArena::Lend(const Current& current, size_t count, Order order,
                            std::vector<StagingBuffer>* buffers) {
  std::lock_guard<std::mutex> lock(mutex_);
  Follow(current);
  while (buffers->size() < count) {
    StagingBuffer buffer;
    if (!idle_.empty() && order == Order::kOldestFirst) {
      buffer = idle_.front();
      idle_.pop_front();
    } else if (!idle_.empty()) {
      buffer = idle_.back();
      idle_.pop_back();
    } else {
      const CUresult result = Add(current, &buffer);
      if (result != CUDA_SUCCESS) {
        return buffers->empty() ? result : CUresult{CUDA_SUCCESS};
      }
    }
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
    current.library().EventDestroy(buffer.moved);
    current.library().MemFreeHost(buffer.data);
  }
  idle_.clear();
}

CUresult Staging::Prepare(const Current& current, size_t count,
                          StagingArena::Order order,
                          std::vector<void*>* memory) {
  HETGPU_CUDA_TRY(arena_.Lend(current, count, order, &buffers_));
  memory->clear();
  for (const StagingBuffer& buffer : buffers_) {
    if (memory->size() < count) memory->push_back(buffer.data);
  }
  return CUDA_SUCCESS;
}

CUresult Staging::PrepareQueued(const Current& current, CUstream stream) {
  const Library& library = current.library();
  if (helper_ == nullptr) {
    HETGPU_CUDA_TRY(library.StreamCreate(&helper_, kStreamNonBlocking));
  }
  if (start_ == nullptr) {
    HETGPU_CUDA_TRY(library.EventCreate(&start_, kEventDisableTiming));
  }
  if (progress_ == nullptr) {
    HETGPU_CUDA_TRY(CopyProgress::Create(current, &progress_));
  }
  // An earlier copy may have ended early.
  HETGPU_CUDA_TRY(library.StreamWriteValue32(stream, DeviceWord(), base_, 0));
  return Chain(current, start_, stream, helper_);
}

CUresult Staging::CopyToDeviceNow(const Current& current, CUstream stream,
                                  uint64_t dst, const void* src,
                                  uint64_t bytes) {
  const Library& library = current.library();
  const Pieces pieces = CutIn(bytes);
  std::vector<void*> memory;
  HETGPU_CUDA_TRY(
      Prepare(current, std::min(pieces.size(), kBuffersIn), kIn, &memory));
  const size_t count = memory.size();
  const auto copy = Filling(pieces, src, memory, kHelpersIn);
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
        HETGPU_CUDA_TRY(library.EventRecord(buffer.moved, stream));
      }
    } else if (sent >= next_event) {
      bool done = false;
      HETGPU_CUDA_TRY(
          Poll(current, buffers_[(next_event - 1) % count].moved, &done));
      if (done) taken = next_event;
      copy->Allow(taken + count);
      copy->Help();
    } else {
      copy->Help();
    }
  }
  return CUDA_SUCCESS;
}

CUresult Staging::CopyFromDeviceNow(const Current& current, CUstream stream,
                                    void* dst, uint64_t src, uint64_t bytes) {
  const Library& library = current.library();
  const Pieces pieces = CutOut(bytes);
  std::vector<void*> memory;
  HETGPU_CUDA_TRY(
      Prepare(current, std::min(pieces.size(), kBuffersOut), kOut, &memory));
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
      HETGPU_CUDA_TRY(library.EventRecord(buffer.moved, stream));
      ++asked;
    } else if (drained < ready && copy->IsCopied(drained)) {
      ++drained;
    } else {
      if (ready < asked) {
        bool done = false;
        HETGPU_CUDA_TRY(Poll(current, buffers_[ready % count].moved, &done));
        if (done) ++ready;
        copy->Allow(ready);
      }
      copy->Help();
    }
  }
  return CUDA_SUCCESS;
}

CUresult Staging::CopyToDevice(const Current& current, CUstream stream,
                               HostWork& host_work, uint64_t dst,
                               const void* src, uint64_t bytes) {
  const Library& library = current.library();
  const Pieces pieces = CutIn(bytes);
  std::vector<void*> memory;
  HETGPU_CUDA_TRY(Prepare(
      current, std::min(pieces.size(), kBuffersInQueued), kIn, &memory));
  HETGPU_CUDA_TRY(PrepareQueued(current, stream));
  const size_t count = memory.size();
  const auto copy = std::make_shared<QueuedCopy>(
      Filling(pieces, src, memory, kHelpersInQueued), pieces.size(), count,
      progress_, base_);
  const uint32_t base = std::exchange(base_, base_ + pieces.size());
  HETGPU_CUDA_TRY(
      host_work.Enqueue(current, helper_, [copy] { copy->Fill(); }));
  const size_t stride = std::clamp<size_t>(count / 2, 1, kPiecesPerEvent);
  const auto take = [&](size_t i) -> CUresult {
    HETGPU_CUDA_TRY(library.StreamWaitValue32(stream, HostWord(), base + i + 1,
                                              kStreamWaitValueGeq));
    HETGPU_CUDA_TRY(library.MemcpyHtoDAsync(dst + pieces[i].start,
                                            memory[i % count], pieces[i].bytes,
                                            stream));
    if ((i + 1) % stride != 0) return CUDA_SUCCESS;
    return library.StreamWriteValue32(stream, DeviceWord(), base + i + 1, 0);
  };
  CUresult result = CUDA_SUCCESS;
  for (size_t i = 0; i < pieces.size() && result == CUDA_SUCCESS; ++i) {
    result = take(i);
  }
  if (result != CUDA_SUCCESS) copy->Cancel();
  return result;
}

CUresult Staging::CopyFromDevice(const Current& current, CUstream stream,
                                 HostWork& host_work, void* dst, uint64_t src,
                                 uint64_t bytes) {
  const Library& library = current.library();
  const Pieces pieces = CutOut(bytes);
  std::vector<void*> memory;
  HETGPU_CUDA_TRY(
      Prepare(current, std::min(pieces.size(), kBuffersOut), kOut, &memory));
  HETGPU_CUDA_TRY(PrepareQueued(current, stream));
  const size_t count = memory.size();
  const auto copy = std::make_shared<QueuedCopy>(
      Draining(pieces, dst, memory), pieces.size(), count, progress_, base_);
  const uint32_t base = std::exchange(base_, base_ + pieces.size());
  HETGPU_CUDA_TRY(
      host_work.Enqueue(current, helper_, [copy] { copy->Drain(); }));
  const auto await = [&](size_t emptied) {
    return library.StreamWaitValue32(stream, HostWord(), base + emptied,
                                     kStreamWaitValueGeq);
  };
  const auto deliver = [&](size_t i) -> CUresult {
    if (i >= count) HETGPU_CUDA_TRY(await(i - count + 1));
    HETGPU_CUDA_TRY(library.MemcpyDtoHAsync(memory[i % count],
                                            src + pieces[i].start,
                                            pieces[i].bytes, stream));
    return library.StreamWriteValue32(stream, DeviceWord(), base + i + 1, 0);
  };
  CUresult result = CUDA_SUCCESS;
  for (size_t i = 0; i < pieces.size() && result == CUDA_SUCCESS; ++i) {
    result = deliver(i);
  }
  if (result == CUDA_SUCCESS) result = await(pieces.size());
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
  if (progress_ != nullptr && progress_->Unpin(current) == CUDA_SUCCESS) {
    progress_ = nullptr;
  }
}

void Staging::Forget() {
  buffers_.clear();
  start_ = nullptr;
  helper_ = nullptr;
  if (progress_ == nullptr) return;
  progress_->abandoned = true;
  Keep(std::exchange(progress_, nullptr));
}

}  // namespace hetgpu::cuda
