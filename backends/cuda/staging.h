// Copies between a device and pageable host memory, by way of pinned buffers.
//
// The device reads and writes pinned memory at the rate of the link, pageable
// memory at a fraction of it. So a copy is cut into pieces that several threads
// move between the caller's memory and pinned buffers, while the device moves
// others between the buffers and its own memory.
//
//   Now     on an idle stream, in the caller's thread
//           host    | 0 | 1 | 2 | 3 |
//           device      | 0 | 1 | 2 | 3 |
//   behind  work that still runs: nothing waits but streams of this queue, whose
//           host functions do what the caller's thread does above, in turns with
//           the queue's own stream
//
// The first pieces into the device and the last ones out of it are small: nothing
// else goes on beside them. Which buffers may be filled or emptied is told as the
// device gets on, so that no thread waits for another between pieces.
#ifndef HETGPU_BACKENDS_CUDA_STAGING_H_
#define HETGPU_BACKENDS_CUDA_STAGING_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "backends/cuda/context.h"
#include "backends/cuda/host_work.h"
#include "backends/cuda/queued_copy.h"

namespace hetgpu::cuda {

// A pinned buffer.
struct StagingBuffer {
  void* data = nullptr;
  CUevent moved = nullptr;  // the device has emptied or filled it
};

// The pinned buffers of a device, lent to its queues. Thread-safe.
class StagingArena {
 public:
  enum class Order { kNewestFirst, kOldestFirst };  // by when they came back

  // Up to `count` buffers of the present context, at least one. Buffers are
  // pinned when first needed and kept.
  CUresult Lend(const Current& current, size_t count, Order order,
                std::vector<StagingBuffer>* buffers);
  // Everything enqueued with them is done.
  void TakeBack(const Current& current, std::vector<StagingBuffer> buffers);
  // The context goes away in the usual way.
  void Release(const Current& current);

 private:
  CUresult Add(const Current& current, StagingBuffer* buffer);
  // A lost context took its buffers along.
  void Follow(const Current& current);

  std::mutex mutex_;
  uint64_t generation_ = 0;
  std::deque<StagingBuffer> idle_;  // in the order in which they came back
};

// Of one queue, which guards it.
class Staging {
 public:
  explicit Staging(StagingArena& arena) : arena_(arena) {}
  ~Staging() { Forget(); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  // `stream` is idle.
  CUresult CopyToDeviceNow(const Current& current, CUstream stream,
                           uint64_t dst, const void* src, uint64_t bytes);
  CUresult CopyFromDeviceNow(const Current& current, CUstream stream, void* dst,
                             uint64_t src, uint64_t bytes);
  // Behind what `stream` holds, and before what follows.
  CUresult CopyToDevice(const Current& current, CUstream stream,
                        HostWork& host_work, uint64_t dst, const void* src,
                        uint64_t bytes);
  CUresult CopyFromDevice(const Current& current, CUstream stream,
                          HostWork& host_work, void* dst, uint64_t src,
                          uint64_t bytes);
  // Whether buffers are lent.
  bool IsInUse() const { return !buffers_.empty(); }
  // The stream is idle and the context present: the buffers go back.
  void Return(const Current& current);
  // The same, for the last time.
  void Release(const Current& current);
  // The context is gone; a runaway kernel's copies may still use the buffers.
  void Forget();

 private:
  // Lends buffers; `memory` is where the first `count` lie, or fewer.
  CUresult Prepare(const Current& current, size_t count,
                   StagingArena::Order order, std::vector<void*>* memory);
  // `helper_` starts when `stream` gets here.
  CUresult PrepareQueued(const Current& current, CUstream stream);
  // The words of `progress_`, as the device addresses them.
  CUdeviceptr HostWord() const {
    return reinterpret_cast<CUdeviceptr>(&progress_->host);
  }
  CUdeviceptr DeviceWord() const {
    return reinterpret_cast<CUdeviceptr>(&progress_->device);
  }

  StagingArena& arena_;
  std::vector<StagingBuffer> buffers_;
  CUstream helper_ = nullptr;  // runs the host's part behind other work
  CUevent start_ = nullptr;
  std::shared_ptr<CopyProgress> progress_;
  uint32_t base_ = 0;  // pieces of all queued copies so far
};

// Whether the device reaches these bytes of host memory by itself.
bool IsPinned(const Current& current, const void* memory, uint64_t bytes);

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_STAGING_H_
