#include "tools/hetgpu-cc/stages.h"

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "backends/cpu/compile/compile.h"
#include "backends/cpu/target_name.h"
#include "backends/cuda/compile/compile.h"
#include "frontend/ptx/dump.h"
#include "frontend/ptx/lowering/lowering.h"
#include "frontend/ptx/parser.h"
#include "frontend/ptx/text.h"
#include "hetir/container/container.h"
#include "hetir/container/load.h"
#include "hetir/dialect/HetIR.h"
#include "hetir/passes/passes.h"
#include "llvm/Support/raw_ostream.h"

namespace hetgpu::tools {
namespace {

using ptx::Cat;
using hetir::OwningModule;

// PTX starts with .version, after comments; hetIR never contains the word at
// the start of a line.
bool IsPtx(const CompileRequest& request) {
  std::string_view text = request.text;
  if (IsContainer(text)) return false;
  if (std::string_view(request.path).ends_with(".ptx")) return true;
  return text.starts_with(".version") ||
         text.find("\n.version") != std::string_view::npos;
}

absl::StatusOr<std::unique_ptr<ptx::Module>> ParsePtx(
    const CompileRequest& request) {
  if (!IsPtx(request)) {
    return absl::InvalidArgumentError(
        Cat(request.path, ": expected PTX for this stage"));
  }
  return ptx::Parse(request.text, request.path);
}

absl::Status EmitAst(const CompileRequest& request, std::string* output) {
  auto module = ParsePtx(request);
  if (!module.ok()) return module.status();
  *output = ptx::DumpModule(**module);
  return absl::OkStatus();
}

absl::StatusOr<OwningModule> LoadHetir(const CompileRequest& request,
                                       mlir::MLIRContext* context) {
  if (IsContainer(request.text)) {
    return hetir::LoadFromContainer(request.text, request.path, request.kernel,
                                    context);
  }
  if (!IsPtx(request)) {
    return hetir::ParseModule(request.text, request.path, context);
  }
  auto module = ParsePtx(request);
  if (!module.ok()) return module.status();
  if (request.kernel.empty()) return ptx::LowerModule(**module, context);
  return ptx::LowerKernel(**module, request.kernel, context, request.vendor);
}

absl::Status EmitContainer(const CompileRequest& request,
                           std::string* output) {
  auto module = ParsePtx(request);
  if (!module.ok()) return module.status();
  mlir::MLIRContext context;
  auto bytes = ptx::BuildContainer(**module, &context);
  if (bytes.ok()) *output = *bytes;
  return bytes.status();
}

absl::Status EmitHetir(const CompileRequest& request, std::string* output) {
  mlir::DialectRegistry registry;
  hetir::RegisterDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = LoadHetir(request, &context);
  if (!module.ok()) return module.status();
  mlir::OpPrintingFlags flags;
  if (request.locations) flags.enableDebugInfo(true);
  llvm::raw_string_ostream stream(*output);
  (*module)->print(stream, flags);
  return absl::OkStatus();
}

// The kernel asked for, or the only one.
absl::StatusOr<std::string> KernelName(const CompileRequest& request) {
  if (!request.kernel.empty() || !IsPtx(request)) return request.kernel;
  auto module = ParsePtx(request);
  if (!module.ok()) return module.status();
  std::string found;
  std::string names;
  size_t count = 0;
  for (const ptx::Function& function : (*module)->functions) {
    if (!function.is_entry) continue;
    found = function.name;
    names += (count++ == 0 ? "" : ", ") + found;
  }
  if (count == 1) return found;
  return absl::InvalidArgumentError(
      Cat(request.path, ": this stage needs --kernel, one of: ", names));
}

// Lowers the kernel asked for and hands it to `compile`.
template <typename Compile>
absl::Status EmitKernel(const CompileRequest& request, std::string* output,
                        Compile compile, std::string_view vendor = "") {
  absl::StatusOr<std::string> kernel = KernelName(request);
  if (!kernel.ok()) return kernel.status();
  CompileRequest one = request;
  one.kernel = *kernel;
  one.vendor = vendor;
  mlir::DialectRegistry registry;
  hetir::RegisterDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = LoadHetir(one, &context);
  if (!module.ok()) return module.status();
  if (one.kernel.empty()) {
    // hetIR text: the first kernel.
    for (auto op : (*module)->getOps<hetir::KernelOp>()) {
      one.kernel = op.getSymName().str();
      break;
    }
  }
  absl::StatusOr<std::string> text = compile(**module, one);
  if (text.ok()) *output = *text;
  return text.status();
}

template <cpu::Stage kStage>
absl::Status EmitForCpu(const CompileRequest& request, std::string* output) {
  return EmitKernel(
      request, output, [](mlir::ModuleOp module, const CompileRequest& one) {
        cpu::CompileOptions options;
        options.kernel = one.kernel;
        options.mode = one.cpu_mode;
        if (one.cpu != cpu::kNativeTarget) {
          options.target = cpu::TargetName(one.cpu);
        }
        options.strict = one.strict;
        return cpu::CompileTo(kStage, module, options);
      });
}

template <cuda::Stage kStage>
absl::Status EmitForCuda(const CompileRequest& request, std::string* output) {
  return EmitKernel(
      request, output, [](mlir::ModuleOp module, const CompileRequest& one) {
        cuda::CompileOptions options;
        options.kernel = one.kernel;
        options.target = one.gpu;
        options.strict = one.strict;
        return cuda::CompileTo(kStage, module, options);
      },
      "nv");
}

constexpr Stage kStages[] = {
    {"ast", "the syntax tree of the PTX", EmitAst},
    {"hetir", "hetIR as lowered, without optimisation", EmitHetir},
    {"container", "the .hetir file of all kernels", EmitContainer},
    {"hetir-simd", "hetIR of one warp: vectors and masks, structured",
     EmitForCpu<cpu::Stage::kHetirSimd>},
    {"cpu-hetir", "hetIR after the passes of the CPU target",
     EmitForCpu<cpu::Stage::kHetir>},
    {"llvm", "LLVM IR as emitted for the CPU", EmitForCpu<cpu::Stage::kLlvm>},
    {"llvm-opt", "LLVM IR after optimisation",
     EmitForCpu<cpu::Stage::kLlvmOpt>},
    {"asm", "assembly of this processor", EmitForCpu<cpu::Stage::kAssembly>},
    {"object", "ELF object before linking", EmitForCpu<cpu::Stage::kObject>},
    {"image", "kernel image as the CPU device loads it",
     EmitForCpu<cpu::Stage::kImage>},
    {"nvptx-hetir", "hetIR after the passes of GPU targets",
     EmitForCuda<cuda::Stage::kHetir>},
    {"nvptx-llvm", "LLVM IR as emitted for NVIDIA GPUs",
     EmitForCuda<cuda::Stage::kLlvm>},
    {"nvptx-llvm-opt", "LLVM IR after optimisation",
     EmitForCuda<cuda::Stage::kLlvmOpt>},
    {"nvptx", "kernel image as the CUDA device loads it: PTX",
     EmitForCuda<cuda::Stage::kImage>},
};

}  // namespace

std::span<const Stage> Stages() { return kStages; }

}  // namespace hetgpu::tools
