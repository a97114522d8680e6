#include <algorithm>

#include "bench/workloads/catalog.h"
#include "bench/workloads/inputs.h"

namespace hetgpu::bench {
namespace {

// Ten rounds of two products with 64-bit results, four exclusive ors and two
// additions.
constexpr double kPhilox = 80;
// Message schedule, rounds and final additions of one 64-byte block.
constexpr double kShaBlock = 48 * 13 + 64 * 24 + 8;

}  // namespace

// The hits grow from run to run; results are compared after the first.
Workload MonteCarloPi(uint64_t n) {
  Workload w;
  w.problem = Count(n, "samples");
  w.buffers = {{.name = "hits",
                .bytes = 8,
                .is_output = true,
                .element = Element::kU64}};
  w.host_arguments = {Value<uint32_t>(n), Value<uint32_t>(7),
                      BufferArgument(0)};
  w.launches = {{"examples/montecarlo",
                 "mc_pi",
                 {std::min<uint32_t>(Blocks(n, 256), 4096)},
                 {256},
                 0,
                 w.host_arguments}};
  w.host_twin = "mc_pi";
  w.operations = (kPhilox + 8) * n;
  w.unit = Unit::kI32;
  return w;
}

// The generator's operations alone: one call for two steps.
Workload MonteCarloAsian(uint64_t n) {
  constexpr int kSteps = 64;
  Workload w;
  w.problem = Count(n, "paths of 64 steps");
  w.buffers = {FloatOutput("payoff", n, 1e-3, 10)};
  w.host_arguments = {
      Value(100.0f),      Value(100.0f),     Value(0.03f),
      Value(0.25f),       Value(1.0f),       Value(kSteps),
      Value<uint32_t>(7), BufferArgument(0), Value<uint32_t>(n)};
  w.launches = {{"examples/montecarlo",
                 "mc_asian",
                 {Blocks(n, 256)},
                 {256},
                 0,
                 w.host_arguments}};
  w.host_twin = "mc_asian";
  w.bytes = 4.0 * n;
  w.operations = kPhilox * kSteps / 2 * n;
  w.unit = Unit::kI32;
  return w;
}

// Messages of 100 bytes: two blocks each.
Workload Sha256(uint64_t messages) {
  constexpr uint32_t kLength = 100;
  std::vector<uint32_t> offsets(messages + 1);
  for (uint64_t i = 0; i <= messages; ++i) offsets[i] = i * kLength;
  Workload w;
  w.problem = Count(messages, "messages of 100 bytes");
  w.buffers = {Bytes("text", messages * kLength, 1), Exactly("offset", offsets),
               WordOutput("digests", 8 * messages)};
  w.host_arguments = {BufferArgument(0), BufferArgument(1), BufferArgument(2),
                      Value<uint32_t>(messages)};
  w.launches = {{"examples/sha256",
                 "sha256",
                 {Blocks(messages, 256)},
                 {256},
                 0,
                 w.host_arguments}};
  w.host_twin = "sha256";
  w.bytes = (kLength + 36.0) * messages;
  w.operations = 2 * kShaBlock * messages;
  w.unit = Unit::kI32;
  return w;
}

}  // namespace hetgpu::bench
