// Vectors of sixteen 32-bit values (GCC's and Clang's extension): one register
// where the CPU has such, several where not.
#ifndef HETGPU_BENCH_TWINS_CPU_VECTOR_H_
#define HETGPU_BENCH_TWINS_CPU_VECTOR_H_

#include <cstdint>
#include <cstring>

namespace hetgpu::bench {

constexpr int kLanes = 16;
typedef float FloatVector __attribute__((vector_size(64)));
typedef uint32_t WordVector __attribute__((vector_size(64)));

template <typename V, typename T>
V LoadVector(const T* from) {
  V v;
  std::memcpy(&v, from, sizeof(v));
  return v;
}

template <typename V, typename T>
void StoreVector(T* to, V v) {
  std::memcpy(to, &v, sizeof(v));
}

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_TWINS_CPU_VECTOR_H_
