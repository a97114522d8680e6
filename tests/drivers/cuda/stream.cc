// Streams, each with a thread of its own, what can be put on them, and events.
#include <chrono>
#include <cstring>
#include <memory>

#include "tests/drivers/cuda/state.h"

namespace hetgpu::cuda::fake {
namespace {

void* Pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

uint64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Serve(CUstream stream) {
  State& state = Get();
  std::unique_lock<std::mutex> lock(state.mutex);
  for (;;) {
    state.changed.wait(
        lock, [&] { return stream->ending || !stream->commands.empty(); });
    if (stream->commands.empty()) return;
    const auto command = std::move(stream->commands.front());
    stream->commands.pop_front();
    // Nothing runs in a context that has failed.
    if (state.sticky == CUDA_SUCCESS) {
      stream->busy = true;
      lock.unlock();
      const CUresult result = command();
      lock.lock();
      stream->busy = false;
      if (result != CUDA_SUCCESS) state.sticky = result;
    }
    state.changed.notify_all();
  }
}

bool IsIdle(CUstream stream) {
  return stream->commands.empty() && !stream->busy;
}

// Needs the mutex.
bool IsValid(CUstream stream) {
  return Get().streams.count(stream) != 0 &&
         stream->context == CurrentContext();
}

template <typename T>
CUresult Set(const char* function, CUdeviceptr dst, size_t pitch, T value,
             size_t width, size_t height, CUstream stream) {
  FAKE_ENTER(function, true);
  if (dst % sizeof(T) != 0 ||
      !IsAccessible(dst, (height - 1) * pitch + width * sizeof(T))) {
    return Misuse(function);
  }
  return Push(function, stream, [=] {
    for (size_t y = 0; y < height; ++y) {
      T* row = static_cast<T*>(Pointer(dst + y * pitch));
      for (size_t x = 0; x < width; ++x) {
        __atomic_store_n(row + x, value, __ATOMIC_RELAXED);
      }
    }
    return CUresult{CUDA_SUCCESS};
  });
}

// Streams may poll a word that another writes.
void CopyBytes(void* dst, const void* src, size_t bytes) {
  if (bytes != sizeof(uint32_t)) {
    std::memcpy(dst, src, bytes);
    return;
  }
  const uint32_t word = __atomic_load_n(static_cast<const uint32_t*>(src),
                                        __ATOMIC_RELAXED);
  std::memcpy(dst, &word, sizeof(word));
}

CUresult Copy(const char* function, void* dst, const void* src, size_t bytes,
              uint64_t device_address, CUstream stream) {
  if (!IsAccessible(device_address, bytes) &&
      !IsGlobal(device_address, bytes)) {
    return Misuse(function);
  }
  return Push(function, stream, [=] {
    CopyBytes(dst, src, bytes);
    return CUresult{CUDA_SUCCESS};
  });
}

}  // namespace

CUresult Push(const char* function, CUstream stream,
              std::function<CUresult()> command) {
  if (!IsValid(stream)) return Misuse(function);
  stream->commands.push_back(std::move(command));
  Get().changed.notify_all();
  return CUDA_SUCCESS;
}

void EndStream(CUstream stream, std::unique_lock<std::mutex>& lock) {
  stream->ending = true;
  Get().changed.notify_all();
  lock.unlock();
  stream->thread.join();
  lock.lock();
  Get().streams.erase(stream);
  delete stream;
}

CUresult StreamCreate(CUstream* stream, unsigned flags) {
  FAKE_ENTER("cuStreamCreate", true);
  *stream = new CUstream_st;
  (*stream)->context = CurrentContext();
  (*stream)->thread = std::thread(Serve, *stream);
  Get().streams.insert(*stream);
  return CUDA_SUCCESS;
}

CUresult StreamDestroy(CUstream stream) {
  FAKE_ENTER("cuStreamDestroy_v2", true);
  if (!IsValid(stream)) return Misuse("cuStreamDestroy_v2");
  EndStream(stream, lock);
  return CUDA_SUCCESS;
}

CUresult StreamSynchronize(CUstream stream) {
  FAKE_ENTER("cuStreamSynchronize", true);
  if (!IsValid(stream)) return Misuse("cuStreamSynchronize");
  Get().changed.wait(lock, [&] { return IsIdle(stream); });
  return Get().sticky;
}

CUresult StreamQuery(CUstream stream) {
  FAKE_ENTER("cuStreamQuery", true);
  if (!IsValid(stream)) return Misuse("cuStreamQuery");
  return IsIdle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult StreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  FAKE_ENTER("cuStreamWaitEvent", true);
  if (Get().events.count(event) == 0) return Misuse("cuStreamWaitEvent");
  return Push("cuStreamWaitEvent", stream, [event] {
    State& state = Get();
    std::unique_lock<std::mutex> waiting(state.mutex);
    state.changed.wait(waiting, [&] {
      return event->pending == 0 || state.sticky != CUDA_SUCCESS;
    });
    return CUresult{CUDA_SUCCESS};
  });
}

CUresult LaunchHostFunc(CUstream stream, CUhostFn function, void* user) {
  FAKE_ENTER("cuLaunchHostFunc", true);
  return Push("cuLaunchHostFunc", stream, [=] {
    function(user);
    return CUresult{CUDA_SUCCESS};
  });
}

CUresult MemcpyHtoDAsync(CUdeviceptr dst, const void* src, size_t bytes,
                         CUstream stream) {
  FAKE_ENTER("cuMemcpyHtoDAsync_v2", true);
  return Copy("cuMemcpyHtoDAsync_v2", Pointer(dst), src, bytes, dst, stream);
}

CUresult MemcpyDtoHAsync(void* dst, CUdeviceptr src, size_t bytes,
                         CUstream stream) {
  FAKE_ENTER("cuMemcpyDtoHAsync_v2", true);
  return Copy("cuMemcpyDtoHAsync_v2", dst, Pointer(src), bytes, src, stream);
}

CUresult MemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes,
                         CUstream stream) {
  FAKE_ENTER("cuMemcpyDtoDAsync_v2", true);
  if (!IsAccessible(dst, bytes)) return Misuse("cuMemcpyDtoDAsync_v2");
  return Copy("cuMemcpyDtoDAsync_v2", Pointer(dst), Pointer(src), bytes, src,
              stream);
}

CUresult MemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context,
                         CUdeviceptr src, CUcontext src_context, size_t bytes,
                         CUstream stream) {
  constexpr char kName[] = "cuMemcpyPeerAsync";
  FAKE_ENTER(kName, true);
  if (Get().contexts.count(dst_context) + Get().contexts.count(src_context) !=
          2 ||
      !IsAccessible(dst, bytes)) {
    return Misuse(kName);
  }
  return Copy(kName, Pointer(dst), Pointer(src), bytes, src, stream);
}

CUresult MemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count,
                       CUstream stream) {
  return Set("cuMemsetD8Async", dst, 0, value, count, 1, stream);
}

CUresult MemsetD16Async(CUdeviceptr dst, unsigned short value, size_t count,
                        CUstream stream) {
  return Set("cuMemsetD16Async", dst, 0, value, count, 1, stream);
}

CUresult MemsetD32Async(CUdeviceptr dst, unsigned value, size_t count,
                        CUstream stream) {
  return Set("cuMemsetD32Async", dst, 0, value, count, 1, stream);
}

CUresult MemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned value,
                          size_t width, size_t height, CUstream stream) {
  return Set("cuMemsetD2D32Async", dst, pitch, value, width, height, stream);
}

CUresult EventCreate(CUevent* event, unsigned flags) {
  FAKE_ENTER("cuEventCreate", true);
  *event = new CUevent_st;
  (*event)->context = CurrentContext();
  (*event)->timing = (flags & kEventDisableTiming) == 0;
  Get().events.insert(*event);
  return CUDA_SUCCESS;
}

// Leaks the event itself: commands behind it may look at it.
CUresult EventDestroy(CUevent event) {
  FAKE_ENTER("cuEventDestroy_v2", true);
  if (Get().events.erase(event) == 0) return Misuse("cuEventDestroy_v2");
  return CUDA_SUCCESS;
}

CUresult EventRecord(CUevent event, CUstream stream) {
  FAKE_ENTER("cuEventRecord", true);
  if (Get().events.count(event) == 0) return Misuse("cuEventRecord");
  const CUresult result = Push("cuEventRecord", stream, [event] {
    std::lock_guard<std::mutex> reached(Get().mutex);
    event->time_ns = NowNs();
    --event->pending;
    Get().changed.notify_all();
    return CUresult{CUDA_SUCCESS};
  });
  if (result != CUDA_SUCCESS) return result;
  ++event->pending;
  event->recorded = true;
  return CUDA_SUCCESS;
}

CUresult EventQuery(CUevent event) {
  FAKE_ENTER("cuEventQuery", true);
  if (Get().events.count(event) == 0) return Misuse("cuEventQuery");
  return event->pending == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult EventSynchronize(CUevent event) {
  FAKE_ENTER("cuEventSynchronize", true);
  if (Get().events.count(event) == 0) return Misuse("cuEventSynchronize");
  Get().changed.wait(lock, [&] {
    return event->pending == 0 || Get().sticky != CUDA_SUCCESS;
  });
  return Get().sticky;
}

CUresult EventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  FAKE_ENTER("cuEventElapsedTime", true);
  const auto measures = [](CUevent event) {
    return Get().events.count(event) != 0 && event->timing &&
           event->recorded && event->context == CurrentContext();
  };
  if (!measures(start) || !measures(end)) return Misuse("cuEventElapsedTime");
  if (start->pending + end->pending != 0) return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(
      static_cast<double>(static_cast<int64_t>(end->time_ns - start->time_ns)) /
      1e6);
  return CUDA_SUCCESS;
}

}  // namespace hetgpu::cuda::fake
