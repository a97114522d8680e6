// Plan files: JSON (docs/plan-format.md) to a Job.
#ifndef HETGPU_TOOLS_HETGPU_RUN_PLAN_H_
#define HETGPU_TOOLS_HETGPU_RUN_PLAN_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "tools/common/json_input.h"
#include "tools/hetgpu-run/job.h"

namespace hetgpu::tools {

// Reads a plan; relative paths in it start at its folder. Errors are DataLoss
// or NotFound and name the file and the place in it.
absl::StatusOr<Job> ReadPlan(const std::string& path);

// The same from text; `folder` ("" or with a final slash) goes before paths.
absl::StatusOr<Job> ParsePlan(std::string_view text, std::string_view folder);

// Parts shared by plan.cc and plan_steps.cc.

// A value of the format page: number, "0x…", "nan", "inf", "-inf", and, where
// `variables` allows it, {"var": "k"}.
absl::StatusOr<Literal> ParsePlanValue(const JsonRef& json, bool variables);
absl::StatusOr<Address> ParsePlanAddress(const JsonRef& json);
absl::StatusOr<Steps> ParsePlanSteps(const JsonRef& json);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_PLAN_H_
