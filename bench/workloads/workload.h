// What is measured, told apart from how: buffers with their contents, launches
// with their arguments, the work they amount to and how results are compared.
// Every executor (runner/executor.h) runs the same description, so that twins
// have the same sizes, inputs and launch shapes.
#ifndef HETGPU_BENCH_WORKLOADS_WORKLOAD_H_
#define HETGPU_BENCH_WORKLOADS_WORKLOAD_H_

#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

namespace hetgpu::bench {

// What an operation is, for the ceiling that it is compared with.
enum class Unit {
  kNone,  // only bytes count
  kF32,   // float additions and multiplications; a fused one is two
  kI32,   // 32-bit integer additions, multiplications, logic, rotations
  kI8,    // 8-bit products and their additions
};

enum class Element { kF32, kU32, kU64 };

struct Buffer {
  std::string name;
  uint64_t bytes = 0;
  // Repeated until `bytes` are filled; empty = zeros.
  std::vector<uint8_t> pattern = {};
  bool is_output = false;
  Element element = Element::kF32;
  // Floats may differ by `tolerance` times the larger of both magnitudes and
  // `scale`. 0 = every bit must agree.
  double tolerance = 0;
  double scale = 0;
};

// A buffer's address or a value of 4 or 8 bytes.
struct Argument {
  int buffer = -1;
  uint32_t size = 8;
  uint64_t bits = 0;
};

struct Extent {
  uint32_t x = 1, y = 1, z = 1;
};

struct Launch {
  std::string module;  // "examples/vecadd": the path without extension
  std::string kernel;
  Extent grid;
  Extent block;
  uint32_t shared_bytes = 0;
  std::vector<Argument> arguments;  // in the kernel's order
};

struct Workload {
  std::string name;
  std::string problem;  // "16777216 floats"
  std::vector<Buffer> buffers;
  std::vector<Launch> launches;  // in order; one run is all of them
  // The function of twins/cpu and its arguments; "" = there is none.
  std::string host_twin;
  std::vector<Argument> host_arguments;
  double bytes = 0;  // the fewest that must move: inputs once, outputs once
  double operations = 0;
  Unit unit = Unit::kNone;
  // Where the work depends on the data: operations from the first output.
  std::function<double(const void* output)> count;
};

inline Argument BufferArgument(int index) { return {index, 8, 0}; }

template <typename T>
Argument Value(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  Argument argument = {-1, sizeof(T), 0};
  std::memcpy(&argument.bits, &value, sizeof(T));
  return argument;
}

const char* UnitName(Unit unit);

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_WORKLOADS_WORKLOAD_H_
