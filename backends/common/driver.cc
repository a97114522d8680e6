#include "backends/common/driver.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"

namespace hetgpu {

absl::StatusOr<void*> Device::AllocateHost(uint64_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("host memory: ", bytes, " bytes asked for: ",
                     std::strerror(errno)));
  }
  return memory;
}

void Device::FreeHost(void* memory, uint64_t bytes) { munmap(memory, bytes); }

}  // namespace hetgpu
