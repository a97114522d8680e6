// A file descriptor that is closed when its owner goes.
#ifndef HETGPU_BACKENDS_COMMON_UNIQUE_FD_H_
#define HETGPU_BACKENDS_COMMON_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace hetgpu {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0) close(fd_);
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset() { *this = UniqueFd(); }

 private:
  int fd_ = -1;
};

}  // namespace hetgpu

#endif  // HETGPU_BACKENDS_COMMON_UNIQUE_FD_H_
