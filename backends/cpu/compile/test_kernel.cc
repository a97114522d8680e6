#include "backends/cpu/compile/test_kernel.h"

#include <cstdlib>

#include "backends/cpu/device.h"
#include "hetir/dialect/HetIR.h"
#include "hetir/passes/passes.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Parser/Parser.h"

namespace hetgpu::cpu {

TestBuffer::TestBuffer(Device& device, size_t bytes) : device_(device) {
  absl::StatusOr<uint64_t> address = device.Allocate(bytes);
  if (!address.ok()) std::abort();
  address_ = *address;
}

TestBuffer::~TestBuffer() { (void)device_.Free(address_); }

TestCompiler::TestCompiler(uint64_t host_base, bool memcheck) {
  absl::StatusOr<Options> options = ReadOptions();
  if (!options.ok()) std::abort();
  if (host_base != 0) options->host_base = host_base;
  options->memcheck = memcheck;
  auto device = CpuDevice::Open(*options);
  if (!device.ok()) std::abort();
  device_ = *std::move(device);
  device_->SetPrintf([this](std::string_view text) { printed_ += text; });
}

absl::StatusOr<std::string> TestCompiler::Compile(const std::string& text,
                                                  CompileOptions options,
                                                  Stage stage) {
  mlir::DialectRegistry registry;
  hetir::RegisterDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::string messages;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic& diagnostic) {
        llvm::raw_string_ostream(messages)
            << diagnostic.getLocation() << ": " << diagnostic << "\n";
      });
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context, "test.mlir");
  if (!module) return absl::InvalidArgumentError(messages + text);
  options.kernel = "k";
  if (options.target.empty()) options.target = device_->info().target;
  return CompileTo(stage, *module, options);
}

absl::Status TestCompiler::Run(const std::string& image,
                               const TestLaunch& launch, LaunchError* error) {
  KernelInfo info;
  info.name = "k";
  info.param_bytes = launch.params.size() * 8;
  info.uses_dynamic_shared = true;
  absl::StatusOr<std::unique_ptr<Kernel>> kernel = device_->Load(info, image);
  if (!kernel.ok()) return kernel.status();
  absl::StatusOr<std::unique_ptr<Queue>> queue = device_->CreateQueue();
  if (!queue.ok()) return queue.status();
  LaunchDesc desc;
  desc.kernel = kernel->get();
  desc.info = &info;
  desc.grid = launch.grid;
  desc.block = launch.block;
  desc.dynamic_shared_bytes = launch.shared;
  desc.params.resize(info.param_bytes);
  std::memcpy(desc.params.data(), launch.params.data(), info.param_bytes);
  desc.module_data = launch.data;
  desc.timeout_ms = 60000;
  absl::Status status = (*queue)->Launch(desc);
  if (!status.ok()) return status;
  (void)(*queue)->Synchronize(error);
  return absl::OkStatus();
}

}  // namespace hetgpu::cpu
