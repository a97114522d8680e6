#include "backends/cuda/queued_copy.h"

#include <chrono>
#include <new>
#include <thread>

namespace hetgpu::cuda {
namespace {

// About ten milliseconds: the device is busy with others' copies.
constexpr int kIdleRounds = 100000;

}  // namespace

CUresult CopyProgress::Create(const Current& current,
                              std::shared_ptr<CopyProgress>* progress) {
  constexpr std::align_val_t kPage{4096};
  void* const memory = ::operator new(sizeof(CopyProgress), kPage);
  std::shared_ptr<CopyProgress> made(
      new (memory) CopyProgress, [=](CopyProgress* words) {
        words->~CopyProgress();
        ::operator delete(static_cast<void*>(words), kPage);
      });
  const CUresult result = current.library().MemHostRegister(
      made.get(), sizeof(CopyProgress), kHostPortable);
  if (result == CUDA_SUCCESS) *progress = std::move(made);
  return result;
}

CUresult CopyProgress::Unpin(const Current& current) {
  return current.library().MemHostUnregister(this);
}

void QueuedCopy::Advance(uint32_t* done, int* idle) {
  if (copy_->IsCopied(*done)) {
    *idle = 0;
    progress_->host.store(base_ + ++*done, std::memory_order_release);
  } else {
    copy_->Help();
    if (++*idle > kIdleRounds) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

void QueuedCopy::Fill() {
  std::lock_guard<std::mutex> lock(running_);
  int idle = 0;
  for (uint32_t filled = 0; filled < pieces_ && !Stopped();) {
    copy_->Allow(buffers_ + Delivered());
    Advance(&filled, &idle);
  }
}

void QueuedCopy::Drain() {
  std::lock_guard<std::mutex> lock(running_);
  int idle = 0;
  for (uint32_t emptied = 0; emptied < pieces_ && !Stopped();) {
    copy_->Allow(Delivered());
    Advance(&emptied, &idle);
  }
}

void QueuedCopy::Cancel() {
  cancelled_ = true;
  std::lock_guard<std::mutex> nothing_runs(running_);
  progress_->host.store(base_ + static_cast<uint32_t>(pieces_),
                        std::memory_order_release);
}

}  // namespace hetgpu::cuda
