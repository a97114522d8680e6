// Sync ops of one thread: each calls the helper that switches fibers.
#include "backends/cpu/compile/cpu_hooks.h"
#include "backends/llvm_ir/ir_util.h"
#include "llvm/ADT/TypeSwitch.h"

namespace hetgpu::cpu {
namespace {

using namespace hetir;  // op classes
using llvm_ir::Binary;
using llvm_ir::Emitter;
using llvm_ir::Ir;

template <typename Enum>
llvm::Value* Code(Emitter& e, Enum value) {
  return e.ir().getInt32(static_cast<uint32_t>(value));
}

// 0 stands for all threads that have not exited.
llvm::Value* CountOf(Emitter& e, mlir::Value count) {
  return count ? e.Get(count) : e.ir().getInt32(0);
}

// A result whose bits 0-31 are the value and bit 32 a predicate.
void SetPair(Emitter& e, llvm::Value* pair, mlir::Value value,
             mlir::Value predicate) {
  Ir& ir = e.ir();
  e.Set(value, ir.CreateTrunc(pair, ir.getInt32Ty()));
  e.Set(predicate, ir.CreateTrunc(ir.CreateLShr(pair, 32), ir.getInt1Ty()));
}

void EmitBarrier(Emitter& e, hetir::BarrierOp op) {
  CallSync(e, op.getArrive() ? Helper::barrier_arrive : Helper::barrier_sync,
       {e.Get(op.getId()), CountOf(e, op.getCount())});
}

void EmitBarrierReduce(Emitter& e, BarrierReduceOp op) {
  Ir& ir = e.ir();
  llvm::Value* predicate =
      ir.CreateZExt(e.Get(op.getPredicate()), ir.getInt32Ty());
  llvm::Value* result =
      CallSync(e, Helper::barrier_red,
           {Code(e, op.getKind()), e.Get(op.getId()),
            CountOf(e, op.getCount()), predicate});
  e.Set(op.getResult(),
        op.getResult().getType().isInteger(1)
            ? ir.CreateICmpNE(result, ir.getInt32(0))
            : result);
}

void EmitShuffle(Emitter& e, ShuffleOp op) {
  llvm::Value* pair =
      CallSync(e, Helper::shuffle,
           {Code(e, op.getMode()), e.Get(op.getValue()), e.Get(op.getLane()),
            e.Get(op.getClamp()), e.Get(op.getMembers())});
  SetPair(e, pair, op.getResult(), op.getInRange());
}

void EmitVote(Emitter& e, VoteOp op) {
  Ir& ir = e.ir();
  llvm::Value* result =
      CallSync(e, Helper::vote,
           {Code(e, op.getKind()),
            ir.CreateZExt(e.Get(op.getPredicate()), ir.getInt32Ty()),
            e.Get(op.getMembers())});
  e.Set(op.getResult(), op.getKind() == hetir::VoteKind::ballot
                            ? result
                            : ir.CreateICmpNE(result, ir.getInt32(0)));
}

void EmitMatch(Emitter& e, MatchOp op) {
  Ir& ir = e.ir();
  llvm::Value* pair =
      CallSync(e, Helper::match,
           {Code(e, op.getKind()),
            ir.CreateZExt(e.Get(op.getValue()), ir.getInt64Ty()),
            e.Get(op.getMembers())});
  SetPair(e, pair, op.getResult(), op.getAllEqual());
}

void EmitRedux(Emitter& e, hetir::ReduxOp op) {
  e.Set(op.getResult(),
        CallSync(e, Helper::redux,
             {Code(e, op.getKind()), e.Get(op.getValue()),
              e.Get(op.getMembers())}));
}

void EmitElect(Emitter& e, ElectOp op) {
  Ir& ir = e.ir();
  llvm::Value* members = e.Get(op.getMembers());
  CallSync(e, Helper::warp_sync, {members});
  llvm::Value* leader =
      Binary(ir, llvm::Intrinsic::cttz, members, ir.getFalse());
  llvm::Value* lane = ir.CreateAnd(CpuHooks::Unit(e),
                                   ir.getInt32(kWarpSize - 1));
  e.Set(op.getLeader(), leader);
  e.Set(op.getIsLeader(), ir.CreateICmpEQ(lane, leader));
}

}  // namespace

absl::Status EmitThreadSync(Emitter& e, mlir::Operation* op) {
  llvm::Value* block = CpuHooks::Block(e);
  bool known = true;
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case<hetir::BarrierOp>([&](auto o) { EmitBarrier(e, o); })
      .Case<BarrierReduceOp>([&](auto o) { EmitBarrierReduce(e, o); })
      .Case<ShuffleOp>([&](auto o) { EmitShuffle(e, o); })
      .Case<VoteOp>([&](auto o) { EmitVote(e, o); })
      .Case<MatchOp>([&](auto o) { EmitMatch(e, o); })
      .Case<hetir::ReduxOp>([&](auto o) { EmitRedux(e, o); })
      .Case<ElectOp>([&](auto o) { EmitElect(e, o); })
      .Case<WarpSyncOp>([&](auto o) {
        CallSync(e, Helper::warp_sync, {e.Get(o.getMembers())});
      })
      .Case<ActiveMaskOp>([&](auto o) {
        e.Set(o.getResult(), CallSync(e, Helper::active_mask, {}));
      })
      .Case<ProgressOp>([&](auto) {
        CallHelper(e.ir(), block, Helper::yield, {block});
      })
      .Case<NanosleepOp>([&](auto o) {
        CallHelper(e.ir(), block, Helper::nanosleep, {block, e.Get(o.getNs())});
      })
      .Default([&](mlir::Operation*) { known = false; });
  if (!known) return llvm_ir::ErrorAt(op, "has no form for one thread");
  return absl::OkStatus();
}

}  // namespace hetgpu::cpu
