#include "backends/cpu/compile/compile.h"

#include "backends/cpu/compile/cpu_hooks.h"
#include "backends/cpu/compile/entry.h"
#include "backends/cpu/compile/hetir_passes.h"
#include "backends/cpu/compile/link.h"
#include "backends/cpu/compile/machine.h"
#include "backends/cpu/compile/optimize.h"
#include "backends/cpu/compile/stage_times.h"
#include "backends/llvm_ir/emit.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace hetgpu::cpu {
namespace {

static_assert(kLineOfCaller == llvm_ir::kLineOfCaller);

template <typename T>
std::string Print(T& printable) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printable.print(out, nullptr);
  return text;
}

std::string PrintHetir(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream out(text);
  module.print(out);
  return text;
}

// What holds for every function of the module.
void SetAttributes(llvm::Module& module, const llvm::TargetMachine& machine) {
  std::string width = std::to_string(PreferredVectorBits(machine));
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", "512");
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    std::string features = machine.getTargetFeatureString().str();
    // They keep all registers of their callers, whole.
    if (function.getName().starts_with(llvm_ir::kSharedPrefix)) {
      features += ",-vzeroupper";
    }
    function.addFnAttr("target-features", features);
  }
}

absl::StatusOr<llvm_ir::EmittedModule> EmitKernel(
    mlir::ModuleOp module, const CompileOptions& options, const Plan& plan,
    llvm::TargetMachine& machine, llvm::LLVMContext& context) {
  auto kernel =
      mlir::SymbolTable(module).lookup<hetir::KernelOp>(options.kernel);
  std::optional<ArenaWindow> window = WindowOf(options.target);
  if (!window) {
    return absl::InvalidArgumentError("cpu: target " + options.target +
                                      " names no window for its arena");
  }
  CpuHooks hooks({plan.lanes, kernel.getParamBytes(), VectorBytes(machine),
                  ChecksExactly(options.target), *window});
  llvm_ir::EmitOptions emit_options;
  emit_options.strict = options.strict;
  absl::StatusOr<llvm_ir::EmittedModule> emitted =
      llvm_ir::Emit(module, options.kernel, context,
                    machine.createDataLayout(), emit_options, hooks);
  if (!emitted.ok()) return emitted;
  emitted->module->setTargetTriple(machine.getTargetTriple().str());
  BuildEntry(emitted->kernel, plan.lanes, plan.needs_fibers);
  SetAttributes(*emitted->module, machine);
  return emitted;
}

}  // namespace

absl::StatusOr<std::string> CompileTo(Stage stage, mlir::ModuleOp module,
                                      const CompileOptions& options) {
  StageTimes times("cpu compile");
  if (stage == Stage::kHetirSimd) {
    absl::Status status = MakeWarpForm(module, options);
    if (!status.ok()) return status;
    return PrintHetir(module);
  }
  absl::StatusOr<Plan> plan = RunHetirPasses(module, options);
  if (!plan.ok()) return plan.status();
  times.Mark("hetIR passes");
  if (stage == Stage::kHetir) return PrintHetir(module);

  absl::StatusOr<Machine> machine = TakeMachine(options.target);
  if (!machine.ok()) return machine.status();
  times.Mark("target machine");
  llvm::LLVMContext context;
  absl::StatusOr<llvm_ir::EmittedModule> emitted =
      EmitKernel(module, options, *plan, **machine, context);
  if (!emitted.ok()) return emitted.status();
  times.Mark("emission");
  if (stage == Stage::kLlvm) return Print(*emitted->module);

  Optimize(*emitted->module, **machine, /*vectorize=*/plan->lanes == 1);
  times.Mark("LLVM optimisation");
  if (stage == Stage::kLlvmOpt) return Print(*emitted->module);

  llvm::CodeGenFileType type = stage == Stage::kAssembly
                                   ? llvm::CodeGenFileType::AssemblyFile
                                   : llvm::CodeGenFileType::ObjectFile;
  absl::StatusOr<std::string> code =
      GenerateCode(*emitted->module, **machine, type);
  times.Mark("code generation");
  if (!code.ok() || stage != Stage::kImage) return code;

  absl::StatusOr<std::string> image =
      LinkImage(*code, {plan->lanes, plan->needs_fibers, plan->explanation,
                        kEntryName});
  times.Mark("linking");
  return image;
}

}  // namespace hetgpu::cpu
