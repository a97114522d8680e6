// The backend's environment variables, read once.
#ifndef HETGPU_BACKENDS_CPU_OPTIONS_H_
#define HETGPU_BACKENDS_CPU_OPTIONS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/cpu/target_name.h"

namespace hetgpu::cpu {

struct Options {
  uint32_t threads = 1;       // HETGPU_CPU_THREADS, at most the cores allowed
  uint64_t memory_bytes = 0;  // HETGPU_CPU_MEMORY, default physical memory
  uint64_t heap_bytes = 8u << 20;     // HETGPU_CPU_HEAP: in-kernel malloc
  uint64_t stack_bytes = 256u << 10;  // HETGPU_CPU_STACK_SIZE: per fiber
  // HETGPU_CPU_DEVICES: how many devices this processor shows itself as, for
  // programs written for several. Each has memory of its own.
  uint32_t devices = 1;
  // HETGPU_CPU_MEMCHECK: every access of a kernel is checked against the exact
  // bounds of what it may touch (exact_check.h).
  bool memcheck = false;
  // HETGPU_CPU_TARGET: the processor to compile for, "native" (this one) or a
  // level that this one has (host_cpu.h).
  std::string target{kNativeTarget};
  // HETGPU_CPU_ARENA_BASE (hex): keeps device memory there in the address space
  // of the process, while programs see the same addresses as ever; 0: not given.
  uint64_t host_base = 0;
};

// "64K", "8M", "2G", "1T" or plain bytes.
absl::StatusOr<uint64_t> ParseBytes(std::string_view text);

// InvalidArgument names a variable that does not parse.
absl::StatusOr<Options> ReadOptions();

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_OPTIONS_H_
