// The HETGPU_… environment variables, read and checked once.
//
//   HETGPU_FP_MODE          native (default) | strict
//   HETGPU_CPU_MODE         auto (default) | simd | scalar | fiber
//   HETGPU_JIT_CACHE_DIR    folder; default $XDG_CACHE_HOME/hetgpu, else
//                           ~/.cache/hetgpu
//   HETGPU_JIT_CACHE_SIZE   bytes with optional suffix K, M, G (or KB, …, of
//                           1024); 0 = no disk cache; default 512MB
//   HETGPU_ARENA_BASE       where the addresses of the process begin, as a
//                           hexadecimal multiple of 2^30; default 600000000000
//   HETGPU_RESIDENT_LIMIT   bytes (same suffixes) of unified memory that a device
//                           holds at most; default what it has
//   HETGPU_PREFETCH_THRESHOLD  reads in a row, each where the last one ended,
//                           after which copies to the host fetch ahead; 0 =
//                           never; default 3
//   HETGPU_ISOLATE          read by backends/init: backends whose devices get
//                           processes of their own, as "cuda,cpu"
//   HETGPU_DEVICE_SERVER    read by backends/remote: path of hetgpu-device-server
//   HETGPU_CUDA_ROUTE       auto (default) | native | recompiled; acted upon by
//                           the CUDA backend
//   HETGPU_CUDA_ARENA_BASE  read by the CUDA backend: where GPUs have their
//                           addresses, written as for HETGPU_ARENA_BASE;
//                           default where the process has its own
//   HETGPU_CUDA_COREDUMP    read by the CUDA backend: 1 = failures name threads
//   HETGPU_CUDA_LIBRARY     read by the CUDA backend: path of libcuda.so.1
//   HETGPU_TRACE            file to write a trace to (trace.h); default none
//   HETGPU_COMPILER_LIBRARY path of libhetgpu_compiler.so; default: next to
//                           this library
#ifndef HETGPU_RUNTIME_ENVIRONMENT_H_
#define HETGPU_RUNTIME_ENVIRONMENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace hetgpu::runtime {

struct Environment {
  std::string fp_mode = "native";
  std::string cpu_mode = "auto";
  std::string cuda_route = "auto";
  std::string cache_dir;  // "" = no place known: disk cache off
  uint64_t cache_bytes = uint64_t{512} << 20;
  uint64_t resident_limit = 0;  // 0 = what a device has
  uint64_t prefetch_threshold = 3;
  std::string trace_path;  // "" = no trace
  std::string compiler_library;  // "" = next to this library
};

// Value of a variable, or nothing when unset.
using GetVariable = std::function<std::optional<std::string>(const char* name)>;

// INVALID_ENVIRONMENT names the variable, its value and what is allowed. An
// empty value counts as unset.
absl::StatusOr<Environment> ReadEnvironment(const GetVariable& get);
absl::StatusOr<Environment> ReadEnvironment();

// "512MB" → 536870912.
std::optional<uint64_t> ParseBytes(std::string_view text);

}  // namespace hetgpu::runtime

#endif  // HETGPU_RUNTIME_ENVIRONMENT_H_
