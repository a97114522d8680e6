#include "backends/llvm_ir/emitter.h"

#include <string>

#include "backends/llvm_ir/ir_util.h"
#include "backends/llvm_ir/memory_access.h"
#include "backends/llvm_ir/op_table.h"
#include "backends/llvm_ir/target_hooks.h"
#include "hetir/dialect/HetIR.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/RegionGraphTraits.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace hetgpu::llvm_ir {
namespace {

constexpr char kKeepsRegisters[] = "no_caller_saved_registers";

// Where a register is an argument and may be changed, the code generator knows
// it of its parts, but not of the wider register that it is part of: arguments
// fill theirs.
llvm::Type* ArgumentType(llvm::Type* type) {
  if (!type->isIntOrIntVectorTy()) return type;
  unsigned width = type->isVectorTy() ? 16 : 64;
  return type->getScalarSizeInBits() < width ? IntLike(type, width) : type;
}

}  // namespace

llvm::Type* StorageType(mlir::Type type, llvm::LLVMContext& context) {
  if (auto vector = mlir::dyn_cast<mlir::VectorType>(type)) {
    if (vector.getRank() != 1 || vector.isScalable()) return nullptr;
    llvm::Type* element = StorageType(vector.getElementType(), context);
    if (!element) return nullptr;
    return llvm::FixedVectorType::get(element, vector.getNumElements());
  }
  if (type.isIndex()) return llvm::Type::getInt64Ty(context);
  if (type.isF32() || type.isTF32()) return llvm::Type::getFloatTy(context);
  if (type.isF64()) return llvm::Type::getDoubleTy(context);
  if (type.isIntOrFloat()) {
    return llvm::Type::getIntNTy(context, type.getIntOrFloatBitWidth());
  }
  return nullptr;
}

absl::Status ErrorAt(mlir::Operation* op, const llvm::Twine& text) {
  std::string message;
  llvm::raw_string_ostream out(message);
  op->getLoc()->walk([&](mlir::Location location) {
    auto at = mlir::dyn_cast<mlir::FileLineColLoc>(location);
    if (!at) return mlir::WalkResult::advance();
    out << at.getFilename().getValue() << ":" << at.getLine() << ":"
        << at.getColumn() << ": ";
    return mlir::WalkResult::interrupt();
  });
  out << op->getName() << ": " << text;
  return absl::UnimplementedError(out.str());
}

Emitter::Emitter(mlir::Operation* source, llvm::Function* function,
                 const FunctionMap& module_functions,
                 const EmitOptions& options, TargetHooks& hooks)
    : source_(source),
      function_(function),
      module_functions_(module_functions),
      options_(options),
      hooks_(hooks),
      ir_(function->getContext()) {}

bool Emitter::in_kernel() const {
  return mlir::isa<hetir::KernelOp>(source_);
}

llvm::Value* Emitter::Get(mlir::Value value) const {
  return values_.lookup(value);
}

llvm::Type* Emitter::TypeOf(mlir::Value value) {
  return StorageType(value.getType(), context());
}

llvm::BasicBlock* Emitter::BlockOf(mlir::Block* block) const {
  return blocks_.lookup(block);
}

llvm::Function* Emitter::FindFunction(mlir::Operation* op,
                                      llvm::StringRef name) {
  mlir::Operation* callee = mlir::SymbolTable::lookupNearestSymbolFrom(
      op, mlir::StringAttr::get(op->getContext(), name));
  return callee ? module_functions_.lookup(callee) : nullptr;
}

void Emitter::AddIncoming(mlir::Block* target, mlir::ValueRange arguments) {
  llvm::BasicBlock* from = ir_.GetInsertBlock();
  for (auto [parameter, argument] :
       llvm::zip_equal(target->getArguments(), arguments)) {
    llvm::cast<llvm::PHINode>(Get(parameter))
        ->addIncoming(Get(argument), from);
    if (lane_forms_) lane_forms_->AddIncoming(*this, parameter, argument);
  }
}

llvm::BasicBlock* Emitter::BranchToColdBlock(llvm::Value* condition,
                                             const llvm::Twine& name) {
  auto* cold = llvm::BasicBlock::Create(context(), name, function_);
  auto* next = llvm::BasicBlock::Create(context(), "", function_);
  next->moveAfter(ir_.GetInsertBlock());
  llvm::MDBuilder metadata(context());
  ir_.CreateCondBr(condition, cold, next,
                   metadata.createBranchWeights(1, 1u << 20));
  ir_.SetInsertPoint(next);
  return cold;
}

llvm::Value* Emitter::acting_lane() {
  if (!acting_lane_) return ir_.getInt32(0);
  return acting_lane_->getType()->isVectorTy() ? LowestLane(ir_, acting_lane_)
                                               : acting_lane_;
}

void Emitter::NoteActingLanes(llvm::Value* mask) {
  if (noted_mask_ == mask) return;
  noted_mask_ = mask;
  hooks_.NoteActingLanes(*this, mask);
}

void Emitter::MarkAccess(LaneAccess access) {
  llvm::DISubprogram* scope = function_->getSubprogram();
  if (!scope || !lane_forms_) return;
  if (access.kind == LaneAccess::kOther && noted_mask_) access.first = 1;
  ir_.SetCurrentDebugLocation(llvm::DILocation::get(
      context(), line_, hooks_.ColumnOf(access), scope));
}

llvm::Value* Emitter::line() {
  return shared_line_ ? shared_line_ : ir_.getInt32(line_);
}

llvm::Value* Emitter::InEntry(const EntryKey& key,
                              llvm::function_ref<llvm::Value*()> emit) {
  auto [place, is_new] = in_entry_.try_emplace(key, nullptr);
  if (!is_new) return place->second;
  llvm::IRBuilderBase::InsertPointGuard guard(ir_);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  if (llvm::Instruction* end = entry.getTerminator()) ir_.SetInsertPoint(end);
  return place->second = emit();
}

llvm::AllocaInst* Emitter::Slot(llvm::Type* type) {
  llvm::IRBuilderBase::InsertPointGuard guard(ir_);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  ir_.SetInsertPoint(&entry, entry.begin());
  return ir_.CreateAlloca(type);
}

llvm::Function* Emitter::DefineShared(
    const llvm::Twine& name, llvm::FunctionType* type,
    llvm::ArrayRef<llvm::Type*> types, bool through_memory,
    llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> body) {
  llvm::Function* caller = function_;
  auto* shared = llvm::Function::Create(
      type, llvm::Function::InternalLinkage, name, *caller->getParent());
  shared->setCallingConv(llvm::CallingConv::Fast);
  for (auto attribute : {llvm::Attribute::NoUnwind, llvm::Attribute::NoInline,
                         llvm::Attribute::NoRecurse}) {
    shared->addFnAttr(attribute);
  }
  // Callers keep their registers: the calls hardly ever happen.
  shared->addFnAttr(kKeepsRegisters);
  hooks_.DecorateFunction(*shared);
  if (llvm::DISubprogram* scope = caller->getSubprogram()) {
    shared->setSubprogram(llvm::DISubprogram::getDistinct(
        context(), scope->getScope(), shared->getName(), shared->getName(),
        scope->getFile(), kLineOfCaller, scope->getType(), kLineOfCaller,
        nullptr, 0, 0, llvm::DINode::FlagZero,
        llvm::DISubprogram::SPFlagDefinition, scope->getUnit()));
  }
  llvm::IRBuilderBase::InsertPointGuard guard(ir_);
  llvm::SaveAndRestore in_shared(function_, shared);
  llvm::SaveAndRestore at_line(line_, kLineOfCaller);
  llvm::SaveAndRestore no_mask(noted_mask_,
                               static_cast<llvm::Value*>(nullptr));
  ir_.SetInsertPoint(llvm::BasicBlock::Create(context(), "", shared));
  if (llvm::DISubprogram* scope = shared->getSubprogram()) {
    ir_.SetCurrentDebugLocation(
        llvm::DILocation::get(context(), line_, 0, scope));
  }
  MarkAccess({LaneAccess::kOther});
  llvm::SmallVector<llvm::Value*> arguments;
  for (auto [argument, type] : llvm::zip_equal(shared->args(), types)) {
    arguments.push_back(type->isIntOrIntVectorTy()
                            ? ir_.CreateTrunc(&argument, type)
                            : &argument);
  }
  llvm::SaveAndRestore line(shared_line_, arguments[1]);
  llvm::Value* place = through_memory ? arguments.pop_back_val() : nullptr;
  llvm::Value* result = body(llvm::ArrayRef(arguments).drop_front(2));
  if (place) {
    ir_.CreateStore(result, place);
    ir_.CreateRetVoid();
  } else if (result) {
    ir_.CreateRet(result);
  } else {
    ir_.CreateRetVoid();
  }
  return shared;
}

llvm::Value* Emitter::CallShared(
    const llvm::Twine& name, llvm::Type* result,
    llvm::ArrayRef<llvm::Value*> arguments,
    llvm::function_ref<llvm::Value*(llvm::ArrayRef<llvm::Value*>)> body) {
  llvm::SmallVector<llvm::Value*> all = {function_->getArg(0), line()};
  all.append(arguments.begin(), arguments.end());
  // The code generator takes a result of more than a few registers through
  // memory itself, but then changes a register that callers count on.
  llvm::AllocaInst* place = nullptr;
  if (result->isVectorTy() &&
      result->getPrimitiveSizeInBits() / 8 > hooks_.ReturnedVectorBytes()) {
    place = Slot(result);
    all.push_back(place);
  }
  llvm::SmallVector<llvm::Type*> types, passed;
  for (llvm::Value*& argument : all) {
    types.push_back(argument->getType());
    passed.push_back(ArgumentType(types.back()));
    if (types.back()->isIntOrIntVectorTy()) {
      argument = ir_.CreateZExt(argument, passed.back());
    }
  }
  auto* type =
      llvm::FunctionType::get(place ? ir_.getVoidTy() : result, passed, false);
  llvm::SmallString<64> full_name(kSharedPrefix);
  name.toVector(full_name);
  for (llvm::Type* each : types) {
    llvm::raw_svector_ostream(full_name) << "." << *each;
  }
  llvm::Function* shared = function_->getParent()->getFunction(full_name);
  if (!shared) {
    shared = DefineShared(full_name, type, types, place != nullptr, body);
  }
  llvm::CallInst* call = ir_.CreateCall(shared, all);
  call->setCallingConv(llvm::CallingConv::Fast);
  call->addFnAttr(llvm::Attribute::NoUnwind);
  call->addFnAttr(llvm::Attribute::get(context(), kKeepsRegisters));
  if (place) return ir_.CreateLoad(result, place);
  return result->isVoidTy() ? nullptr : call;
}

void Emitter::CreateBlocks(mlir::Region& region) {
  bool entry = true;
  for (mlir::Block* block :
       llvm::ReversePostOrderTraversal<mlir::Block*>(&region.front())) {
    auto* emitted = llvm::BasicBlock::Create(context(), "", function_);
    blocks_[block] = emitted;
    if (entry) {
      size_t hidden = function_->arg_size() - block->getNumArguments();
      for (mlir::BlockArgument argument : block->getArguments()) {
        Set(argument, function_->getArg(hidden + argument.getArgNumber()));
      }
      entry = false;
      continue;
    }
    ir_.SetInsertPoint(emitted);
    for (mlir::BlockArgument argument : block->getArguments()) {
      Set(argument, ir_.CreatePHI(TypeOf(argument), 2));
    }
    if (lane_forms_) lane_forms_->AddArguments(*this, *block);
  }
}

absl::Status Emitter::EmitBody() {
  mlir::Region& region = source_->getRegion(0);
  for (mlir::Block& block : region) {
    for (mlir::Type type : block.getArgumentTypes()) {
      if (!StorageType(type, context())) {
        return ErrorAt(source_, "block argument of a type without a register");
      }
    }
  }
  auto kernel = mlir::dyn_cast<hetir::KernelOp>(source_);
  if (kernel && kernel.getLanes() > 1) lane_forms_.emplace(region);
  CreateBlocks(region);
  // Reverse post order: every value is emitted before its uses.
  for (mlir::Block* block :
       llvm::ReversePostOrderTraversal<mlir::Block*>(&region.front())) {
    absl::Status status = EmitBlock(*block);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Emitter::EmitBlock(mlir::Block& block) {
  ir_.SetInsertPoint(BlockOf(&block));
  noted_mask_ = nullptr;
  if (lane_forms_) lane_forms_->BeginBlock(*this, block);
  for (mlir::Operation& op : block) {
    absl::Status status = EmitOperation(&op);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Emitter::EmitOperation(mlir::Operation* op) {
  OpTable::EmitFn emit = GetOpTable().Find(op);
  if (!emit) return ErrorAt(op, "no emission to LLVM IR exists for this op");
  for (mlir::Type type : op->getResultTypes()) {
    if (!StorageType(type, context())) {
      return ErrorAt(op, "result of a type without a register");
    }
  }
  acting_lane_ = nullptr;
  // What waits lets others of the block note theirs.
  if (!mlir::isMemoryEffectFree(op) &&
      !mlir::isa<hetir::LoadOp, hetir::StoreOp>(op)) {
    noted_mask_ = nullptr;
  }
  line_ = hetir::LineOf(op);
  if (llvm::DISubprogram* scope = function_->getSubprogram()) {
    ir_.SetCurrentDebugLocation(
        llvm::DILocation::get(context(), line_, 0, scope));
  }
  MarkAccess({LaneAccess::kOther});
  if (hooks_.TryEmit(*this, op)) return absl::OkStatus();
  absl::Status status = emit(*this, op);
  if (status.ok() && lane_forms_) lane_forms_->Record(*this, op);
  return status;
}

}  // namespace hetgpu::llvm_ir
