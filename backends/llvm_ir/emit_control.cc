// Branches, calls, and ways to end.
#include "backends/llvm_ir/ir_util.h"
#include "backends/llvm_ir/op_table.h"
#include "backends/llvm_ir/target_hooks.h"
#include "hetir/dialect/HetIR.h"
#include "hetir/dialect/loop_hint.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

namespace hetgpu::llvm_ir {
namespace {

namespace cf = ::mlir::cf;
namespace func = ::mlir::func;

// Keeps a loop as it is, where the target wants to hear of it.
void MarkLoop(Emitter& e, mlir::Operation* op, llvm::Instruction* branch) {
  if (!op->hasAttr(hetir::kNoUnroll) || !e.hooks().KeepsLoops()) return;
  llvm::LLVMContext& context = e.context();
  llvm::Metadata* disable = llvm::MDNode::get(
      context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* loop =
      llvm::MDNode::getDistinct(context, {nullptr, disable});
  loop->replaceOperandWith(0, loop);
  branch->setMetadata(llvm::LLVMContext::MD_loop, loop);
}

absl::Status EmitBranch(Emitter& e, cf::BranchOp op) {
  e.AddIncoming(op.getDest(), op.getDestOperands());
  MarkLoop(e, op, e.ir().CreateBr(e.BlockOf(op.getDest())));
  return absl::OkStatus();
}

// A block that only goes on to `target`: gives an edge a predecessor of its
// own.
llvm::BasicBlock* EdgeBlock(Emitter& e, mlir::Block* target,
                            mlir::ValueRange arguments) {
  if (arguments.empty()) return e.BlockOf(target);
  Ir& ir = e.ir();
  llvm::IRBuilderBase::InsertPointGuard guard(ir);
  auto* edge = llvm::BasicBlock::Create(e.context(), "", e.function());
  ir.SetInsertPoint(edge);
  e.AddIncoming(target, arguments);
  ir.CreateBr(e.BlockOf(target));
  return edge;
}

absl::Status EmitCondBranch(Emitter& e, cf::CondBranchOp op) {
  llvm::Value* condition = e.Get(op.getCondition());
  if (op.getTrueDest() == op.getFalseDest()) {
    llvm::BasicBlock* if_true =
        EdgeBlock(e, op.getTrueDest(), op.getTrueDestOperands());
    llvm::BasicBlock* if_false =
        EdgeBlock(e, op.getFalseDest(), op.getFalseDestOperands());
    e.ir().CreateCondBr(condition, if_true, if_false);
    return absl::OkStatus();
  }
  e.AddIncoming(op.getTrueDest(), op.getTrueDestOperands());
  e.AddIncoming(op.getFalseDest(), op.getFalseDestOperands());
  MarkLoop(e, op,
           e.ir().CreateCondBr(condition, e.BlockOf(op.getTrueDest()),
                               e.BlockOf(op.getFalseDest())));
  return absl::OkStatus();
}

absl::Status EmitSwitch(Emitter& e, cf::SwitchOp op) {
  llvm::BasicBlock* otherwise =
      EdgeBlock(e, op.getDefaultDestination(), op.getDefaultOperands());
  llvm::SwitchInst* result =
      e.ir().CreateSwitch(e.Get(op.getFlag()), otherwise);
  if (!op.getCaseValues()) return absl::OkStatus();
  size_t index = 0;
  for (const llvm::APInt& value : op.getCaseValues()->getValues<llvm::APInt>()) {
    result->addCase(
        llvm::ConstantInt::get(e.context(), value),
        EdgeBlock(e, op.getCaseDestinations()[index],
                  op.getCaseOperands(index)));
    ++index;
  }
  return absl::OkStatus();
}

// The hidden arguments of this function, handed on.
llvm::SmallVector<llvm::Value*> HiddenArguments(Emitter& e) {
  llvm::SmallVector<llvm::Value*> arguments;
  size_t count = e.hooks().HiddenParameters(e.context()).size();
  for (size_t i = 0; i < count; ++i) {
    arguments.push_back(e.function()->getArg(i));
  }
  return arguments;
}

// Values of a call with `results` results.
llvm::SmallVector<llvm::Value*> Unpack(Emitter& e, llvm::Value* call,
                                       size_t results) {
  llvm::SmallVector<llvm::Value*> values;
  if (results == 1) values.push_back(call);
  for (size_t i = 0; results > 1 && i < results; ++i) {
    values.push_back(e.ir().CreateExtractValue(call, i));
  }
  return values;
}

absl::Status EmitCall(Emitter& e, func::CallOp op) {
  llvm::Function* callee = e.FindFunction(op, op.getCallee());
  if (!callee) {
    return ErrorAt(op, "function " + op.getCallee() +
                           " is not part of this module");
  }
  llvm::SmallVector<llvm::Value*> arguments = HiddenArguments(e);
  for (mlir::Value operand : op.getOperands()) {
    arguments.push_back(e.Get(operand));
  }
  llvm::Value* call = e.ir().CreateCall(callee, arguments);
  for (auto [result, value] :
       llvm::zip(op.getResults(), Unpack(e, call, op.getNumResults()))) {
    e.Set(result, value);
  }
  return absl::OkStatus();
}

absl::Status EmitReturn(Emitter& e, func::ReturnOp op) {
  Ir& ir = e.ir();
  if (op.getNumOperands() == 0) {
    ir.CreateRetVoid();
    return absl::OkStatus();
  }
  llvm::SmallVector<llvm::Value*> values;
  for (mlir::Value operand : op.getOperands()) values.push_back(e.Get(operand));
  if (values.size() == 1) {
    ir.CreateRet(values[0]);
  } else {
    ir.CreateAggregateRet(values.data(), values.size());
  }
  return absl::OkStatus();
}

// A switch over the tokens of the candidates; any other token traps.
absl::Status EmitCallIndirect(Emitter& e, hetir::CallIndirectOp op) {
  Ir& ir = e.ir();
  llvm::SmallVector<llvm::Value*> arguments = HiddenArguments(e);
  for (mlir::Value operand : op.getInputs()) {
    arguments.push_back(e.Get(operand));
  }
  llvm::BasicBlock* before = ir.GetInsertBlock();
  auto* wrong = llvm::BasicBlock::Create(e.context(), "", e.function());
  auto* after = llvm::BasicBlock::Create(e.context(), "", e.function());
  auto* selector = ir.CreateSwitch(e.Get(op.getCallee()), wrong);
  ir.SetInsertPoint(wrong);
  e.hooks().EndWithTrap(e, Trap::kInvalid, ir.getInt32(0));

  ir.SetInsertPoint(after);
  llvm::SmallVector<llvm::PHINode*> results;
  for (mlir::Value result : op.getOutputs()) {
    if (op.getTokens().empty()) {  // never comes back
      e.Set(result, llvm::Constant::getNullValue(e.TypeOf(result)));
      continue;
    }
    results.push_back(ir.CreatePHI(e.TypeOf(result), op.getTokens().size()));
    e.Set(result, results.back());
  }
  for (auto [candidate, token] :
       llvm::zip_equal(op.getCandidates(), op.getTokens())) {
    auto name = mlir::cast<mlir::FlatSymbolRefAttr>(candidate).getValue();
    llvm::Function* callee = e.FindFunction(op, name);
    auto* block = llvm::BasicBlock::Create(e.context(), "", e.function());
    selector->addCase(ir.getInt64(token), block);
    ir.SetInsertPoint(block);
    llvm::Value* call = ir.CreateCall(callee, arguments);
    for (auto [phi, value] :
         llvm::zip(results, Unpack(e, call, results.size()))) {
      phi->addIncoming(value, block);
    }
    ir.CreateBr(after);
  }
  after->moveAfter(before);
  ir.SetInsertPoint(after);
  return absl::OkStatus();
}

llvm::Value* EmitFunctionToken(Emitter& e, hetir::FunctionTokenOp op) {
  return e.ir().getInt64(op.getToken());
}

absl::Status EmitExit(Emitter& e, hetir::ExitOp) {
  e.hooks().EndThread(e);
  return absl::OkStatus();
}
absl::Status EmitTrap(Emitter& e, hetir::TrapOp) {
  e.hooks().EndWithTrap(e, Trap::kTrap, e.ir().getInt32(0));
  return absl::OkStatus();
}
absl::Status EmitUnreachable(Emitter& e, hetir::UnreachableOp) {
  e.hooks().EndWithTrap(e, Trap::kTrap, e.ir().getInt32(0));
  return absl::OkStatus();
}

absl::Status EmitVendor(Emitter& e, hetir::VendorOp op) {
  return ErrorAt(op, "instruction of vendor " + op.getVendor() +
                         " cannot run on this backend: " + op.getText());
}

template <typename Op>
absl::Status EmitService(Emitter& e, Op op) {
  return e.hooks().EmitService(e, op);
}

}  // namespace

void AddControlOps(OpTable& table) {
  table.Statement<cf::BranchOp, EmitBranch>();
  table.Statement<cf::CondBranchOp, EmitCondBranch>();
  table.Statement<cf::SwitchOp, EmitSwitch>();
  table.Statement<func::CallOp, EmitCall>();
  table.Statement<func::ReturnOp, EmitReturn>();
  table.Statement<hetir::CallIndirectOp, EmitCallIndirect>();
  table.Value<hetir::FunctionTokenOp, EmitFunctionToken>();
  table.Statement<hetir::ExitOp, EmitExit>();
  table.Statement<hetir::TrapOp, EmitTrap>();
  table.Statement<hetir::UnreachableOp, EmitUnreachable>();
  table.Statement<hetir::VendorOp, EmitVendor>();
  table.Statement<hetir::AssertFailOp, EmitService<hetir::AssertFailOp>>();
  table.Statement<hetir::VprintfOp, EmitService<hetir::VprintfOp>>();
  table.Statement<hetir::MallocOp, EmitService<hetir::MallocOp>>();
  table.Statement<hetir::FreeOp, EmitService<hetir::FreeOp>>();
}

}  // namespace hetgpu::llvm_ir
