// The host's part of a copy of pageable memory behind other work of a stream.
//
// Host and device tell each other by two words of pinned memory how many pieces
// they have passed on: the device waits for one and writes the other in the turn
// of the stream (cuStreamWaitValue32), and one function of a second stream does
// the rest without calling the driver:
//
//   stream       | wait 1 | copy 0 | wait 2 | copy 1 | write 2 | wait 3 …
//   host function  copies 0, host = 1; copies 1, host = 2; … as device goes up
#ifndef HETGPU_BACKENDS_CUDA_QUEUED_COPY_H_
#define HETGPU_BACKENDS_CUDA_QUEUED_COPY_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "backends/common/host_copier.h"
#include "backends/cuda/context.h"

namespace hetgpu::cuda {

// The two words of a stream, in pinned memory: counts of pieces that go on from
// copy to copy and wrap around.
struct CopyProgress {
  alignas(64) std::atomic<uint32_t> host{0};    // filled or emptied
  alignas(64) std::atomic<uint32_t> device{0};  // taken or delivered
  // The context is gone: the device will not get further.
  std::atomic<bool> abandoned{false};

  // Memory of its own, pinned for the present context.
  static CUresult Create(const Current& current,
                         std::shared_ptr<CopyProgress>* progress);
  // Nothing uses it any more.
  CUresult Unpin(const Current& current);
};

class QueuedCopy {
 public:
  // The words start at `base`; there are `buffers` for the pieces of `copy`.
  QueuedCopy(std::unique_ptr<HostCopy> copy, size_t pieces, size_t buffers,
             std::shared_ptr<CopyProgress> progress, uint32_t base)
      : copy_(std::move(copy)),
        pieces_(pieces),
        buffers_(buffers),
        progress_(std::move(progress)),
        base_(base) {}

  // Run as host functions; return when everything is filled or emptied, or
  // nothing more can be.
  void Fill();
  void Drain();

  // For a copy that could not be enqueued to its end: from now on the caller's
  // memory is left alone, and the stream does not wait for the host.
  void Cancel();

 private:
  // Pieces that the device has passed on.
  uint32_t Delivered() const {
    return progress_->device.load(std::memory_order_acquire) - base_;
  }
  bool Stopped() const { return cancelled_ || progress_->abandoned; }
  // Counts pieces that were copied, from `*done` on. Copies a little, or gives
  // up time, where there are none.
  void Advance(uint32_t* done, int* idle);

  const std::unique_ptr<HostCopy> copy_;
  const size_t pieces_, buffers_;
  const std::shared_ptr<CopyProgress> progress_;
  const uint32_t base_;
  std::atomic<bool> cancelled_{false};
  std::mutex running_;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_QUEUED_COPY_H_
