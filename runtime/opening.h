// One opening of a device: what a context works on until it moves to another.
//
//   Context ──────────► Opening 2
//   Stream, Event, Function, ModuleState ─► (perhaps still) Opening 1
//
// Each object made on a device keeps its opening alive, and makes what it needs
// anew when the context has moved: at its next use, not at the move. A move is
// nothing but another Opening in the context; who moves the memory, and why the
// context moves, is none of its business.
#ifndef HETGPU_RUNTIME_OPENING_H_
#define HETGPU_RUNTIME_OPENING_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "backends/common/driver.h"

namespace hetgpu::runtime {

// Threads: any.
class Opening : public std::enable_shared_from_this<Opening> {
 public:
  explicit Opening(std::unique_ptr<hetgpu::Device> device)
      : device_(std::move(device)) {}

  hetgpu::Device& device() { return *device_; }

  // An object of the device that keeps it open.
  template <typename T>
  std::shared_ptr<T> Own(std::unique_ptr<T> object) {
    return std::shared_ptr<T>(
        object.release(), [self = shared_from_this()](T* raw) { delete raw; });
  }

  // What became of everything here when the context moved on, for people; ""
  // before.
  std::string account() const {
    std::lock_guard lock(mutex_);
    return account_;
  }
  void SetAccount(std::string account) {
    std::lock_guard lock(mutex_);
    account_ = std::move(account);
  }

 private:
  const std::unique_ptr<hetgpu::Device> device_;
  mutable std::mutex mutex_;
  std::string account_;
};

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_OPENING_H_
