// Host memory and files: whole reads and writes without needless copies.
#ifndef HETGPU_TOOLS_COMMON_HOST_BYTES_H_
#define HETGPU_TOOLS_COMMON_HOST_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hetgpu::tools {

// A block of malloc memory that is not touched before it is written. Moves
// only. `offset` bytes at the start can be hidden, so that a file's header
// needs no copy of its data.
class HostBytes {
 public:
  HostBytes() = default;

  // ResourceExhausted when there is no memory: large blocks are compared with
  // AvailableMemory(), because the system promises more than it has and ends
  // the process when the promise is called in.
  static absl::StatusOr<HostBytes> Uninitialized(uint64_t size);

  // Drops the first `bytes` of what is visible.
  void Skip(uint64_t bytes) { offset_ += bytes; }
  // Keeps the first `size` visible bytes.
  void Truncate(uint64_t size) { size_ = offset_ + size; }
  // Grows or shrinks the block, keeping its content.
  absl::Status Resize(uint64_t size);

  uint8_t* data() { return data_.get() + offset_; }
  const uint8_t* data() const { return data_.get() + offset_; }
  uint64_t size() const { return size_ - offset_; }
  std::string_view view() const {
    return {reinterpret_cast<const char*>(data()), size()};
  }

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  std::unique_ptr<uint8_t[], Free> data_;
  uint64_t size_ = 0;
  uint64_t offset_ = 0;
};

// Bytes that this process may still touch, by the system and its control group;
// the largest number when neither can be read.
uint64_t AvailableMemory();

// The whole file; works for pipes. NotFound when it cannot be opened or read,
// DataLoss when it is larger than `max_bytes`.
absl::StatusOr<HostBytes> ReadFile(const std::string& path, uint64_t max_bytes);

// Writes `head` and then `body` as the whole content.
absl::Status WriteFile(const std::string& path, std::string_view head,
                       std::string_view body);

// `path` seen from `folder`, unless it is absolute or `folder` is empty.
std::string ResolvePath(std::string_view folder, std::string_view path);
// The part before the last slash, with the slash; empty when there is none.
std::string_view FolderOf(std::string_view path);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_COMMON_HOST_BYTES_H_
