// All workloads by name, and their sizes on each kind of device.
#ifndef HETGPU_BENCH_WORKLOADS_CATALOG_H_
#define HETGPU_BENCH_WORKLOADS_CATALOG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bench/workloads/workload.h"

namespace hetgpu::bench {

// tiny is for tests: correctness, no figures.
enum class SizeClass { kTiny, kSmall, kDefault, kLarge };

// Problem sizes for small, default and large; their meaning is the maker's.
struct Sizes {
  uint64_t tiny;
  uint64_t cpu[3];
  uint64_t gpu[3];

  uint64_t Get(bool is_gpu, SizeClass size_class) const;
};

struct CatalogEntry {
  std::string name;
  std::string group;  // "workload" or "ceiling"
  Sizes sizes;
  Workload (*make)(uint64_t size);
};

// In the order of the table that the runner prints.
const std::vector<CatalogEntry>& Catalog();

// The kernel that does nothing, for launch rows.
Workload EmptyLaunch();
// A buffer and no kernel, for copy rows.
Workload OneBuffer(uint64_t bytes);

// Makers, by file.
Workload Vecadd(uint64_t n);  // elementwise.cc
Workload Saxpy(uint64_t n);
Workload BlackScholes(uint64_t n);
Workload Mandelbrot(uint64_t side);
Workload SgemmNaive(uint64_t n);  // matrix.cc
Workload SgemmTiled(uint64_t n);
Workload SgemmRegister(uint64_t n);
Workload GemmInt8(uint64_t n);
Workload Transpose(uint64_t side);
Workload SpmvScalar(uint64_t rows);
Workload SpmvVector(uint64_t rows);
Workload Softmax(uint64_t rows);
Workload ReduceBlock(uint64_t n);  // block.cc
Workload ReduceAtomic(uint64_t n);
Workload Scan(uint64_t n);
Workload Histogram(uint64_t n);
Workload Stencil2d(uint64_t side);  // grid.cc
Workload Stencil3d(uint64_t side);
Workload Nbody(uint64_t n);
Workload MonteCarloPi(uint64_t n);  // integer.cc
Workload MonteCarloAsian(uint64_t n);
Workload Sha256(uint64_t messages);
Workload CeilingCopy(uint64_t n);  // ceilings.cc
Workload CeilingF32(uint64_t threads);
Workload CeilingI32(uint64_t threads);
Workload CeilingI8(uint64_t threads);

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_WORKLOADS_CATALOG_H_
