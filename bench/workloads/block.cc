#include <algorithm>

#include "bench/workloads/catalog.h"
#include "bench/workloads/inputs.h"

namespace hetgpu::bench {
namespace {

constexpr uint32_t kBlock = 256;
constexpr uint32_t kMaxBlocks = 4096;

}  // namespace

Workload ReduceBlock(uint64_t n) {
  const uint32_t blocks = Blocks(n, kBlock);
  Workload w;
  w.problem = Count(n, "integers, a tree per block of 256");
  w.buffers = {Words("in", n, 1), WordOutput("out", blocks)};
  w.host_arguments = {BufferArgument(0), BufferArgument(1), Value<uint32_t>(n)};
  w.launches = {{"examples/reduce",
                 "reduce_block",
                 {blocks},
                 {kBlock},
                 kBlock * 4,
                 w.host_arguments}};
  w.host_twin = "reduce_block";
  w.bytes = 4.0 * n + 4.0 * blocks;
  w.operations = n;
  w.unit = Unit::kI32;
  return w;
}

Workload ReduceAtomic(uint64_t n) {
  Workload w;
  w.problem = Count(n, "floats, shuffles and an atomic per block");
  w.buffers = {Floats("in", n, 1, 0, 1), FloatOutput("out", 1, 1e-4, 0)};
  w.host_arguments = {BufferArgument(0), BufferArgument(1), Value<uint32_t>(n)};
  w.launches = {{"examples/reduce",
                 "reduce_atomic",
                 {std::min(Blocks(n, kBlock), kMaxBlocks)},
                 {kBlock},
                 0,
                 w.host_arguments}};
  w.host_twin = "reduce_atomic";
  w.bytes = 4.0 * n;
  w.operations = n;
  w.unit = Unit::kF32;
  return w;
}

// Blocks scan 1024 elements; their sums are scanned the same way, level by
// level, and added back.
Workload Scan(uint64_t n) {
  constexpr uint32_t kThreads = 512, kChunk = 2 * kThreads;
  Workload w;
  w.problem = Count(n, "integers, exclusive");
  w.buffers = {Words("in", n, 1), WordOutput("out", n)};
  // Level i scans buffer in_i into out_i and leaves its sums as in_{i+1}.
  std::vector<uint64_t> counts = {n};
  while (counts.back() > 1) counts.push_back(Blocks(counts.back(), kChunk));
  int in = 0, out = 1;
  std::vector<int> outs;
  for (size_t level = 0; level + 1 < counts.size(); ++level) {
    const uint32_t blocks = static_cast<uint32_t>(counts[level + 1]);
    const int sums = static_cast<int>(w.buffers.size());
    w.buffers.push_back(Scratch("sums", blocks * 4));
    w.buffers.push_back(Scratch("offsets", blocks * 4));
    w.launches.push_back(
        {"examples/scan",
         "scan_blelloch",
         {blocks},
         {kThreads},
         kChunk * 4,
         {BufferArgument(in), BufferArgument(out), BufferArgument(sums),
          Value<uint32_t>(counts[level])}});
    outs.push_back(out);
    in = sums;
    out = sums + 1;
  }
  for (int level = static_cast<int>(outs.size()) - 2; level >= 0; --level) {
    const uint32_t count = static_cast<uint32_t>(counts[level]);
    w.launches.push_back(
        {"examples/scan",
         "scan_add_offsets",
         {Blocks(count, 256)},
         {256},
         0,
         {BufferArgument(outs[level]), BufferArgument(outs[level + 1]),
          Value(kChunk), Value(count)}});
  }
  w.host_twin = "scan";
  w.host_arguments = {BufferArgument(0), BufferArgument(1), Value<uint32_t>(n)};
  w.bytes = 8.0 * n;
  w.operations = n;
  w.unit = Unit::kI32;
  return w;
}

// The bins grow from run to run; results are compared after the first.
Workload Histogram(uint64_t n) {
  Workload w;
  w.problem = Count(n, "bytes, 256 bins");
  w.buffers = {Bytes("data", n, 1), WordOutput("bins", 256)};
  w.host_arguments = {BufferArgument(0), Value<uint32_t>(n), BufferArgument(1)};
  w.launches = {{"examples/histogram",
                 "histogram_shared",
                 {std::min(Blocks(n, kBlock), kMaxBlocks)},
                 {kBlock},
                 0,
                 w.host_arguments}};
  w.host_twin = "histogram";
  w.bytes = n;
  w.operations = n;
  w.unit = Unit::kI32;
  return w;
}

}  // namespace hetgpu::bench
