// The one door between libhetgpu.so and libhetgpu_compiler.so, which is opened
// with dlopen on a JIT-cache miss only: a warm start loads no LLVM.
#ifndef HETGPU_BACKENDS_COMMON_COMPILER_API_H_
#define HETGPU_BACKENDS_COMMON_COMPILER_API_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "hetir/module_info.h"

namespace hetgpu {

struct CompileRequest {
  std::string_view source;       // PTX text or a .hetir container
  std::string_view source_name;  // for messages
  std::string_view kernel;       // compile this kernel and what it reaches
  std::string_view backend;      // "cpu"
  std::string_view target;       // DeviceInfo::target
  std::string_view fp_mode;      // "native" or "strict"
  std::string_view cpu_mode;     // "auto", "simd", "scalar" or "fiber"
};

// `abi` changes with any struct that crosses the door; the loader refuses a
// library of another one. `build_id` is part of the JIT cache key.
struct CompilerApi {
  uint32_t abi;
  const char* build_id;
  absl::StatusOr<std::string> (*compile)(const CompileRequest& request);
};

inline constexpr uint32_t kCompilerAbi = 1;
inline constexpr char kCompilerEntry[] = "hetgpuGetCompilerApi";
using GetCompilerApiFn = const CompilerApi* (*)();

}  // namespace hetgpu

#endif  // HETGPU_BACKENDS_COMMON_COMPILER_API_H_
