// A library opened at run time, and the files that twins are made of.
#ifndef HETGPU_BENCH_RUNNER_SHARED_LIBRARY_H_
#define HETGPU_BENCH_RUNNER_SHARED_LIBRARY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace hetgpu::bench {

// Never closed: vendors' libraries do not survive it.
class SharedLibrary {
 public:
  // Unavailable, with the loader's words.
  static absl::StatusOr<SharedLibrary> Open(const std::string& path);

  // Sets `function` to the symbol; Unavailable when there is none.
  template <typename T>
  absl::Status Get(const char* symbol, T& function) const {
    void* address = nullptr;
    absl::Status status = Find(symbol, address);
    if (status.ok()) function = reinterpret_cast<T>(address);
    return status;
  }

 private:
  SharedLibrary(void* handle, std::string path);
  absl::Status Find(const char* symbol, void*& address) const;

  void* handle_;
  std::string path_;
};

absl::StatusOr<std::string> ReadFile(const std::string& path);

// Host memory of `bytes`, aligned to huge pages where it is that large and
// filled with repetitions of `pattern` (zeros when empty). Freed by FreeHost.
void* AllocateHost(uint64_t bytes);
void FillHost(void* memory, uint64_t bytes, const void* pattern,
              uint64_t pattern_bytes);
void FreeHost(void* memory);

}  // namespace hetgpu::bench

// Returns from the function with a status that is not OK.
#define BENCH_RETURN_IF_ERROR(expression)                               \
  do {                                                                  \
    if (absl::Status bench_status = (expression); !bench_status.ok()) { \
      return bench_status;                                              \
    }                                                                   \
  } while (false)

#endif  // HETGPU_BENCH_RUNNER_SHARED_LIBRARY_H_
