// Streams, each with a thread of its own, and what can be put on them.
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "tests/drivers/cuda/processor.h"
#include "tests/drivers/cuda/state.h"

namespace hetgpu::cuda::fake {
namespace {

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
      // The first failure is the context's, also of commands under way.
      if (state.sticky == CUDA_SUCCESS) state.sticky = result;
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

// What becomes of commands whose memory was unmapped behind them.
constexpr CUresult kGone = CUDA_ERROR_ILLEGAL_ADDRESS;

bool IsStillAccessible(CUdevice device, uint64_t address, uint64_t bytes) {
  std::lock_guard<std::mutex> lock(Get().mutex);
  return IsAccessible(device, address, bytes);
}

template <typename T>
CUresult Set(const char* function, CUdeviceptr dst, size_t pitch, T value,
             size_t width, size_t height, CUstream stream) {
  FAKE_ENTER(function, true);
  const CUdevice device = CurrentContext()->device;
  const uint64_t bytes = (height - 1) * pitch + width * sizeof(T);
  if (dst % sizeof(T) != 0 || !IsAccessible(device, dst, bytes)) {
    return Misuse(function);
  }
  return Push(function, stream, [=] {
    if (!IsStillAccessible(device, dst, bytes)) return kGone;
    for (size_t y = 0; y < height; ++y) {
      T* row = static_cast<T*>(HostPointer(device, dst + y * pitch));
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

// Memory of a device, or, without one, of the host.
struct Place {
  static constexpr CUdevice kHost = -1;
  CUdevice device;
  uint64_t address;
  void* pointer() const {
    return device == kHost ? reinterpret_cast<void*>(address)
                           : HostPointer(device, address);
  }
};

Place Host(const void* pointer) {
  return {Place::kHost, reinterpret_cast<uint64_t>(pointer)};
}

Place OnDevice(uint64_t address) { return {CurrentContext()->device, address}; }

CUresult Copy(const char* function, Place dst, Place src, size_t bytes,
              CUstream stream) {
  for (const Place& place : {dst, src}) {
    if (place.device == Place::kHost) {
      if (place.address == 0) return Misuse(function);
    } else if (!IsAccessible(place.device, place.address, bytes)) {
      return Misuse(function);
    }
  }
  return Push(function, stream, [=] {
    for (const Place& place : {dst, src}) {
      if (place.device != Place::kHost &&
          !IsStillAccessible(place.device, place.address, bytes)) {
        return kGone;
      }
    }
    CopyBytes(dst.pointer(), src.pointer(), bytes);
    return CUresult{CUDA_SUCCESS};
  });
}

}  // namespace

CUresult Push(const char* function, CUstream stream,
              std::function<CUresult()> command) {
  if (!IsValid(stream)) return Misuse(function);
  Append(stream, std::move(command));
  return CUDA_SUCCESS;
}

void Append(CUstream stream, std::function<CUresult()> command) {
  stream->commands.push_back(std::move(command));
  Get().changed.notify_all();
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
  Processor::Of(CurrentContext()->device).Flush();
  return Get().sticky;
}

CUresult StreamQuery(CUstream stream) {
  // As for launches, the driver finds the context by the stream.
  FAKE_ENTER("cuStreamQuery", stream == nullptr);
  if (Get().sticky != CUDA_SUCCESS) return Get().sticky;
  if (stream == nullptr) return CUDA_SUCCESS;  // holds nothing here
  if (Get().streams.count(stream) == 0 ||
      Get().contexts.count(stream->context) == 0) {
    return Misuse("cuStreamQuery");
  }
  return IsIdle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult StreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  FAKE_ENTER("cuStreamWaitEvent", true);
  if (Get().events.count(event) == 0) return Misuse("cuStreamWaitEvent");
  // For the last record so far; later ones do not matter.
  return Push("cuStreamWaitEvent", stream, [event, number = event->last] {
    State& state = Get();
    std::unique_lock<std::mutex> waiting(state.mutex);
    state.changed.wait(waiting, [&] {
      return event->not_reached.count(number) == 0 ||
             state.sticky != CUDA_SUCCESS;
    });
    return CUresult{CUDA_SUCCESS};
  });
}

namespace {

// A word of pinned memory that a stream waits for or writes.
std::atomic<uint32_t>* PinnedWord(CUdeviceptr address) {
  const auto& pinned = Get().pinned;
  auto range = pinned.upper_bound(address);
  if (range == pinned.begin() || address % sizeof(uint32_t) != 0) {
    return nullptr;
  }
  --range;
  if (address - range->first + sizeof(uint32_t) > range->second.bytes) {
    return nullptr;
  }
  return reinterpret_cast<std::atomic<uint32_t>*>(address);
}

}  // namespace

CUresult StreamWaitValue32(CUstream stream, CUdeviceptr address, uint32_t value,
                           unsigned flags) {
  FAKE_ENTER("cuStreamWaitValue32_v2", true);
  const auto* const word = PinnedWord(address);
  if (word == nullptr || flags != kStreamWaitValueGeq) {
    return Misuse("cuStreamWaitValue32_v2");
  }
  return Push("cuStreamWaitValue32_v2", stream, [=] {
    while (static_cast<int32_t>(word->load() - value) < 0) {
      {
        std::lock_guard<std::mutex> poll(Get().mutex);
        if (Get().sticky != CUDA_SUCCESS) break;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return CUresult{CUDA_SUCCESS};
  });
}

CUresult StreamWriteValue32(CUstream stream, CUdeviceptr address,
                            uint32_t value, unsigned flags) {
  FAKE_ENTER("cuStreamWriteValue32_v2", true);
  auto* const word = PinnedWord(address);
  if (word == nullptr || flags != 0) return Misuse("cuStreamWriteValue32_v2");
  return Push("cuStreamWriteValue32_v2", stream, [=] {
    word->store(value);
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
  return Copy("cuMemcpyHtoDAsync_v2", OnDevice(dst), Host(src), bytes, stream);
}

CUresult MemcpyDtoHAsync(void* dst, CUdeviceptr src, size_t bytes,
                         CUstream stream) {
  FAKE_ENTER("cuMemcpyDtoHAsync_v2", true);
  return Copy("cuMemcpyDtoHAsync_v2", Host(dst), OnDevice(src), bytes, stream);
}

CUresult MemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes,
                         CUstream stream) {
  FAKE_ENTER("cuMemcpyDtoDAsync_v2", true);
  return Copy("cuMemcpyDtoDAsync_v2", OnDevice(dst), OnDevice(src), bytes,
              stream);
}

CUresult MemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context,
                         CUdeviceptr src, CUcontext src_context, size_t bytes,
                         CUstream stream) {
  constexpr char kName[] = "cuMemcpyPeerAsync";
  FAKE_ENTER(kName, true);
  const auto& contexts = Get().contexts;
  if (contexts.count(dst_context) + contexts.count(src_context) != 2) {
    return Misuse(kName);
  }
  return Copy(kName, {dst_context->device, dst}, {src_context->device, src},
              bytes, stream);
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

}  // namespace hetgpu::cuda::fake
