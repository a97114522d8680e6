// Synchronisation and collectives: all of it is the target's.
#include "backends/llvm_ir/op_table.h"
#include "backends/llvm_ir/target_hooks.h"
#include "hetir/dialect/HetIR.h"

namespace hetgpu::llvm_ir {
namespace {

template <typename Op>
absl::Status EmitSync(Emitter& e, Op op) {
  return e.hooks().EmitSync(e, op);
}

llvm::Value* EmitSpecialRegister(Emitter& e, hetir::SpecialRegisterOp op) {
  return e.hooks().SpecialRegister(e, op);
}
llvm::Value* EmitTimer(Emitter& e, hetir::TimerOp op) {
  return e.hooks().Timer(e, op);
}

}  // namespace

void AddSyncOps(OpTable& table) {
  table.Value<hetir::SpecialRegisterOp, EmitSpecialRegister>();
  table.Value<hetir::TimerOp, EmitTimer>();
  table.Statement<hetir::BarrierOp, EmitSync<hetir::BarrierOp>>();
  table.Statement<hetir::BarrierReduceOp, EmitSync<hetir::BarrierReduceOp>>();
  table.Statement<hetir::WarpSyncOp, EmitSync<hetir::WarpSyncOp>>();
  table.Statement<hetir::ShuffleOp, EmitSync<hetir::ShuffleOp>>();
  table.Statement<hetir::VoteOp, EmitSync<hetir::VoteOp>>();
  table.Statement<hetir::MatchOp, EmitSync<hetir::MatchOp>>();
  table.Statement<hetir::ReduxOp, EmitSync<hetir::ReduxOp>>();
  table.Statement<hetir::ActiveMaskOp, EmitSync<hetir::ActiveMaskOp>>();
  table.Statement<hetir::ElectOp, EmitSync<hetir::ElectOp>>();
  table.Statement<hetir::ProgressOp, EmitSync<hetir::ProgressOp>>();
  table.Statement<hetir::NanosleepOp, EmitSync<hetir::NanosleepOp>>();
  table.Statement<hetir::WarpLanesOp, EmitSync<hetir::WarpLanesOp>>();
  table.Statement<hetir::MaskBitsOp, EmitSync<hetir::MaskBitsOp>>();
  table.Statement<hetir::TrapLanesOp, EmitSync<hetir::TrapLanesOp>>();
}

}  // namespace hetgpu::llvm_ir
