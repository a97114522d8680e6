#include "backends/remote/ring.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/remote/protocol.h"

namespace hetgpu::remote {
namespace {

constexpr uint64_t kRingBytes = kSlots * kSlotBytes;

absl::StatusOr<void*> MapRing(int fd) {
  void* const memory = mmap(nullptr, kRingBytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED, fd, 0);
  if (memory != MAP_FAILED) return memory;
  return absl::ResourceExhaustedError(absl::StrCat(
      "remote: cannot map ", kRingBytes, " bytes: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<Ring> Ring::Create(UniqueFd* handle) {
  UniqueFd file(
      memfd_create("hetgpu-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid() || ftruncate(file.get(), kRingBytes) != 0 ||
      fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "remote: cannot make shared memory: ", std::strerror(errno)));
  }
  const absl::StatusOr<void*> memory = MapRing(file.get());
  if (!memory.ok()) return memory.status();
  *handle = std::move(file);
  return Ring(*memory);
}

absl::StatusOr<Ring> Ring::Open(const UniqueFd& handle) {
  struct stat info = {};
  const int seals = fcntl(handle.get(), F_GET_SEALS);
  if (fstat(handle.get(), &info) != 0 || seals < 0 ||
      (seals & F_SEAL_SHRINK) == 0 ||
      info.st_size != static_cast<off_t>(kRingBytes)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "remote: ring is no sealed memory of ", kRingBytes, " bytes"));
  }
  const absl::StatusOr<void*> memory = MapRing(handle.get());
  if (!memory.ok()) return memory.status();
  return Ring(*memory);
}

Ring::Ring(Ring&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)) {}

Ring::~Ring() {
  if (memory_ != nullptr) munmap(memory_, kRingBytes);
}

char* Ring::Slot(uint64_t use) const {
  return static_cast<char*>(memory_) + use % kSlots * kSlotBytes;
}

}  // namespace hetgpu::remote
