#include "backends/cuda/compile/compile.h"

#include <optional>

#include "backends/cpu/compile/stage_times.h"
#include "backends/cuda/compile/cuda_hooks.h"
#include "backends/cuda/compile/entry.h"
#include "backends/cuda/compile/machine.h"
#include "backends/cuda/image.h"
#include "backends/cuda/window.h"
#include "backends/llvm_ir/emit.h"
#include "backends/llvm_ir/gpu/code_generator.h"
#include "backends/llvm_ir/gpu/optimize.h"
#include "backends/llvm_ir/gpu/passes.h"
#include "llvm/Support/raw_ostream.h"

namespace hetgpu::cuda {
namespace {

static_assert(kParamOffset == llvm_ir::kGpuParamOffset);

template <typename T, typename... Arguments>
std::string Print(T& printable, Arguments... arguments) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printable.print(out, arguments...);
  return text;
}

std::string Why(const CompileOptions& options, const Window& window) {
  if (window.delta != 0) {
    return "unified memory lies at a distance from the GPU's addresses, which "
           "the driver's own code does not know of";
  }
  return options.strict ? "HETGPU_FP_MODE is strict" : "-";
}

absl::StatusOr<llvm_ir::EmittedModule> EmitKernel(
    mlir::ModuleOp module, const CompileOptions& options, CudaHooks& hooks,
    llvm::TargetMachine& machine, llvm::LLVMContext& context) {
  llvm_ir::EmitOptions emit_options;
  emit_options.strict = options.strict;
  emit_options.line_table = false;  // the driver tells no lines
  absl::StatusOr<llvm_ir::EmittedModule> emitted =
      llvm_ir::Emit(module, options.kernel, context,
                    machine.createDataLayout(), emit_options, hooks);
  if (!emitted.ok()) return emitted;
  emitted->module->setTargetTriple(machine.getTargetTriple().str());
  auto kernel =
      mlir::SymbolTable(module).lookup<hetir::KernelOp>(options.kernel);
  MakeEntry(emitted->kernel, kernel);
  NameOwnFunctions(emitted->kernel);
  return emitted;
}

}  // namespace

absl::StatusOr<std::string> CompileTo(Stage stage, mlir::ModuleOp module,
                                      const CompileOptions& options) {
  cpu::StageTimes times("cuda compile");
  absl::StatusOr<unsigned> sm = ComputeCapability(options.target);
  if (!sm.ok()) return sm.status();
  const std::optional<Window> window = WindowOf(options.target);
  if (!window) {
    return absl::InvalidArgumentError(
        "cuda: target " + options.target +
        ", expected a window such as /arena=600000000000:10000000000:1000000");
  }
  auto kernel =
      mlir::SymbolTable(module).lookup<hetir::KernelOp>(options.kernel);
  if (!kernel) {
    return absl::NotFoundError("cuda: no kernel named " + options.kernel);
  }
  absl::Status status = llvm_ir::RunGpuPasses(
      module, {window->base, window->bytes, window->delta});
  if (!status.ok()) return status;
  times.Mark("hetIR passes");
  if (stage == Stage::kHetir) return Print(module);

  auto machine = CreateMachine(*sm);
  if (!machine.ok()) return machine.status();
  times.Mark("target machine");
  llvm::LLVMContext context;
  CudaHooks hooks(kernel, *sm);
  absl::StatusOr<llvm_ir::EmittedModule> emitted =
      EmitKernel(module, options, hooks, **machine, context);
  if (!emitted.ok()) return emitted.status();
  times.Mark("emission");
  if (stage == Stage::kLlvm) return Print(*emitted->module, nullptr);

  llvm_ir::OptimizeForGpu(*emitted->module, **machine);
  times.Mark("LLVM optimisation");
  if (stage == Stage::kLlvmOpt) return Print(*emitted->module, nullptr);

  absl::StatusOr<std::string> ptx = llvm_ir::GenerateGpuCode(
      *emitted->module, **machine, llvm::CodeGenFileType::AssemblyFile);
  times.Mark("code generation");
  if (!ptx.ok()) return ptx;
  ImageHeader header;
  header.entry = options.kernel;
  header.const_copies = hooks.const_copies();
  header.why = Why(options, *window);
  return FormatHeader(header) + Tidy(*ptx);
}

}  // namespace hetgpu::cuda
