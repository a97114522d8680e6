#include <algorithm>
#include <utility>

#include "bench/workloads/catalog.h"
#include "bench/workloads/inputs.h"

namespace hetgpu::bench {
namespace {

// C = 1 * A * B + 0 * C: the same result from run to run.
Workload Sgemm(uint64_t n, std::string module, std::string kernel, Extent grid,
               Extent block, std::string host_twin) {
  Workload w;
  w.problem = Square(n, "floats");
  w.buffers = {Floats("a", n * n, 1, -1, 1), Floats("b", n * n, 2, -1, 1),
               FloatOutput("c", n * n, 1e-5, n / 8.0)};
  const auto side = Value<int>(n);
  w.host_arguments = {side,
                      side,
                      side,
                      Value(1.0f),
                      BufferArgument(0),
                      BufferArgument(1),
                      Value(0.0f),
                      BufferArgument(2)};
  w.launches = {
      {std::move(module), std::move(kernel), grid, block, 0, w.host_arguments}};
  w.host_twin = std::move(host_twin);
  w.bytes = 12.0 * n * n;
  w.operations = 2.0 * n * n * n;
  w.unit = Unit::kF32;
  return w;
}

// 1 to 31 elements a row, 16 on average, anywhere in the row.
Workload Spmv(uint64_t rows, const char* kernel, uint32_t threads) {
  Random random(4);
  std::vector<int> starts(rows + 1);
  for (uint64_t i = 0; i < rows; ++i) {
    starts[i + 1] = starts[i] + 1 + static_cast<int>(random.Below(31));
  }
  const uint64_t elements = starts[rows];
  Workload w;
  w.problem = Count(rows, "rows, 1 to 31 elements each");
  w.buffers = {
      Exactly("row_start", starts),
      Input<int>("column", elements, 1,
                 [rows](Random& r) { return static_cast<int>(r.Below(rows)); }),
      Floats("value", elements, 2, -1, 1), Floats("x", rows, 3, -1, 1),
      FloatOutput("y", rows, 1e-5, 4)};
  w.host_arguments = {Value<int>(rows)};
  for (int i = 0; i < 5; ++i) w.host_arguments.push_back(BufferArgument(i));
  w.launches = {{"examples/spmv",
                 kernel,
                 {Blocks(threads * rows, 256)},
                 {256},
                 0,
                 w.host_arguments}};
  w.host_twin = "spmv";
  w.bytes = 8.0 * elements + 12.0 * rows;
  w.operations = 2.0 * elements;
  w.unit = Unit::kF32;
  return w;
}

}  // namespace

Workload SgemmNaive(uint64_t n) {
  return Sgemm(n, "examples/sgemm", "sgemm_naive",
               {Blocks(n, 32), Blocks(n, 8)}, {32, 8}, "sgemm_naive");
}

Workload SgemmTiled(uint64_t n) {
  return Sgemm(n, "examples/sgemm", "sgemm_tiled",
               {Blocks(n, 16), Blocks(n, 16)}, {16, 16}, "sgemm_tiled");
}

Workload SgemmRegister(uint64_t n) {
  return Sgemm(n, "bench/kernels/sgemm_register", "sgemm_register",
               {Blocks(n, 128), Blocks(n, 128)}, {256}, "sgemm_register");
}

Workload GemmInt8(uint64_t n) {
  Workload w;
  w.problem = Square(n, "bytes");
  w.buffers = {Words("a", n * n / 4, 1), Words("b", n * n / 4, 2),
               WordOutput("c", n * n)};
  w.host_arguments = {BufferArgument(0), BufferArgument(1), BufferArgument(2),
                      Value<int>(n),     Value<int>(n),     Value<int>(n / 4)};
  w.launches = {{"examples/dp4a",
                 "gemm_int8",
                 {Blocks(n, 32), Blocks(n, 8)},
                 {32, 8},
                 0,
                 w.host_arguments}};
  w.host_twin = "gemm_int8";
  w.bytes = 6.0 * n * n;
  w.operations = 2.0 * n * n * n;
  w.unit = Unit::kI8;
  return w;
}

Workload Transpose(uint64_t side) {
  Workload w;
  w.problem = Square(side, "floats");
  w.buffers = {Floats("in", side * side, 1, -1, 1),
               FloatOutput("out", side * side, 0, 0)};
  w.host_arguments = {BufferArgument(0), BufferArgument(1), Value<int>(side),
                      Value<int>(side)};
  w.launches = {{"examples/transpose",
                 "transpose_tiled",
                 {Blocks(side, 32), Blocks(side, 32)},
                 {32, 8},
                 0,
                 w.host_arguments}};
  w.host_twin = "transpose";
  w.bytes = 8.0 * side * side;
  return w;
}

Workload SpmvScalar(uint64_t rows) { return Spmv(rows, "spmv_scalar", 1); }
Workload SpmvVector(uint64_t rows) { return Spmv(rows, "spmv_vector", 32); }

// Maximum, exponential twice, sum, division: 5 operations an element.
Workload Softmax(uint64_t rows) {
  constexpr uint64_t kColumns = 4096;
  const uint64_t n = rows * kColumns;
  Workload w;
  w.problem = Count(rows, "rows of 4096 floats");
  w.buffers = {Floats("in", n, 1, -4, 4), FloatOutput("out", n, 5e-4, 1e-4)};
  w.launches = {
      {"examples/softmax",
       "softmax_f32",
       {static_cast<uint32_t>(rows)},
       {256},
       0,
       {BufferArgument(0), BufferArgument(1), Value<uint32_t>(kColumns)}}};
  w.host_twin = "softmax";
  w.host_arguments = {BufferArgument(0), BufferArgument(1),
                      Value<uint32_t>(kColumns), Value<uint32_t>(rows)};
  w.bytes = 8.0 * n;
  w.operations = 5.0 * n;
  w.unit = Unit::kF32;
  return w;
}

}  // namespace hetgpu::bench
