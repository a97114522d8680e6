// What tests can tell the test driver, by the names under which it exports it.
#ifndef HETGPU_TESTS_DRIVERS_CUDA_CONTROL_H_
#define HETGPU_TESTS_DRIVERS_CUDA_CONTROL_H_

#include <cstdint>

namespace hetgpu::cuda::fake {

// Environment: how many devices there are (1), how many MiB of memory each has
// (256), and whether they can reach each other's memory (1).
inline constexpr char kDevicesVariable[] = "HETGPU_FAKE_CUDA_DEVICES";
inline constexpr char kMemoryVariable[] = "HETGPU_FAKE_CUDA_MEMORY";
inline constexpr char kPeerVariable[] = "HETGPU_FAKE_CUDA_PEER";

// The function of this exported name gives `result` from its `after`th next call
// on (0 = the next), once.
inline constexpr char kFailSymbol[] = "hetgpuFakeCudaFail";
using FailFunction = void (*)(const char* function, int result, int after);

// Back to the state after loading: no devices' errors, nothing injected.
inline constexpr char kResetSymbol[] = "hetgpuFakeCudaReset";
using ResetFunction = void (*)();

struct Counts {
  uint64_t contexts, streams, events, modules, mapped_bytes, physical_bytes;
  uint64_t textures;  // and arrays
  uint64_t pinned_bytes;  // of host memory
  uint64_t misuses;  // calls that no correct program makes
  uint64_t launches;
};
inline constexpr char kCountsSymbol[] = "hetgpuFakeCudaCounts";
using CountsFunction = Counts (*)();

}  // namespace hetgpu::cuda::fake

#endif  // HETGPU_TESTS_DRIVERS_CUDA_CONTROL_H_
