#include "bench/workloads/catalog.h"
#include "bench/workloads/inputs.h"

namespace hetgpu::bench {

// Three additions around, two operations for the difference, a fused one.
Workload Stencil2d(uint64_t side) {
  Workload w;
  w.problem = Square(side, "floats, 5 points");
  w.buffers = {Floats("in", side * side, 1, -1, 1),
               FloatOutput("out", side * side, 1e-5, 1)};
  w.host_arguments = {BufferArgument(0), BufferArgument(1), Value<int>(side),
                      Value<int>(side), Value(0.2f)};
  w.launches = {{"examples/stencil",
                 "stencil2d",
                 {Blocks(side, 32), Blocks(side, 8)},
                 {32, 8},
                 0,
                 w.host_arguments}};
  w.host_twin = "stencil2d";
  w.bytes = 8.0 * side * side;
  w.operations = 7.0 * side * side;
  w.unit = Unit::kF32;
  return w;
}

Workload Stencil3d(uint64_t side) {
  const uint64_t n = side * side * side;
  Workload w;
  w.problem = Count(side, "cubed floats, 7 points");
  w.buffers = {Floats("in", n, 1, -1, 1), FloatOutput("out", n, 1e-5, 1)};
  w.host_arguments = {BufferArgument(0), BufferArgument(1), Value<int>(side),
                      Value<int>(side), Value<int>(side)};
  w.launches = {{"examples/stencil",
                 "stencil3d",
                 {Blocks(side, 32), Blocks(side, 8)},
                 {32, 8},
                 0,
                 w.host_arguments}};
  w.host_twin = "stencil3d";
  w.bytes = 8.0 * n;
  w.operations = 10.0 * n;
  w.unit = Unit::kF32;
  return w;
}

// 20 operations a pair, as is customary.
Workload Nbody(uint64_t n) {
  constexpr uint32_t kBlock = 256;
  Workload w;
  w.problem = Count(n, "bodies, all pairs");
  w.buffers = {Floats("bodies", 4 * n, 1, 0.1f, 1),
               FloatOutput("accel", 4 * n, 1e-4, n / 16.0)};
  w.host_arguments = {BufferArgument(0), BufferArgument(1), Value<int>(n),
                      Value(0.01f)};
  w.launches = {{"examples/nbody",
                 "nbody_forces",
                 {Blocks(n, kBlock)},
                 {kBlock},
                 kBlock * 16,
                 w.host_arguments}};
  w.host_twin = "nbody";
  w.bytes = 32.0 * n;
  w.operations = 20.0 * n * n;
  w.unit = Unit::kF32;
  return w;
}

}  // namespace hetgpu::bench
