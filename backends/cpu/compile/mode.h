// How a kernel is run on the CPU, and why.
#ifndef HETGPU_BACKENDS_CPU_COMPILE_MODE_H_
#define HETGPU_BACKENDS_CPU_COMPILE_MODE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::cpu {

enum class Mode { kAuto, kSimd, kScalar, kFiber };

// "auto", "simd", "scalar" or "fiber".
absl::StatusOr<Mode> ParseMode(std::string_view text);

// The first op that makes a kernel's threads depend on each other's progress,
// in the kernel and what it reaches: "hetir.barrier at line 12". Empty when
// there is none: then threads may run one after the other to the end.
std::string WhyNotScalar(mlir::ModuleOp module, hetir::KernelOp kernel);

// Whether a kernel of warps waits for other warps.
bool WarpsWait(hetir::KernelOp kernel);

}  // namespace hetgpu::cpu

#endif  // HETGPU_BACKENDS_CPU_COMPILE_MODE_H_
