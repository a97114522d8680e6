// The CPU twins: the same algorithms as the kernels, written for CPUs in C++
// with OpenMP and SIMD, in a library of their own that is compiled for this
// very machine (-march=native) and opened by the runner.
//
// A twin gets what its kernel gets: pointers to the arguments' values, buffers
// as host pointers. Buffers are aligned to 64 bytes and do not overlap.
#ifndef HETGPU_BENCH_TWINS_CPU_TWIN_H_
#define HETGPU_BENCH_TWINS_CPU_TWIN_H_

#include <cstdint>
#include <cstring>

namespace hetgpu::bench {

using HostTwinFunction = void (*)(void* const* arguments);

struct HostTwin {
  const char* name;
  HostTwinFunction run;
};

// What the library exports as `hetgpu_bench_host_twins`.
struct HostTwins {
  const HostTwin* twins;  // ends with a null name
  // Features of the CPU that the code was compiled for: bits of HostFeature.
  uint32_t features;
  const char* compiler;
  int (*threads)();
};

enum HostFeature : uint32_t {
  kHostAvx2 = 1,
  kHostFma = 2,
  kHostAvx512f = 4,
  kHostAvx512bw = 8,
  kHostAvx512vnni = 16,
};

// Argument `index` as a T.
template <typename T>
T Get(void* const* arguments, int index) {
  T value;
  std::memcpy(&value, arguments[index], sizeof(T));
  return value;
}

// One entry of the table per twin; defined in the file of its name.
#define HETGPU_HOST_TWIN(name) \
  void name##_twin([[maybe_unused]] void* const* arguments)

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_TWINS_CPU_TWIN_H_
