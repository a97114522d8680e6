// Copying host memory with a say in where what is written ends up.
#ifndef HETGPU_BACKENDS_COMMON_HOST_STORES_H_
#define HETGPU_BACKENDS_COMMON_HOST_STORES_H_

#include <cstddef>

namespace hetgpu {

enum class Stores {
  kCached,     // as memcpy
  kStreaming,  // past the caches: for what nobody reads soon
  // Into the cache that all cores share: for what a device reads soon. It is slow
  // to take what is still in the caches next to the cores. Where the processor
  // cannot, as kStreaming.
  kShared,
};

// memcpy.
void CopyBytes(char* dst, const char* src, size_t bytes, Stores stores);

// Whether kShared is what it says here.
bool HasSharedStores();

}  // namespace hetgpu

#endif  // HETGPU_BACKENDS_COMMON_HOST_STORES_H_
