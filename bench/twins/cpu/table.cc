#include <omp.h>

#include "bench/twins/cpu/twin.h"

namespace hetgpu::bench {

#define TWIN(name) HETGPU_HOST_TWIN(name);
#include "bench/twins/cpu/twins.def"
#undef TWIN

namespace {

const HostTwin kTwins[] = {
#define TWIN(name) {#name, name##_twin},
#include "bench/twins/cpu/twins.def"
#undef TWIN
    {nullptr, nullptr}};

constexpr uint32_t Features() {
  uint32_t features = 0;
#ifdef __AVX2__
  features |= kHostAvx2;
#endif
#ifdef __FMA__
  features |= kHostFma;
#endif
#ifdef __AVX512F__
  features |= kHostAvx512f;
#endif
#ifdef __AVX512BW__
  features |= kHostAvx512bw;
#endif
#ifdef __AVX512VNNI__
  features |= kHostAvx512vnni;
#endif
  return features;
}

int Threads() { return omp_get_max_threads(); }

}  // namespace
}  // namespace hetgpu::bench

// Constant data: reading it runs none of the code compiled for this machine.
extern "C" __attribute__((visibility("default")))
const hetgpu::bench::HostTwins hetgpu_bench_host_twins = {
    hetgpu::bench::kTwins, hetgpu::bench::Features(), HETGPU_TWIN_COMPILER,
    hetgpu::bench::Threads};
