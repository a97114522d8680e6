// The compile side of a backend: hetIR of one kernel to what its device loads.
// One row per backend in targets.cc.
#ifndef HETGPU_BACKENDS_COMPILER_TARGET_H_
#define HETGPU_BACKENDS_COMPILER_TARGET_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "backends/common/compiler_api.h"

namespace mlir {
class ModuleOp;
}  // namespace mlir

namespace hetgpu {

struct Target {
  std::string_view backend;  // as CompileRequest::backend
  // Consumes `module`, which holds request.kernel and what it reaches.
  absl::StatusOr<std::string> (*compile)(mlir::ModuleOp module,
                                         const CompileRequest& request);
};

// Null when no target serves the backend.
const Target* FindTarget(std::string_view backend);
// "cpu, …", for messages.
std::string TargetNames();

}  // namespace hetgpu

#endif  // HETGPU_BACKENDS_COMPILER_TARGET_H_
