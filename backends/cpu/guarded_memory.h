// Committed memory between two inaccessible guards: for stacks and for shared
// memory, where running over an end must fault.
#ifndef HETGPU_BACKENDS_CPU_GUARDED_MEMORY_H_
#define HETGPU_BACKENDS_CPU_GUARDED_MEMORY_H_

#include <cstddef>
#include <cstdint>

namespace hetgpu::cpu {

// Bytes of the guard on each side; larger than frames that skip a page.
inline constexpr size_t kGuardBytes = 64 * 1024;

// Guards that wild addresses of a kernel cannot jump: of shared memory, whose
// addresses have 32 bits; of the one stack on which threads run in turn; and of
// the many stacks of fibers, where address space bounds what a guard can be.
inline constexpr size_t kSharedGuardBytes = (size_t{4} << 30) + kGuardBytes;
inline constexpr size_t kStraightStackGuardBytes = size_t{16} << 30;
inline constexpr size_t kFiberStackGuardBytes = size_t{1} << 30;

inline constexpr size_t kPageBytes = 4096;

inline constexpr size_t RoundUp(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}

class GuardedMemory {
 public:
  GuardedMemory() = default;
  ~GuardedMemory();
  GuardedMemory(GuardedMemory&& other) noexcept;
  GuardedMemory& operator=(GuardedMemory&& other) noexcept;

  // `bytes` rounded up to pages, zeroed, page-aligned; `guard`, a multiple of
  // the page, on each side. An empty object when the system refuses.
  static GuardedMemory Map(size_t bytes, size_t guard = kGuardBytes);

  explicit operator bool() const { return low_ != nullptr; }
  uint8_t* low() const { return low_; }
  uint8_t* high() const { return low_ + bytes_; }
  size_t bytes() const { return bytes_; }

 private:
  uint8_t* low_ = nullptr;
  size_t bytes_ = 0;
  size_t guard_ = 0;
};

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_GUARDED_MEMORY_H_
