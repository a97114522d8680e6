#include "bench/runner/shared_library.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hetgpu::bench {

SharedLibrary::SharedLibrary(void* handle, std::string path)
    : handle_(handle), path_(std::move(path)) {}

absl::StatusOr<SharedLibrary> SharedLibrary::Open(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return absl::UnavailableError(dlerror());
  return SharedLibrary(handle, path);
}

absl::Status SharedLibrary::Find(const char* symbol, void*& address) const {
  address = dlsym(handle_, symbol);
  if (address != nullptr) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(path_, " has no ", symbol));
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) return absl::UnavailableError(absl::StrCat("cannot read ", path));
  return std::move(text).str();
}

void* AllocateHost(uint64_t bytes) {
  constexpr uint64_t kHuge = uint64_t{2} << 20;
  const uint64_t alignment = bytes < kHuge ? 4096 : kHuge;
  const uint64_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const memory =
      std::aligned_alloc(alignment, std::max(rounded, alignment));
  if (memory != nullptr && bytes >= kHuge) {
    madvise(memory, rounded, MADV_HUGEPAGE);
  }
  return memory;
}

void FillHost(void* memory, uint64_t bytes, const void* pattern,
              uint64_t pattern_bytes) {
  if (pattern_bytes == 0) {
    std::memset(memory, 0, bytes);
    return;
  }
  for (uint64_t at = 0; at < bytes; at += pattern_bytes) {
    std::memcpy(static_cast<char*>(memory) + at, pattern,
                std::min(pattern_bytes, bytes - at));
  }
}

void FreeHost(void* memory) { std::free(memory); }

}  // namespace hetgpu::bench
