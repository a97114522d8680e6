#include "backends/llvm_ir/emit.h"

#include <string>
#include <vector>

#include "backends/llvm_ir/emitter.h"
#include "backends/llvm_ir/target_hooks.h"
#include "hetir/dialect/HetIR.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/SymbolTable.h"

namespace hetgpu::llvm_ir {
namespace {

// The functions an op may enter.
std::vector<llvm::StringRef> Callees(mlir::Operation* op) {
  std::vector<llvm::StringRef> names;
  if (auto call = mlir::dyn_cast<mlir::func::CallOp>(op)) {
    names.push_back(call.getCallee());
  }
  if (auto call = mlir::dyn_cast<hetir::CallIndirectOp>(op)) {
    for (mlir::Attribute candidate : call.getCandidates()) {
      names.push_back(mlir::cast<mlir::FlatSymbolRefAttr>(candidate)
                          .getValue());
    }
  }
  return names;
}

// `kernel` first, then what it reaches, in order of discovery.
absl::StatusOr<llvm::SetVector<mlir::Operation*>> Reach(
    mlir::ModuleOp module, mlir::Operation* kernel) {
  mlir::SymbolTable symbols(module);
  llvm::SetVector<mlir::Operation*> reached;
  reached.insert(kernel);
  absl::Status status;
  for (size_t i = 0; i < reached.size(); ++i) {
    reached[i]->walk([&](mlir::Operation* op) {
      for (llvm::StringRef name : Callees(op)) {
        auto callee = symbols.lookup<mlir::func::FuncOp>(name);
        if (!callee || callee.isExternal()) {
          status = ErrorAt(
              op, "function " + name + " has no definition in this module");
          return mlir::WalkResult::interrupt();
        }
        reached.insert(callee);
      }
      return mlir::WalkResult::advance();
    });
    if (!status.ok()) return status;
  }
  return reached;
}

class ModuleEmitter {
 public:
  ModuleEmitter(llvm::Module& module, const EmitOptions& options,
                TargetHooks& hooks)
      : module_(module), options_(options), hooks_(hooks), debug_(module) {}

  absl::Status Declare(mlir::Operation* source);
  absl::Status Define(mlir::Operation* source);
  void Finish() {
    if (options_.line_table) debug_.finalize();
  }
  llvm::Function* Lookup(mlir::Operation* source) {
    return functions_.lookup(source);
  }

 private:
  llvm::FunctionType* TypeOf(mlir::Operation* source);
  void AttachScope(mlir::Operation* source, llvm::Function* function);

  llvm::Module& module_;
  const EmitOptions& options_;
  TargetHooks& hooks_;
  llvm::DIBuilder debug_;
  llvm::DIFile* file_ = nullptr;
  Emitter::FunctionMap functions_;
};

llvm::FunctionType* ModuleEmitter::TypeOf(mlir::Operation* source) {
  llvm::LLVMContext& context = module_.getContext();
  std::vector<llvm::Type*> parameters = hooks_.HiddenParameters(context);
  llvm::Type* result = llvm::Type::getVoidTy(context);
  if (mlir::isa<hetir::KernelOp>(source)) {
    for (llvm::Type* type : hooks_.KernelParameters(context)) {
      parameters.push_back(type);
    }
  }
  if (auto function = mlir::dyn_cast<mlir::func::FuncOp>(source)) {
    for (mlir::Type type : function.getArgumentTypes()) {
      parameters.push_back(StorageType(type, context));
      if (!parameters.back()) return nullptr;
    }
    std::vector<llvm::Type*> results;
    for (mlir::Type type : function.getResultTypes()) {
      results.push_back(StorageType(type, context));
      if (!results.back()) return nullptr;
    }
    if (results.size() == 1) result = results[0];
    if (results.size() > 1) result = llvm::StructType::get(context, results);
  }
  return llvm::FunctionType::get(result, parameters, false);
}

// One compile unit for line tables only: the scope of all locations.
void ModuleEmitter::AttachScope(mlir::Operation* source,
                                llvm::Function* function) {
  if (!options_.line_table) return;
  if (!file_) {
    file_ = debug_.createFile("module.ptx", "");
    debug_.createCompileUnit(
        llvm::dwarf::DW_LANG_C, file_, "hetgpu", true, "", 0, "",
        llvm::DICompileUnit::LineTablesOnly);
    module_.addModuleFlag(llvm::Module::Warning, "Debug Info Version",
                          llvm::DEBUG_METADATA_VERSION);
    module_.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
  }
  unsigned line = hetir::LineOf(source);
  function->setSubprogram(debug_.createFunction(
      file_, function->getName(), function->getName(), file_, line,
      debug_.createSubroutineType(debug_.getOrCreateTypeArray({})), line,
      llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition));
}

absl::Status ModuleEmitter::Declare(mlir::Operation* source) {
  llvm::FunctionType* type = TypeOf(source);
  if (!type) {
    return ErrorAt(source, "signature with a type without a register");
  }
  auto* function = llvm::Function::Create(
      type, llvm::Function::InternalLinkage,
      mlir::SymbolTable::getSymbolName(source).getValue(), module_);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->addFnAttr(llvm::Attribute::Convergent);
  hooks_.DecorateFunction(*function);
  AttachScope(source, function);
  functions_[source] = function;
  return absl::OkStatus();
}

absl::Status ModuleEmitter::Define(mlir::Operation* source) {
  Emitter emitter(source, Lookup(source), functions_, options_, hooks_);
  return emitter.EmitBody();
}

}  // namespace

absl::StatusOr<EmittedModule> Emit(mlir::ModuleOp source,
                                   std::string_view kernel,
                                   llvm::LLVMContext& context,
                                   const llvm::DataLayout& layout,
                                   const EmitOptions& options,
                                   TargetHooks& hooks) {
  auto kernel_op = mlir::SymbolTable(source).lookup<hetir::KernelOp>(
      llvm::StringRef(kernel.data(), kernel.size()));
  if (!kernel_op) {
    return absl::NotFoundError("no kernel named " + std::string(kernel));
  }
  absl::StatusOr<llvm::SetVector<mlir::Operation*>> reached =
      Reach(source, kernel_op);
  if (!reached.ok()) return reached.status();

  EmittedModule result;
  result.module = std::make_unique<llvm::Module>("hetgpu", context);
  result.module->setDataLayout(layout);
  ModuleEmitter emitter(*result.module, options, hooks);
  for (mlir::Operation* op : *reached) {
    absl::Status status = emitter.Declare(op);
    if (!status.ok()) return status;
  }
  for (mlir::Operation* op : *reached) {
    absl::Status status = emitter.Define(op);
    if (!status.ok()) return status;
  }
  emitter.Finish();
  result.kernel = emitter.Lookup(kernel_op);

  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(*result.module, &stream)) {
    return absl::InternalError(
        "emitted LLVM IR of kernel " + std::string(kernel) +
        " is not valid: " + stream.str());
  }
  return result;
}

}  // namespace hetgpu::llvm_ir
