#include "backends/cpu/compile/hetir_passes.h"

#include <algorithm>
#include <string>

#include "backends/cpu/abi.h"
#include "backends/cpu/arena_window.h"
#include "backends/cpu/compile/mode.h"
#include "hetir/passes/passes.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace hetgpu::cpu {
namespace {

// Runs passes with diagnostics collected; the text is empty on success. What
// comes in was verified when it was read, and tests of each pass verify what
// comes out.
std::string RunPasses(mlir::ModuleOp module, mlir::PassManager& passes) {
  passes.enableVerifier(false);
  std::string text;
  mlir::ScopedDiagnosticHandler handler(
      module.getContext(), [&](mlir::Diagnostic& diagnostic) {
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error) {
          return;
        }
        llvm::raw_string_ostream out(text);
        if (!text.empty()) out << "; ";
        auto place = mlir::dyn_cast<mlir::FileLineColLoc>(
            diagnostic.getLocation());
        if (place) out << "line " << place.getLine() << ": ";
        out << diagnostic.str();
      });
  if (mlir::succeeded(passes.run(module))) return "";
  return text.empty() ? "a pass failed" : text;
}

absl::Status Prepare(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  passes.addPass(hetir::CreateRecoverPointersPass());
  passes.addPass(hetir::CreateInsertProgressPass());
  std::string error = RunPasses(module, passes);
  if (error.empty()) return absl::OkStatus();
  return absl::InternalError("cpu: hetIR passes: " + error);
}

std::string MakeWarps(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(hetir::CreateLiftToScfPass());
  passes.addPass(hetir::CreateSimtToSimdPass());
  passes.addPass(mlir::createCanonicalizerPass());
  passes.addPass(mlir::createCSEPass());
  return RunPasses(module, passes);
}

absl::Status Flatten(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.addPass(mlir::createConvertSCFToCFPass());
  std::string error = RunPasses(module, passes);
  if (error.empty()) return absl::OkStatus();
  return absl::InternalError("cpu: hetIR passes: " + error);
}

hetir::KernelOp FindKernel(mlir::ModuleOp module, const std::string& name) {
  return mlir::SymbolTable(module).lookup<hetir::KernelOp>(name);
}

absl::Status NoKernel(const CompileOptions& options) {
  return absl::NotFoundError("cpu: no kernel named " + options.kernel);
}

// Replaces the body of `module` by that of `other`.
void TakeBody(mlir::ModuleOp module, mlir::ModuleOp other) {
  module.getBodyRegion().takeBody(other.getBodyRegion());
}

// Empty on success, else why warps are not possible.
std::string TryWarps(mlir::ModuleOp module, const CompileOptions& options,
                     Plan& plan) {
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  std::string reason = MakeWarps(*copy);
  if (!reason.empty()) return reason;
  plan.lanes = kWarpSize;
  plan.needs_fibers = WarpsWait(FindKernel(*copy, options.kernel));
  TakeBody(module, *copy);
  return "";
}

// Local memory is part of frames: what a thread of a GPU may have, 512 KiB, fits
// many times; more than this in one frame does not fit a stack.
constexpr uint64_t kMaxLocalBytes = uint64_t{16} << 20;

absl::Status CheckLocalMemory(mlir::ModuleOp module,
                              const CompileOptions& options) {
  uint64_t bytes = 0;
  module.walk([&](hetir::LocalAllocOp array) {
    bytes += std::min(array.getSize(), uint64_t{1} << 40);
  });
  if (bytes <= kMaxLocalBytes) return absl::OkStatus();
  return absl::UnimplementedError(
      "cpu: kernel " + options.kernel + " needs " + std::to_string(bytes) +
      " bytes of local memory per thread, at most " +
      std::to_string(kMaxLocalBytes) + " are possible");
}

absl::Status NotSimd(const CompileOptions& options, const std::string& reason) {
  return absl::UnimplementedError("cpu: kernel " + options.kernel +
                                  " cannot be run in mode simd: " + reason);
}

}  // namespace

absl::Status MakeWarpForm(mlir::ModuleOp module,
                          const CompileOptions& options) {
  if (!FindKernel(module, options.kernel)) return NoKernel(options);
  absl::Status status = Prepare(module);
  if (!status.ok()) return status;
  std::string reason = MakeWarps(module);
  return reason.empty() ? absl::OkStatus() : NotSimd(options, reason);
}

absl::StatusOr<Plan> RunHetirPasses(mlir::ModuleOp module,
                                    const CompileOptions& options) {
  if (!FindKernel(module, options.kernel)) return NoKernel(options);
  absl::StatusOr<Mode> mode = ParseMode(options.mode);
  if (!mode.ok()) return mode.status();
  absl::Status status = Prepare(module);
  if (status.ok()) status = CheckLocalMemory(module, options);
  if (!status.ok()) return status;

  Plan plan;
  std::string not_simd;
  if (*mode == Mode::kAuto || *mode == Mode::kSimd) {
    not_simd = ChecksExactly(options.target)
                   ? "accesses are checked exactly, thread by thread"
                   : TryWarps(module, options, plan);
    if (not_simd.empty()) {
      plan.explanation = plan.needs_fibers
                             ? "simd: warps on fibers, they wait at barriers"
                             : "simd: warps one after the other";
      status = Flatten(module);
      if (!status.ok()) return status;
      return plan;
    }
    if (*mode == Mode::kSimd) return NotSimd(options, not_simd);
  }
  std::string waits = WhyNotScalar(module, FindKernel(module, options.kernel));
  if (*mode == Mode::kScalar && !waits.empty()) {
    return absl::UnimplementedError("cpu: kernel " + options.kernel +
                                    " cannot be run in mode scalar: " +
                                      waits);
  }
  plan.needs_fibers = *mode == Mode::kFiber || !waits.empty();
  plan.explanation = plan.needs_fibers
                         ? "fiber: one fiber per thread"
                         : "scalar: threads one after the other";
  if (*mode != Mode::kAuto) plan.explanation += ", as asked";
  if (!waits.empty()) plan.explanation += ": " + waits;
  if (!not_simd.empty()) plan.explanation += "; not simd: " + not_simd;
  status = Flatten(module);
  if (!status.ok()) return status;
  return plan;
}

}  // namespace hetgpu::cpu
