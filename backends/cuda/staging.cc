#include "backends/cuda/staging.h"

#include <algorithm>
#include <cstring>

namespace hetgpu::cuda {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{4} << 20;

}  // namespace

CUresult Staging::Prepare(const Current& current) {
  if (buffer_ != nullptr) return CUDA_SUCCESS;
  return current.library().MemHostAlloc(&buffer_, kPieceBytes, 0);
}

CUresult Staging::CopyToDevice(const Current& current, CUstream stream,
                               HostWork& host_work, uint64_t dst,
                               const void* src, uint64_t bytes) {
  CUresult result = Prepare(current);
  const char* from = static_cast<const char*>(src);
  for (uint64_t done = 0; result == CUDA_SUCCESS && done < bytes;) {
    const uint64_t piece = std::min(kPieceBytes, bytes - done);
    result = host_work.Enqueue(
        current, stream, [to = buffer_, from = from + done, piece] {
          std::memcpy(to, from, piece);
        });
    if (result != CUDA_SUCCESS) break;
    result = current.library().MemcpyHtoDAsync(dst + done, buffer_, piece,
                                               stream);
    done += piece;
  }
  return result;
}

CUresult Staging::CopyFromDevice(const Current& current, CUstream stream,
                                 HostWork& host_work, void* dst, uint64_t src,
                                 uint64_t bytes) {
  CUresult result = Prepare(current);
  char* to = static_cast<char*>(dst);
  for (uint64_t done = 0; result == CUDA_SUCCESS && done < bytes;) {
    const uint64_t piece = std::min(kPieceBytes, bytes - done);
    result = current.library().MemcpyDtoHAsync(buffer_, src + done, piece,
                                               stream);
    if (result != CUDA_SUCCESS) break;
    result = host_work.Enqueue(current, stream,
                               [to = to + done, from = buffer_, piece] {
                                 std::memcpy(to, from, piece);
                               });
    done += piece;
  }
  return result;
}

void Staging::Release(const Current& current) {
  if (buffer_ != nullptr) current.library().MemFreeHost(buffer_);
  buffer_ = nullptr;
}

}  // namespace hetgpu::cuda
