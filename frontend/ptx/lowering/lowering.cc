#include "frontend/ptx/lowering/lowering.h"

#include <array>
#include <string>

#include "frontend/ptx/access_summary.h"
#include "frontend/ptx/lowering/context.h"
#include "frontend/ptx/lowering/program.h"
#include "frontend/ptx/sema.h"
#include "frontend/ptx/source_map.h"
#include "frontend/ptx/text.h"
#include "hetir/container/container.h"
#include "hetir/container/load.h"
#include "mlir/IR/Verifier.h"

namespace hetgpu::ptx {
namespace {

mlir::Location PlaceOf(const Program& program, const Function& function) {
  return mlir::FileLineColLoc::get(
      program.context(), program.module().file_name, function.location.line,
      function.location.column);
}

mlir::DenseI32ArrayAttr Dimensions(mlir::OpBuilder& builder,
                                   const std::array<uint32_t, 3>& sizes) {
  if (sizes[0] == 0) return {};
  llvm::SmallVector<int32_t, 3> values;
  for (uint32_t size : sizes) {
    values.push_back(size == 0 ? 1 : static_cast<int32_t>(size));
  }
  return builder.getDenseI32ArrayAttr(values);
}

mlir::Operation* MakeKernel(const Program& program, mlir::OpBuilder& builder) {
  const Function& kernel = program.kernel();
  const KernelLayout& layout = program.layout();
  return builder.create<hetir::KernelOp>(
      PlaceOf(program, kernel), llvm::StringRef(kernel.name),
      layout.param_bytes, layout.static_shared_bytes,
      layout.dynamic_shared_offset,
      Dimensions(builder, kernel.directives.maxntid),
      Dimensions(builder, kernel.directives.reqntid), /*lanes=*/1,
      kernel.directives.minnctapersm, kernel.directives.maxnreg);
}

mlir::Operation* MakeFunction(const Program& program, uint32_t index,
                              mlir::OpBuilder& builder) {
  const Function& function = program.module().functions[index];
  auto op = builder.create<mlir::func::FuncOp>(
      PlaceOf(program, function), llvm::StringRef(function.name),
      program.SignatureOf(index));
  op.setPrivate();
  op.addEntryBlock();
  return op;
}

// Turns what the verifier says into a status.
absl::Status Verify(mlir::ModuleOp module) {
  std::string text;
  mlir::ScopedDiagnosticHandler handler(
      module.getContext(), [&text](mlir::Diagnostic& diagnostic) {
        llvm::raw_string_ostream(text)
            << diagnostic.getLocation() << ": " << diagnostic << "; ";
        return mlir::success();
      });
  if (mlir::succeeded(mlir::verify(module))) return absl::OkStatus();
  return absl::InternalError(Cat("lowering made invalid hetIR: ", text));
}

// Blocks are launched one by one, not in clusters.
absl::Status CheckCluster(const Program& program) {
  const Function& kernel = program.kernel();
  for (uint32_t size : kernel.directives.reqnctapercluster) {
    if (size <= 1) continue;
    return absl::UnimplementedError(
        Cat(program.module().Place(kernel.location), ": kernel '", kernel.name,
            "' needs clusters of more than one block"));
  }
  return absl::OkStatus();
}

absl::Status LowerInto(const Module& module, const Sema& sema, uint32_t kernel,
                       mlir::ModuleOp target, std::string_view vendor = "") {
  Program program(module, sema, kernel, target.getContext(), vendor);
  if (!program.layout().refusal.ok()) return program.layout().refusal;
  if (auto status = CheckCluster(program); !status.ok()) return status;
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(target.getBody());
  mlir::Operation* op = MakeKernel(program, builder);
  absl::Status status = Lowering(program, kernel, op).Run();
  if (!status.ok()) return status;
  for (uint32_t function : program.Functions()) {
    op = MakeFunction(program, function, builder);
    status = Lowering(program, function, op).Run();
    if (!status.ok()) return status;
  }
  return Verify(target);
}

void LoadDialects(mlir::MLIRContext* context) {
  context->loadDialect<hetir::HetIRDialect, mlir::arith::ArithDialect,
                       mlir::cf::ControlFlowDialect,
                       mlir::func::FuncDialect>();
}

mlir::Location FileOf(const Module& module, mlir::MLIRContext* context) {
  return mlir::FileLineColLoc::get(context, module.file_name, 0, 0);
}

}  // namespace

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> LowerKernel(
    const Module& module, std::string_view kernel, mlir::MLIRContext* context,
    std::string_view vendor) {
  std::optional<uint32_t> index = module.FindFunction(kernel);
  if (!index || !module.functions[*index].is_entry) {
    return absl::NotFoundError(
        Cat(module.file_name, ": no kernel '", kernel, "'"));
  }
  absl::StatusOr<Sema> sema = Sema::Create(module);
  if (!sema.ok()) return sema.status();
  LoadDialects(context);
  mlir::OwningOpRef<mlir::ModuleOp> result =
      mlir::ModuleOp::create(FileOf(module, context));
  absl::Status status = LowerInto(module, *sema, *index, *result, vendor);
  if (!status.ok()) return status;
  return result;
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> LowerModule(
    const Module& module, mlir::MLIRContext* context) {
  absl::StatusOr<Sema> sema = Sema::Create(module);
  if (!sema.ok()) return sema.status();
  LoadDialects(context);
  mlir::OwningOpRef<mlir::ModuleOp> result =
      mlir::ModuleOp::create(FileOf(module, context));
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(result->getBody());
  for (uint32_t i = 0; i < module.functions.size(); ++i) {
    const Function& function = module.functions[i];
    if (!function.is_entry || !function.defined) continue;
    auto nested = builder.create<mlir::ModuleOp>(
        FileOf(module, context), llvm::StringRef(function.name));
    absl::Status status = LowerInto(module, *sema, i, nested);
    if (!status.ok()) return status;
  }
  return result;
}

absl::StatusOr<std::string> BuildContainer(const Module& module,
                                           mlir::MLIRContext* context) {
  absl::StatusOr<ModuleInfo> info = BuildModuleInfo(module);
  if (!info.ok()) return info.status();
  absl::StatusOr<Sema> sema = Sema::Create(module);
  if (!sema.ok()) return sema.status();
  LoadDialects(context);
  mlir::OwningOpRef<mlir::ModuleOp> all =
      mlir::ModuleOp::create(FileOf(module, context));
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(all->getBody());
  for (KernelInfo& kernel : info->kernels) {
    if (!kernel.refusal.ok()) continue;
    auto nested = builder.create<mlir::ModuleOp>(FileOf(module, context),
                                                 llvm::StringRef(kernel.name));
    const uint32_t function = *module.FindFunction(kernel.name);
    kernel.access = SummariseAccess(module, function);
    kernel.refusal = LowerInto(module, *sema, function, nested);
    if (!kernel.refusal.ok()) nested->erase();
  }
  return WriteContainer(*info, BuildSourceMap(module),
                        hetir::WriteBytecode(*all));
}

}  // namespace hetgpu::ptx
