// Reads results back, and writes, prints and checks them.
#ifndef HETGPU_TOOLS_HETGPU_RUN_OUTPUTS_H_
#define HETGPU_TOOLS_HETGPU_RUN_OUTPUTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "tools/hetgpu-run/job.h"
#include "tools/hetgpu-run/memory.h"
#include "tools/hetgpu-run/report.h"
#include "tools/hetgpu-run/session.h"

namespace hetgpu::tools {

// All that can be found wrong with outputs before the run: names, sizes,
// shapes; reference files are read only afterwards.
absl::Status ValidateOutputs(const std::vector<Output>& outputs,
                             const Session& session, const Memory& memory);

// One report per output. A failed check is told in its report, not as a
// status.
absl::Status CollectOutputs(const std::vector<Output>& outputs,
                            const Session& session, const Memory& memory,
                            std::vector<OutputReport>* reports);

// FailedPrecondition naming the failed checks, or OK.
absl::Status CheckVerdict(const std::vector<OutputReport>& reports);

// The rows of a picture of `count` elements.
std::vector<std::string> DrawPicture(const Picture& picture, ElementType type,
                                     uint64_t count, const void* data);

}  // namespace hetgpu::tools

#endif  // HETGPU_TOOLS_HETGPU_RUN_OUTPUTS_H_
