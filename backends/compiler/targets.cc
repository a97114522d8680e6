#include "backends/compiler/target.h"
#include "backends/cpu/compile/compile.h"
#include "backends/cuda/compile/compile.h"
#include "mlir/IR/BuiltinOps.h"

namespace hetgpu {
namespace {

absl::StatusOr<std::string> CompileForCpu(mlir::ModuleOp module,
                                          const CompileRequest& request) {
  cpu::CompileOptions options;
  options.kernel = request.kernel;
  options.target = request.target;
  options.mode = request.cpu_mode;
  options.strict = request.fp_mode == "strict";
  return cpu::CompileTo(cpu::Stage::kImage, module, options);
}

absl::StatusOr<std::string> CompileForCuda(mlir::ModuleOp module,
                                           const CompileRequest& request) {
  cuda::CompileOptions options;
  options.kernel = request.kernel;
  options.target = request.target;
  options.strict = request.fp_mode == "strict";
  return cuda::CompileTo(cuda::Stage::kImage, module, options);
}

constexpr Target kTargets[] = {
    {"cpu", CompileForCpu},
    {"cuda", CompileForCuda},
};

}  // namespace

const Target* FindTarget(std::string_view backend) {
  for (const Target& target : kTargets) {
    if (target.backend == backend) return &target;
  }
  return nullptr;
}

std::string TargetNames() {
  std::string names;
  for (const Target& target : kTargets) {
    if (!names.empty()) names += ", ";
    names += target.backend;
  }
  return names;
}

}  // namespace hetgpu
