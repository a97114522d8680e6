#include <utility>

#include "bench/workloads/catalog.h"
#include "bench/workloads/inputs.h"

namespace hetgpu::bench {
namespace {

constexpr uint32_t kBlock = 256;

// Grid-stride kernels get this many blocks at most.
constexpr uint32_t kMaxBlocks = 16384;

}  // namespace

Workload Vecadd(uint64_t n) {
  Workload w;
  w.problem = Count(n, "floats");
  w.buffers = {Floats("a", n, 1, -1, 1), Floats("b", n, 2, -1, 1),
               FloatOutput("c", n, 0, 0)};
  w.host_arguments = {BufferArgument(0), BufferArgument(1), BufferArgument(2),
                      Value<uint32_t>(n)};
  w.launches = {{"examples/vecadd",
                 "vecadd",
                 {Blocks(n, kBlock)},
                 {kBlock},
                 0,
                 w.host_arguments}};
  w.host_twin = "vecadd";
  w.bytes = 12.0 * n;
  w.operations = n;
  w.unit = Unit::kF32;
  return w;
}

// In place: y grows from run to run; results are compared after the first.
Workload Saxpy(uint64_t n) {
  Workload w;
  w.problem = Count(n, "floats");
  Buffer y = Floats("y", n, 2, -1, 1);
  y.is_output = true;
  y.tolerance = 1e-6;
  y.scale = 1;
  w.buffers = {Floats("x", n, 1, -1, 1), std::move(y)};
  w.host_arguments = {Value<uint32_t>(n), Value(1.0009765625f),
                      BufferArgument(0), BufferArgument(1)};
  w.launches = {{"examples/saxpy",
                 "saxpy",
                 {std::min(Blocks(n, kBlock), kMaxBlocks)},
                 {kBlock},
                 0,
                 w.host_arguments}};
  w.host_twin = "saxpy";
  w.bytes = 12.0 * n;
  w.operations = 2.0 * n;
  w.unit = Unit::kF32;
  return w;
}

// 292 float instructions (a fused one is two) stand in the kernel's PTX.
Workload BlackScholes(uint64_t n) {
  Workload w;
  w.problem = Count(n, "options");
  w.buffers = {Floats("spot", n, 1, 50, 150), Floats("strike", n, 2, 50, 150),
               Floats("years", n, 3, 0.25f, 4),
               FloatOutput("call", n, 1e-4, 10),
               FloatOutput("put", n, 1e-4, 10)};
  w.host_arguments = {BufferArgument(0), BufferArgument(1), BufferArgument(2),
                      Value(0.03f),      Value(0.25f),      BufferArgument(3),
                      BufferArgument(4), Value<uint32_t>(n)};
  w.launches = {{"examples/blackscholes",
                 "black_scholes",
                 {Blocks(n, kBlock)},
                 {kBlock},
                 0,
                 w.host_arguments}};
  w.host_twin = "black_scholes";
  w.bytes = 20.0 * n;
  w.operations = 292.0 * n;
  w.unit = Unit::kF32;
  return w;
}

// 8 operations an iteration; the number of iterations is the result.
Workload Mandelbrot(uint64_t side) {
  constexpr uint32_t kLimit = 256;
  Workload w;
  w.problem = Square(side, "pixels, 256 iterations at most");
  w.buffers = {WordOutput("iterations", side * side)};
  w.host_arguments = {BufferArgument(0),  Value<int>(side), Value<int>(side),
                      Value(-2.0f),       Value(-1.25f),    Value(2.5f / side),
                      Value(2.5f / side), Value(kLimit)};
  w.launches = {{"examples/mandelbrot",
                 "mandelbrot",
                 {Blocks(side, 32), Blocks(side, 8)},
                 {32, 8},
                 0,
                 w.host_arguments}};
  w.host_twin = "mandelbrot";
  w.bytes = 4.0 * side * side;
  w.unit = Unit::kF32;
  w.count = [side](const void* output) {
    const auto* const iterations = static_cast<const uint32_t*>(output);
    uint64_t total = 0;
    for (uint64_t i = 0; i < side * side; ++i) total += iterations[i];
    return 8.0 * total;
  };
  return w;
}

}  // namespace hetgpu::bench
