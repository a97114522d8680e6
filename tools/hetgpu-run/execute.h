// Runs a job from the first byte to the report.
#ifndef HETGPU_TOOLS_HETGPU_RUN_EXECUTE_H_
#define HETGPU_TOOLS_HETGPU_RUN_EXECUTE_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "tools/hetgpu-run/interrupt.h"
#include "tools/hetgpu-run/job.h"
#include "tools/hetgpu-run/report.h"
#include "tools/hetgpu-run/session.h"

namespace hetgpu::tools {

struct ExecuteOptions {
  std::optional<uint32_t> time_runs;
  bool debug_kernel = false;
};

// `session` is open and has its module. Fills what it comes to of `report`;
// FailedPrecondition when a check failed.
absl::Status Execute(const Job& job, const ExecuteOptions& options,
                     Session* session, Watcher* watcher, Progress* progress,
                     Report* report);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_EXECUTE_H_
