// libhetgpu, opened at run time: so that several instances can be measured
// side by side, each with an environment of its own.
#ifndef HETGPU_BENCH_RUNNER_HETGPU_API_H_
#define HETGPU_BENCH_RUNNER_HETGPU_API_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

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

// Opens the library at `path` and initialises it. A copy shares nothing with
// other instances.
absl::StatusOr<HetgpuApi> OpenHetgpu(const std::string& path, bool is_copy);

// What an instance of its own needs besides `environment` ("NAME=VALUE,…"); ""
// for the instance without an environment.
std::string InstanceEnvironment(const std::string& path,
                                const std::string& environment);

// Sets the variables of "NAME=VALUE,…" and puts the old values back.
class ScopedEnvironment {
 public:
  explicit ScopedEnvironment(const std::string& settings);
  ~ScopedEnvironment();
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

 private:
  std::vector<std::pair<std::string, std::optional<std::string>>> old_;
};

}  // namespace hetgpu::bench

#endif  // HETGPU_BENCH_RUNNER_HETGPU_API_H_
