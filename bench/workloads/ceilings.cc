// What the machine can do at best: the rates every other row is compared with.
#include "bench/workloads/catalog.h"
#include "bench/workloads/inputs.h"

namespace hetgpu::bench {
namespace {

constexpr char kModule[] = "bench/kernels/probe";
constexpr uint32_t kRounds = 512;
// Independent chains a thread, and operations of one step of a chain.
constexpr double kChains = 8;

Workload Arithmetic(uint64_t threads, const char* kernel, double per_step,
                    Unit unit) {
  Workload w;
  w.problem = Count(threads, "threads, 8 chains of 512 rounds of 8 steps");
  w.buffers = {Words("in", 16, 1), WordOutput("out", threads)};
  w.host_arguments = {BufferArgument(0), BufferArgument(1), Value(kRounds),
                      Value<uint32_t>(threads)};
  w.launches = {
      {kModule, kernel, {Blocks(threads, 256)}, {256}, 0, w.host_arguments}};
  w.host_twin = kernel;
  w.operations = per_step * kChains * 8 * kRounds * threads;
  w.unit = unit;
  return w;
}

}  // namespace

Workload CeilingCopy(uint64_t n) {
  Workload w;
  w.problem = Count(n, "floats");
  w.buffers = {Floats("in", n, 1, -1, 1), FloatOutput("out", n, 0, 0)};
  w.host_arguments = {BufferArgument(0), BufferArgument(1),
                      Value<uint32_t>(n / 4)};
  w.launches = {
      {kModule, "copy", {Blocks(n / 4, 256)}, {256}, 0, w.host_arguments}};
  w.host_twin = "copy";
  w.bytes = 8.0 * n;
  return w;
}

Workload CeilingF32(uint64_t threads) {
  return Arithmetic(threads, "fma_f32", 2, Unit::kF32);
}

// A step is one addition and one exclusive or.
Workload CeilingI32(uint64_t threads) {
  return Arithmetic(threads, "mix_i32", 2, Unit::kI32);
}

Workload CeilingI8(uint64_t threads) {
  return Arithmetic(threads, "dot_i8", 8, Unit::kI8);
}

}  // namespace hetgpu::bench
