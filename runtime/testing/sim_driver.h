// Simulated devices for tests of unified memory: each has bytes of its own for
// what is mapped on it, and kernels that compute on them.
//
//   sim:0  host code reaches its memory, host functions may wait: like a CPU
//   sim:1  neither: like a GPU
//   sim:2, sim:3  the same, and share one space of addresses
//
// Kernels (u64 arguments, arrays of u64) and what is known of their accesses:
//   set(dst, n, value)         dst[i] = value + i; writes dst
//   mix(dst, src, n)           dst[i] = dst[i] * 3 + src[i] + 1
//   link(nodes, n)             a list of {next, value} with values 0 … n-1
//   walk(head, out)            *out = the sum of the list's values; reads what it
//                              finds in memory
//   bump(head)                 adds 1 to each value of the list; writes what it
//                              finds in memory
//   opaque(dst, n, value)      as set; nothing is known
//   gate(dst)                  waits until the test opens the gate; *dst = 1
//   fail(dst)                  fails
#ifndef HETGPU_RUNTIME_TESTING_SIM_DRIVER_H_
#define HETGPU_RUNTIME_TESTING_SIM_DRIVER_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "backends/common/driver.h"
#include "hetir/module_info.h"

namespace hetgpu::runtime {

inline constexpr uint64_t kSimMemory = uint64_t{16} << 20;
inline constexpr uint32_t kSimDevices = 4;

struct SimControl {
  std::atomic<bool> gate_open{true};
  std::atomic<uint64_t> copies{0};  // between host and devices
  // One in so many maps and copies fails; 0: none.
  std::atomic<uint32_t> fail_one_in{0};
  std::atomic<uint64_t> failures{0};
  // sim:1 is lost for good.
  std::atomic<bool> is_lost{false};
  // How often sim:1 lost its work in flight.
  std::atomic<uint64_t> work_losses{0};
  // Of sim:1, memory that others took.
  std::atomic<uint64_t> taken{0};
};
SimControl& Sim();

// The contents of sim:<ordinal> are gone.
void LoseSimMemory(uint32_t ordinal);
uint64_t SimMappedBytes(uint32_t ordinal);

std::unique_ptr<Driver> CreateSimDriver();
ModuleInfo SimModule();

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_TESTING_SIM_DRIVER_H_
