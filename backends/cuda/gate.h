// A shared mutex for what is entered at every call and locked once in a lifetime:
// entering is one atomic operation, where that of the standard library takes as
// long as a launch is allowed to.
#ifndef HETGPU_BACKENDS_CUDA_GATE_H_
#define HETGPU_BACKENDS_CUDA_GATE_H_

#include <atomic>
#include <chrono>
#include <thread>

namespace hetgpu::cuda {

// For std::shared_lock and std::unique_lock. Who is inside may enter again.
class Gate {
 public:
  bool try_lock_shared() {
    int users = users_.load(std::memory_order_relaxed);
    while (users != kLocked) {
      if (users_.compare_exchange_weak(users, users + 1,
                                       std::memory_order_acquire,
                                       std::memory_order_relaxed)) {
        return true;
      }
    }
    return false;
  }
  void lock_shared() {
    while (!try_lock_shared()) Pause();
  }
  void unlock_shared() { users_.fetch_sub(1, std::memory_order_release); }

  bool try_lock() {
    int users = 0;
    return users_.compare_exchange_strong(users, kLocked,
                                          std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  // Waits until nobody is inside for a moment.
  void lock() {
    while (!try_lock()) Pause();
  }
  void unlock() { users_.store(0, std::memory_order_release); }

 private:
  static constexpr int kLocked = -1;

  static void Pause() {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }

  std::atomic<int> users_ = 0;
};

}  // namespace hetgpu::cuda

#endif  // HETGPU_BACKENDS_CUDA_GATE_H_
