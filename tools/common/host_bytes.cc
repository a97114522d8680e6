#include "tools/common/host_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "tools/common/text.h"

namespace hetgpu::tools {
namespace {

constexpr uint64_t kHugePage = uint64_t{2} << 20;
// Blocks below this are not worth the question.
constexpr uint64_t kLargeBlock = uint64_t{256} << 20;
constexpr uint64_t kUnknown = ~uint64_t{0};

absl::Status FileError(std::string_view what, const std::string& path) {
  return absl::NotFoundError(
      Cat(what, " '", path, "': ", std::strerror(errno)));
}

absl::Status NoMemory(uint64_t size) {
  return absl::ResourceExhaustedError(
      Cat("out of host memory for ", size, " bytes"));
}

absl::Status WriteAll(int fd, std::string_view data, const std::string& path) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("cannot write", path);
    data.remove_prefix(static_cast<size_t>(n));
  }
  return absl::OkStatus();
}

absl::Status TooLarge(const std::string& path, uint64_t max_bytes) {
  return absl::DataLossError(
      Cat("'", path, "' is larger than ", max_bytes, " bytes"));
}

// Reads to the end of the file. `expected` is a hint: one byte more is asked
// for, so that a file of that size needs no growth.
absl::StatusOr<HostBytes> ReadAll(int fd, uint64_t expected,
                                  const std::string& path, uint64_t max_bytes) {
  auto bytes = HostBytes::Uninitialized(expected + 1);
  if (!bytes.ok()) return bytes.status();
  uint64_t used = 0;
  while (true) {
    const ssize_t n = ::read(fd, bytes->data() + used, bytes->size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError("cannot read", path);
    if (n == 0) break;
    used += static_cast<uint64_t>(n);
    if (used > max_bytes) return TooLarge(path, max_bytes);
    if (used == bytes->size()) {
      const uint64_t grown = std::min(used * 2, max_bytes + 1);
      if (auto s = bytes->Resize(std::max(grown, used + 1)); !s.ok()) return s;
    }
  }
  bytes->Truncate(used);
  return bytes;
}

// The number after `label` in a small file of the system; kUnknown without.
uint64_t ReadNumber(const char* path, const char* label) {
  char text[4096];
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return kUnknown;
  const size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[size] = '\0';
  const char* at = std::strstr(text, label);
  unsigned long long value = 0;
  if (at == nullptr) return kUnknown;
  at += std::strlen(label);
  return std::sscanf(at, "%llu", &value) == 1 ? value : kUnknown;
}

}  // namespace

uint64_t AvailableMemory() {
  uint64_t available = ReadNumber("/proc/meminfo", "MemAvailable:");
  if (available != kUnknown) available *= 1024;
  const uint64_t max = ReadNumber("/sys/fs/cgroup/memory.max", "");
  const uint64_t used = ReadNumber("/sys/fs/cgroup/memory.current", "");
  if (max == kUnknown || used == kUnknown) return available;
  return std::min(available, max > used ? max - used : 0);
}

absl::StatusOr<HostBytes> HostBytes::Uninitialized(uint64_t size) {
  if (size >= kLargeBlock && size > AvailableMemory()) return NoMemory(size);
  HostBytes result;
  if (size < kHugePage) {
    if (auto s = result.Resize(size); !s.ok()) return s;
    return result;
  }
  // A page fault per 4 KiB would cost more than the data itself.
  const uint64_t whole = (size + kHugePage - 1) / kHugePage * kHugePage;
  void* p = std::aligned_alloc(kHugePage, whole);
  if (p == nullptr) return NoMemory(size);
  (void)::madvise(p, whole, MADV_HUGEPAGE);
  result.data_.reset(static_cast<uint8_t*>(p));
  result.size_ = size;
  return result;
}

absl::Status HostBytes::Resize(uint64_t size) {
  // malloc(0) may be null, which would look like a failure.
  void* p = std::realloc(data_.get(), std::max<uint64_t>(offset_ + size, 1));
  if (p == nullptr) return NoMemory(size);
  (void)data_.release();
  data_.reset(static_cast<uint8_t*>(p));
  size_ = offset_ + size;
  return absl::OkStatus();
}

absl::StatusOr<HostBytes> ReadFile(const std::string& path,
                                   uint64_t max_bytes) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError("cannot open", path);
  absl::Cleanup close = [fd] { ::close(fd); };
  struct stat info {};
  if (::fstat(fd, &info) != 0) return FileError("cannot read", path);
  uint64_t expected = 1 << 16;
  if (S_ISREG(info.st_mode) && info.st_size > 0) {
    expected = static_cast<uint64_t>(info.st_size);
    if (expected > max_bytes) return TooLarge(path, max_bytes);
  }
  return ReadAll(fd, expected, path, max_bytes);
}

absl::Status WriteFile(const std::string& path, std::string_view head,
                       std::string_view body) {
  const int fd =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return FileError("cannot write", path);
  absl::Status status = WriteAll(fd, head, path);
  if (status.ok()) status = WriteAll(fd, body, path);
  // A full disk may be reported only here.
  if (::close(fd) != 0 && status.ok()) {
    status = FileError("cannot write", path);
  }
  return status;
}

std::string ResolvePath(std::string_view folder, std::string_view path) {
  if (!path.empty() && path[0] == '/') return std::string(path);
  return Cat(folder, path);
}

std::string_view FolderOf(std::string_view path) {
  return path.substr(0, path.rfind('/') + 1);
}

}  // namespace hetgpu::tools
