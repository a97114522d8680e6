// libhetgpu_compiler.so: the one function it exports.
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "backends/common/compiler_api.h"
#include "backends/compiler/source.h"
#include "backends/compiler/target.h"
#include "backends/cpu/compile/stage_times.h"
#include "hetir/passes/passes.h"
#include "mlir/IR/MLIRContext.h"

namespace hetgpu {
namespace {

// Loading the dialects takes longer than a small kernel does. What a context
// learns (types, attributes, locations) it keeps, so it serves only so often.
class PooledContext {
 public:
  PooledContext() {
    {
      std::lock_guard lock(mutex());
      if (!idle().empty()) {
        used_ = std::move(idle().back());
        idle().pop_back();
        return;
      }
    }
    mlir::DialectRegistry registry;
    hetir::RegisterDialects(registry);
    used_.context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
    used_.context->loadAllAvailableDialects();
  }
  ~PooledContext() {
    if (++used_.times == kMostTimes) return;
    std::lock_guard lock(mutex());
    if (idle().size() < kMostIdle) idle().push_back(std::move(used_));
  }
  mlir::MLIRContext* get() const { return used_.context.get(); }

 private:
  struct Used {
    std::unique_ptr<mlir::MLIRContext> context;
    int times = 0;
  };
  static constexpr int kMostTimes = 32;
  static constexpr size_t kMostIdle = 16;

  // Never destroyed: threads may compile while the process ends.
  static std::mutex& mutex() {
    static auto* const mutex = new std::mutex;
    return *mutex;
  }
  static std::vector<Used>& idle() {
    static auto* const idle = new std::vector<Used>;
    return *idle;
  }

  Used used_;
};

absl::StatusOr<std::string> Compile(const CompileRequest& request) {
  const Target* target = FindTarget(request.backend);
  if (!target) {
    return absl::NotFoundError("no compiler target for backend " +
                               std::string(request.backend) + ", expected " +
                               TargetNames());
  }
  cpu::StageTimes times("compiler");
  const PooledContext context;
  times.Mark("context");
  auto module = LoadSource(request, context.get());
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
