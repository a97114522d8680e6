#include "bench/workloads/catalog.h"

namespace hetgpu::bench {
namespace {

constexpr uint64_t kKi = 1024, kMi = kKi * kKi;

}  // namespace

const char* UnitName(Unit unit) {
  switch (unit) {
    case Unit::kNone:
      return "none";
    case Unit::kF32:
      return "f32";
    case Unit::kI32:
      return "i32";
    case Unit::kI8:
      return "i8";
  }
  return "?";
}

uint64_t Sizes::Get(bool is_gpu, SizeClass size_class) const {
  if (size_class == SizeClass::kTiny) return tiny;
  const int index = static_cast<int>(size_class) - 1;
  return is_gpu ? gpu[index] : cpu[index];
}

// Defaults of GPUs take a millisecond or more on an H200.
const std::vector<CatalogEntry>& Catalog() {
  static const auto* const catalog = new std::vector<CatalogEntry>{
      {"ceiling_copy",
       "ceiling",
       {64 * kKi,
        {4 * kMi, 64 * kMi, 128 * kMi},
        {64 * kMi, 512 * kMi, kKi * kMi}},
       CeilingCopy},
      {"ceiling_f32",
       "ceiling",
       {kKi, {16 * kKi, 64 * kKi, 64 * kKi}, {256 * kKi, kMi, kMi}},
       CeilingF32},
      {"ceiling_i32",
       "ceiling",
       {kKi, {16 * kKi, 64 * kKi, 64 * kKi}, {256 * kKi, kMi, kMi}},
       CeilingI32},
      {"ceiling_i8",
       "ceiling",
       {kKi, {16 * kKi, 64 * kKi, 64 * kKi}, {256 * kKi, kMi, kMi}},
       CeilingI8},
      {"vecadd",
       "workload",
       {10000, {kMi, 16 * kMi, 64 * kMi}, {64 * kMi, 512 * kMi, kKi * kMi}},
       Vecadd},
      {"saxpy",
       "workload",
       {10000, {kMi, 16 * kMi, 64 * kMi}, {64 * kMi, 512 * kMi, kKi * kMi}},
       Saxpy},
      {"sgemm_naive",
       "workload",
       {64, {256, 512, 1024}, {1024, 4096, 8192}},
       SgemmNaive},
      {"sgemm_tiled",
       "workload",
       {64, {256, 512, 1024}, {1024, 4096, 8192}},
       SgemmTiled},
      {"sgemm_register",
       "workload",
       {128, {256, 512, 1024}, {1024, 4096, 8192}},
       SgemmRegister},
      {"reduce_block",
       "workload",
       {10000, {kMi, 16 * kMi, 64 * kMi}, {64 * kMi, 512 * kMi, kKi * kMi}},
       ReduceBlock},
      {"reduce_atomic",
       "workload",
       {10000, {kMi, 16 * kMi, 64 * kMi}, {64 * kMi, kKi * kMi, 2 * kKi * kMi}},
       ReduceAtomic},
      {"scan",
       "workload",
       {10000, {kMi, 8 * kMi, 32 * kMi}, {32 * kMi, 256 * kMi, 512 * kMi}},
       Scan},
      {"histogram",
       "workload",
       {10000,
        {kMi, 16 * kMi, 64 * kMi},
        {256 * kMi, 2 * kKi * kMi, 3 * kKi * kMi}},
       Histogram},
      {"stencil2d",
       "workload",
       {70, {1024, 4096, 8192}, {8192, 24576, 32768}},
       Stencil2d},
      {"stencil3d",
       "workload",
       {20, {64, 256, 400}, {256, 832, 1024}},
       Stencil3d},
      {"nbody",
       "workload",
       {512, {2048, 8192, 16384}, {32768, 131072, 262144}},
       Nbody},
      {"black_scholes",
       "workload",
       {1000, {64 * kKi, kMi, 16 * kMi}, {16 * kMi, 256 * kMi, 512 * kMi}},
       BlackScholes},
      {"mc_pi",
       "workload",
       {10000, {kMi, 16 * kMi, 128 * kMi}, {256 * kMi, kKi * kMi, 4095 * kMi}},
       MonteCarloPi},
      {"mc_asian",
       "workload",
       {500, {4 * kKi, 64 * kKi, 256 * kKi}, {128 * kKi, 4 * kMi, 16 * kMi}},
       MonteCarloAsian},
      {"mandelbrot",
       "workload",
       {64, {256, 1024, 4096}, {2048, 8192, 16384}},
       Mandelbrot},
      {"transpose",
       "workload",
       {70, {1024, 4096, 8192}, {8192, 24576, 32768}},
       Transpose},
      {"spmv_scalar",
       "workload",
       {1000, {64 * kKi, kMi, 2 * kMi}, {kMi, 16 * kMi, 32 * kMi}},
       SpmvScalar},
      {"spmv_vector",
       "workload",
       {1000, {64 * kKi, kMi, 2 * kMi}, {kMi, 16 * kMi, 32 * kMi}},
       SpmvVector},
      {"sha256",
       "workload",
       {500, {16 * kKi, 128 * kKi, kMi}, {kMi, 16 * kMi, 32 * kMi}},
       Sha256},
      {"softmax",
       "workload",
       {16, {256, 2 * kKi, 8 * kKi}, {8 * kKi, 64 * kKi, 128 * kKi}},
       Softmax},
      {"gemm_int8",
       "workload",
       {64, {256, 512, 1024}, {1024, 4096, 8192}},
       GemmInt8},
  };
  return *catalog;
}

Workload EmptyLaunch() {
  Workload w;
  w.name = "empty";
  w.launches.push_back({"bench/kernels/probe", "empty", {1}, {32}, 0, {}});
  w.host_twin = "empty";
  return w;
}

Workload OneBuffer(uint64_t bytes) {
  Workload w;
  w.name = "buffer";
  w.buffers.push_back({.name = "data", .bytes = bytes});
  return w;
}

}  // namespace hetgpu::bench
