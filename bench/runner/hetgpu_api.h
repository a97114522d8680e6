// libhetgpu, opened at run time: so that several instances can be measured
// side by side, each with an environment of its own.
#ifndef HETGPU_BENCH_RUNNER_HETGPU_API_H_
#define HETGPU_BENCH_RUNNER_HETGPU_API_H_

#include <string>

#include "absl/status/statusor.h"
#include "hetgpu/hetgpu.h"

namespace hetgpu::bench {

struct HetgpuApi {
#define HETGPU_BENCH_FUNCTION(name) decltype(&hetgpu##name) name = nullptr;
#include "bench/runner/hetgpu_api.def"
#undef HETGPU_BENCH_FUNCTION

  // OK, or the code's name and the library's detail.
  absl::Status Check(hetgpuResult result, const char* what) const;
};

// Opens the library at `path` and initialises it under `environment`
// ("NAME=VALUE,…", put back afterwards). With an environment, a copy of the
// library is opened, so that it shares nothing with other instances.
absl::StatusOr<HetgpuApi> OpenHetgpu(const std::string& path,
                                     const std::string& environment);

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_RUNNER_HETGPU_API_H_
