// Barriers and collectives: each is one instruction of the machine, executed
// by the threads themselves.
#include "backends/cuda/compile/cuda_hooks.h"
#include "backends/cuda/compile/ptx_asm.h"
#include "llvm/ADT/TypeSwitch.h"

namespace hetgpu::cuda {
namespace {

using namespace hetir;  // op classes
using llvm_ir::Emitter;
using Twine = llvm::Twine;

constexpr llvm::ArrayRef<llvm::Type*> kNoResults;

void EmitBarrier(Emitter& e, hetir::BarrierOp op) {
  llvm::SmallVector<llvm::Value*> arguments = {e.Get(op.getId())};
  if (op.getCount()) arguments.push_back(e.Get(op.getCount()));
  EmitAsm(e,
          Twine("barrier") + (op.getArrive() ? ".arrive" : ".sync") +
              (op.getAligned() ? ".aligned" : "") + " $0" +
              (op.getCount() ? ", $1;" : ";"),
          kNoResults, arguments, AsmEffect::kConvergent);
}

void EmitBarrierReduce(Emitter& e, BarrierReduceOp op) {
  bool popc = op.getKind() == BarrierReduce::popc;
  llvm::SmallVector<llvm::Value*> arguments = {e.Get(op.getId())};
  if (op.getCount()) arguments.push_back(e.Get(op.getCount()));
  arguments.push_back(e.Get(op.getPredicate()));
  e.Set(op.getResult(),
        EmitAsm(e,
                Operation("barrier.red." + stringifyEnum(op.getKind()) +
                              (op.getAligned() ? ".aligned" : "") +
                              (popc ? ".u32" : ".pred"),
                          arguments.size()),
                e.TypeOf(op.getResult()), arguments, AsmEffect::kConvergent));
}

void EmitShuffle(Emitter& e, ShuffleOp op) {
  llvm::SmallVector<llvm::Value*> arguments = {
      e.Get(op.getValue()), e.Get(op.getLane()), e.Get(op.getClamp()),
      e.Get(op.getMembers())};
  std::string name = "shfl.sync." + stringifyEnum(op.getMode()).str() + ".b32";
  llvm::Type* i32 = e.ir().getInt32Ty();
  if (op.getInRange().use_empty()) {
    e.Set(op.getResult(), EmitAsm(e, Operation(name, 4), i32, arguments,
                                  AsmEffect::kConvergent));
    e.Set(op.getInRange(), e.ir().getFalse());
    return;
  }
  auto values = EmitAsm(e, name + " $0|$1, $2, $3, $4, $5;",
                        {i32, e.ir().getInt1Ty()}, arguments,
                        AsmEffect::kConvergent);
  e.Set(op.getResult(), values[0]);
  e.Set(op.getInRange(), values[1]);
}

void EmitVote(Emitter& e, VoteOp op) {
  bool ballot = op.getKind() == VoteKind::ballot;
  e.Set(op.getResult(),
        EmitAsm(e,
                Operation("vote.sync." + stringifyEnum(op.getKind()) +
                              (ballot ? ".b32" : ".pred"),
                          2),
                e.TypeOf(op.getResult()),
                {e.Get(op.getPredicate()), e.Get(op.getMembers())},
                AsmEffect::kConvergent));
}

void EmitMatch(Emitter& e, MatchOp op) {
  unsigned bits = op.getValue().getType().getIntOrFloatBitWidth();
  std::string name = "match." + stringifyEnum(op.getKind()).str() +
                     ".sync.b" + std::to_string(bits);
  llvm::Type* i32 = e.ir().getInt32Ty();
  llvm::SmallVector<llvm::Value*> arguments = {e.Get(op.getValue()),
                                               e.Get(op.getMembers())};
  if (op.getKind() == MatchKind::any) {
    llvm::Value* mask = EmitAsm(e, Operation(name, 2), i32, arguments,
                                AsmEffect::kConvergent);
    e.Set(op.getResult(), mask);
    e.Set(op.getAllEqual(), e.ir().CreateICmpEQ(mask, arguments[1]));
    return;
  }
  auto values = EmitAsm(e, name + " $0|$1, $2, $3;",
                        {i32, e.ir().getInt1Ty()}, arguments,
                        AsmEffect::kConvergent);
  e.Set(op.getResult(), values[0]);
  e.Set(op.getAllEqual(), values[1]);
}

void EmitRedux(Emitter& e, hetir::ReduxOp op) {
  std::string name;
  switch (op.getKind()) {
    case ReduxKind::add: name = "add.u32"; break;
    case ReduxKind::smin: name = "min.s32"; break;
    case ReduxKind::smax: name = "max.s32"; break;
    case ReduxKind::umin: name = "min.u32"; break;
    case ReduxKind::umax: name = "max.u32"; break;
    case ReduxKind::and_: name = "and.b32"; break;
    case ReduxKind::or_: name = "or.b32"; break;
    case ReduxKind::xor_: name = "xor.b32"; break;
  }
  e.Set(op.getResult(),
        EmitAsm(e, Operation("redux.sync." + name, 2), e.ir().getInt32Ty(),
                {e.Get(op.getValue()), e.Get(op.getMembers())},
                AsmEffect::kConvergent));
}

// The lowest member leads, as hetIR says; the machine's elect does not promise
// which one it takes.
void EmitElect(Emitter& e, ElectOp op) {
  auto& ir = e.ir();
  llvm::Value* members = e.Get(op.getMembers());
  EmitAsm(e, "bar.warp.sync $0;", kNoResults, {members},
          AsmEffect::kConvergent);
  llvm::Value* leader = ir.CreateBinaryIntrinsic(llvm::Intrinsic::cttz,
                                                 members, ir.getFalse());
  llvm::Value* lane =
      EmitAsm(e, "mov.u32 $0, %laneid;", ir.getInt32Ty(), {});
  e.Set(op.getLeader(), leader);
  e.Set(op.getIsLeader(), ir.CreateICmpEQ(lane, leader));
}

}  // namespace

absl::Status EmitThreadSync(Emitter& e, mlir::Operation* op) {
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
        EmitAsm(e, "bar.warp.sync $0;", kNoResults, {e.Get(o.getMembers())},
                AsmEffect::kConvergent);
      })
      .Case<ActiveMaskOp>([&](auto o) {
        e.Set(o.getResult(), EmitAsm(e, "activemask.b32 $0;",
                                     e.ir().getInt32Ty(), {},
                                     AsmEffect::kConvergent));
      })
      // Threads of the machine make progress on their own.
      .Case<ProgressOp>([](auto) {})
      .Case<NanosleepOp>([&](auto o) {
        EmitAsm(e, "nanosleep.u32 $0;", kNoResults, {e.Get(o.getNs())},
                AsmEffect::kMemory);
      })
      .Default([&](mlir::Operation*) { known = false; });
  if (!known) return llvm_ir::ErrorAt(op, "has no form for one thread");
  return absl::OkStatus();
}

}  // namespace hetgpu::cuda
