// libhetgpu_compiler.so: the one function it exports.
#include "backends/common/compiler_api.h"
#include "backends/compiler/source.h"
#include "backends/compiler/target.h"
#include "backends/cpu/compile/stage_times.h"
#include "hetir/passes/passes.h"
#include "mlir/IR/MLIRContext.h"

namespace hetgpu {
namespace {

absl::StatusOr<std::string> Compile(const CompileRequest& request) {
  const Target* target = FindTarget(request.backend);
  if (!target) {
    return absl::NotFoundError("no compiler target for backend " +
                               std::string(request.backend) + ", expected " +
                               TargetNames());
  }
  cpu::StageTimes times("compiler");
  mlir::DialectRegistry registry;
  hetir::RegisterDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  times.Mark("context");
  auto module = LoadSource(request, &context);
  if (!module.ok()) return module.status();
  times.Mark("front end");
  absl::StatusOr<std::string> image = target->compile(**module, request);
  times.Mark("target");
  return image;
}

constexpr CompilerApi kApi = {kCompilerAbi, HETGPU_COMPILER_BUILD_ID, Compile};

}  // namespace
}  // namespace hetgpu

extern "C" __attribute__((visibility("default"))) const hetgpu::CompilerApi*
hetgpuGetCompilerApi() {
  return &hetgpu::kApi;
}
