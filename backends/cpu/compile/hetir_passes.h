// The hetIR passes of the CPU target, and the choice of mode.
#ifndef HETGPU_BACKENDS_CPU_COMPILE_HETIR_PASSES_H_
#define HETGPU_BACKENDS_CPU_COMPILE_HETIR_PASSES_H_

#include <string>

#include "absl/status/statusor.h"
#include "backends/cpu/compile/compile.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::cpu {

struct Plan {
  unsigned lanes = 1;
  bool needs_fibers = false;
  std::string explanation;  // mode and reason, one line
};

// Brings `module` to the form that is emitted: cf, one thread or one warp.
absl::StatusOr<Plan> RunHetirPasses(mlir::ModuleOp module,
                                    const CompileOptions& options);

// Brings `module` to structured warp form (simt-to-simd) and no further, for
// people to read. Unimplemented with the reason when the kernel has none.
absl::Status MakeWarpForm(mlir::ModuleOp module, const CompileOptions& options);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_HETIR_PASSES_H_
