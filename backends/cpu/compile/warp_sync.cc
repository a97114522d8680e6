// Sync ops of a warp of 32 lanes that run in lockstep: shuffles, votes and
// reductions are vector code; barriers call helpers with the lanes that take
// part. Results that are the same for all lanes may be scalars or vectors.
#include "backends/cpu/compile/cpu_hooks.h"
#include "backends/llvm_ir/ir_util.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace hetgpu::cpu {
namespace {

using llvm_ir::Binary;
using llvm_ir::Emitter;
using llvm_ir::Int;
using llvm_ir::Ir;
namespace Id = llvm::Intrinsic;

constexpr uint32_t kAllLanes = 0xffffffffu;

llvm::Value* Splat(Emitter& e, llvm::Value* value) {
  return value->getType()->isVectorTy()
             ? value
             : e.ir().CreateVectorSplat(kWarpSize, value);
}

llvm::Value* Bits(Emitter& e, llvm::Value* mask) {
  return e.ir().CreateBitCast(Splat(e, mask), e.ir().getInt32Ty());
}

llvm::Value* MaskVector(Emitter& e, llvm::Value* bits) {
  Ir& ir = e.ir();
  return ir.CreateBitCast(
      bits, llvm::FixedVectorType::get(ir.getInt1Ty(), kWarpSize));
}

llvm::Value* LanesOf(Emitter& e, mlir::Value mask) {
  return mask ? Bits(e, e.Get(mask)) : e.ir().getInt32(kAllLanes);
}

// The lanes that take part and are members.
llvm::Value* ActiveOf(Emitter& e, mlir::Value mask, mlir::Value members) {
  return e.ir().CreateAnd(LanesOf(e, mask), e.Get(members));
}

// A result as its type wants it.
void SetSame(Emitter& e, mlir::Value result, llvm::Value* value) {
  bool vector = mlir::isa<mlir::VectorType>(result.getType());
  e.Set(result, vector ? Splat(e, value) : value);
}

llvm::Value* LowestLane(Ir& ir, llvm::Value* bits) {
  return Binary(ir, Id::cttz, bits, ir.getFalse());
}

void EmitBarrier(Emitter& e, hetir::BarrierOp op) {
  llvm::Value* count =
      op.getCount() ? e.Get(op.getCount()) : e.ir().getInt32(0);
  CallSync(e,
       op.getArrive() ? Helper::warp_barrier_arrive
                      : Helper::warp_barrier_sync,
       {e.Get(op.getId()), count, LanesOf(e, op.getMask())});
}

void EmitBarrierReduce(Emitter& e, hetir::BarrierReduceOp op) {
  Ir& ir = e.ir();
  llvm::Value* count =
      op.getCount() ? e.Get(op.getCount()) : ir.getInt32(0);
  llvm::Value* kind = ir.getInt32(static_cast<uint32_t>(op.getKind()));
  llvm::Value* result =
      CallSync(e, Helper::warp_barrier_red,
           {kind, e.Get(op.getId()), count,
            Bits(e, e.Get(op.getPredicate())), LanesOf(e, op.getMask())});
  bool is_bool =
      mlir::getElementTypeOrSelf(op.getResult().getType()).isInteger(1);
  SetSame(e, op.getResult(),
          is_bool ? ir.CreateICmpNE(result, ir.getInt32(0)) : result);
}

struct Source {
  llvm::Value* lane;
  llvm::Value* in_range;
};

// PTX's rule for the lane a shuffle reads.
Source SourceLane(Emitter& e, hetir::ShuffleMode mode, llvm::Value* b,
                  llvm::Value* clamp) {
  Ir& ir = e.ir();
  llvm::Value* own = LaneNumbers(e);
  llvm::Type* type = own->getType();
  llvm::Value* distance = ir.CreateAnd(b, Int(type, 31));
  llvm::Value* segment =
      ir.CreateAnd(ir.CreateLShr(clamp, 8), Int(type, 31));
  llvm::Value* outside = ir.CreateNot(segment);
  llvm::Value* first = ir.CreateAnd(own, segment);
  llvm::Value* last = ir.CreateOr(
      first,
      ir.CreateAnd(ir.CreateAnd(clamp, Int(type, 31)), outside));
  llvm::Value* lane = nullptr;
  switch (mode) {
    case hetir::ShuffleMode::up:
      lane = ir.CreateSub(own, distance);
      return {lane, ir.CreateICmpSGE(lane, last)};
    case hetir::ShuffleMode::down:
      lane = ir.CreateAdd(own, distance);
      break;
    case hetir::ShuffleMode::bfly:
      lane = ir.CreateXor(own, distance);
      break;
    case hetir::ShuffleMode::idx:
      lane = ir.CreateOr(first, ir.CreateAnd(distance, outside));
      break;
  }
  return {lane, ir.CreateICmpSLE(lane, last)};
}

// value[lane[i]] for lane numbers below 32.
llvm::Value* Permute(Emitter& e, llvm::Value* value, llvm::Value* lane) {
  Ir& ir = e.ir();
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(lane)) {
    llvm::SmallVector<int> picks;
    for (unsigned i = 0; i < kWarpSize; ++i) {
      auto* pick = llvm::dyn_cast_or_null<llvm::ConstantInt>(
          constant->getAggregateElement(i));
      if (!pick) break;
      picks.push_back(pick->getZExtValue() & 31);
    }
    if (picks.size() == kWarpSize) return ir.CreateShuffleVector(value, picks);
  }
  if (static_cast<CpuHooks&>(e.hooks()).avx512()) {
    auto half = [&](llvm::Value* vector, int first) {
      llvm::SmallVector<int> picks;
      for (int i = 0; i < 16; ++i) picks.push_back(first + i);
      return ir.CreateShuffleVector(vector, picks);
    };
    llvm::Value* low = half(value, 0);
    llvm::Value* high = half(value, 16);
    auto pick = [&](int first) {
      return ir.CreateIntrinsic(Id::x86_avx512_vpermi2var_d_512, {},
                                {low, half(lane, first), high});
    };
    llvm::SmallVector<int> both;
    for (int i = 0; i < 32; ++i) both.push_back(i);
    return ir.CreateShuffleVector(pick(0), pick(16), both);
  }
  llvm::AllocaInst* slot = e.Slot(value->getType());
  ir.CreateStore(value, slot);
  llvm::Value* result = llvm::Constant::getNullValue(value->getType());
  for (unsigned i = 0; i < kWarpSize; ++i) {
    llvm::Value* from = ir.CreateGEP(
        value->getType(), slot,
        {ir.getInt32(0), ir.CreateExtractElement(lane, i)});
    result = ir.CreateInsertElement(
        result, ir.CreateLoad(ir.getInt32Ty(), from), i);
  }
  return result;
}

void EmitShuffle(Emitter& e, hetir::ShuffleOp op) {
  Ir& ir = e.ir();
  llvm::Value* value = Splat(e, e.Get(op.getValue()));
  Source source = SourceLane(e, op.getMode(), Splat(e, e.Get(op.getLane())),
                             Splat(e, e.Get(op.getClamp())));
  llvm::Value* lane =
      ir.CreateSelect(source.in_range, source.lane, LaneNumbers(e));
  lane = ir.CreateAnd(lane, Int(lane->getType(), 31));
  llvm::Value* picked = Permute(e, value, lane);
  auto set = [&](mlir::Value result, llvm::Value* vector) {
    bool is_vector = mlir::isa<mlir::VectorType>(result.getType());
    e.Set(result, is_vector ? vector
                            : ir.CreateExtractElement(vector, uint64_t{0}));
  };
  set(op.getResult(), picked);
  set(op.getInRange(), source.in_range);
}

void EmitVote(Emitter& e, hetir::VoteOp op) {
  Ir& ir = e.ir();
  llvm::Value* active = ActiveOf(e, op.getMask(), op.getMembers());
  llvm::Value* yes = ir.CreateAnd(Bits(e, e.Get(op.getPredicate())), active);
  llvm::Value* none = ir.CreateICmpEQ(yes, ir.getInt32(0));
  llvm::Value* all = ir.CreateICmpEQ(yes, active);
  llvm::Value* result = yes;
  switch (op.getKind()) {
    case hetir::VoteKind::all: result = all; break;
    case hetir::VoteKind::any: result = ir.CreateNot(none); break;
    case hetir::VoteKind::uni: result = ir.CreateOr(none, all); break;
    case hetir::VoteKind::ballot: break;
  }
  SetSame(e, op.getResult(), result);
}

void EmitMatch(Emitter& e, hetir::MatchOp op) {
  Ir& ir = e.ir();
  llvm::Value* active = ActiveOf(e, op.getMask(), op.getMembers());
  llvm::Value* value = Splat(e, e.Get(op.getValue()));
  auto equal_to = [&](llvm::Value* lane) {
    llvm::Value* one = ir.CreateExtractElement(value, lane);
    return ir.CreateAnd(Bits(e, ir.CreateICmpEQ(value, Splat(e, one))),
                        active);
  };
  if (op.getKind() == hetir::MatchKind::all) {
    llvm::Value* lane =
        ir.CreateAnd(LowestLane(ir, active), ir.getInt32(31));
    llvm::Value* all = ir.CreateICmpEQ(equal_to(lane), active);
    SetSame(e, op.getAllEqual(), all);
    SetSame(e, op.getResult(),
            ir.CreateSelect(all, active, ir.getInt32(0)));
    return;
  }
  llvm::Value* masks = llvm::Constant::getNullValue(
      llvm::FixedVectorType::get(ir.getInt32Ty(), kWarpSize));
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    masks = ir.CreateInsertElement(masks, equal_to(ir.getInt32(lane)), lane);
  }
  bool is_vector = mlir::isa<mlir::VectorType>(op.getResult().getType());
  e.Set(op.getResult(),
        is_vector ? masks : ir.CreateExtractElement(masks, uint64_t{0}));
  SetSame(e, op.getAllEqual(), ir.getFalse());
}

void EmitRedux(Emitter& e, hetir::ReduxOp op) {
  Ir& ir = e.ir();
  llvm::Value* value = Splat(e, e.Get(op.getValue()));
  llvm::Value* active =
      MaskVector(e, ActiveOf(e, op.getMask(), op.getMembers()));
  auto others = [&](uint32_t neutral) {
    return ir.CreateSelect(active, value, Int(value->getType(), neutral));
  };
  llvm::Value* result = nullptr;
  switch (op.getKind()) {
    case hetir::ReduxKind::add: result = ir.CreateAddReduce(others(0)); break;
    case hetir::ReduxKind::and_:
      result = ir.CreateAndReduce(others(kAllLanes));
      break;
    case hetir::ReduxKind::or_: result = ir.CreateOrReduce(others(0)); break;
    case hetir::ReduxKind::xor_: result = ir.CreateXorReduce(others(0)); break;
    case hetir::ReduxKind::smin:
      result = ir.CreateIntMinReduce(others(0x7fffffffu), true);
      break;
    case hetir::ReduxKind::smax:
      result = ir.CreateIntMaxReduce(others(0x80000000u), true);
      break;
    case hetir::ReduxKind::umin:
      result = ir.CreateIntMinReduce(others(kAllLanes), false);
      break;
    case hetir::ReduxKind::umax:
      result = ir.CreateIntMaxReduce(others(0), false);
      break;
  }
  SetSame(e, op.getResult(), result);
}

void EmitElect(Emitter& e, hetir::ElectOp op) {
  Ir& ir = e.ir();
  llvm::Value* leader = LowestLane(ir, e.Get(op.getMembers()));
  SetSame(e, op.getLeader(), leader);
  e.Set(op.getIsLeader(),
        ir.CreateICmpEQ(LaneNumbers(e), Splat(e, leader)));
}

// Ends the launch when any lane of the mask is set.
void EmitTrapLanes(Emitter& e, hetir::TrapLanesOp op) {
  Ir& ir = e.ir();
  llvm::Value* lanes = op.getMask() ? LanesOf(e, op.getMask())
                                    : ir.getInt32(1);
  llvm::BasicBlock* cold = e.BranchToColdBlock(
      ir.CreateICmpNE(lanes, ir.getInt32(0)), "trap");
  llvm::IRBuilderBase::InsertPointGuard guard(ir);
  ir.SetInsertPoint(cold);
  e.hooks().EndWithTrap(e, llvm_ir::Trap::kTrap, LowestLane(ir, lanes));
}

}  // namespace

absl::Status EmitWarpSync(Emitter& e, mlir::Operation* op) {
  Ir& ir = e.ir();
  llvm::Value* block = CpuHooks::Block(e);
  bool known = true;
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case<hetir::BarrierOp>([&](auto o) { EmitBarrier(e, o); })
      .Case<hetir::BarrierReduceOp>([&](auto o) { EmitBarrierReduce(e, o); })
      .Case<hetir::ShuffleOp>([&](auto o) { EmitShuffle(e, o); })
      .Case<hetir::VoteOp>([&](auto o) { EmitVote(e, o); })
      .Case<hetir::MatchOp>([&](auto o) { EmitMatch(e, o); })
      .Case<hetir::ReduxOp>([&](auto o) { EmitRedux(e, o); })
      .Case<hetir::ElectOp>([&](auto o) { EmitElect(e, o); })
      .Case<hetir::WarpLanesOp>([&](auto o) {
        llvm::Value* count =
            LoadField(ir, block, offsetof(BlockContext, thread_count),
                      ir.getInt32Ty());
        llvm::Value* first = ir.CreateShl(CpuHooks::Unit(e), 5);
        llvm::Value* thread = ir.CreateAdd(Splat(e, first), LaneNumbers(e));
        e.Set(o.getResult(), ir.CreateICmpULT(thread, Splat(e, count)));
      })
      .Case<hetir::MaskBitsOp>([&](auto o) {
        e.Set(o.getResult(), Bits(e, e.Get(o.getMask())));
      })
      .Case<hetir::TrapLanesOp>([&](auto o) { EmitTrapLanes(e, o); })
      // Lanes in lockstep are always in step; memory stays ordered.
      .Case<hetir::WarpSyncOp>([&](auto) {
        ir.CreateFence(llvm::AtomicOrdering::AcquireRelease,
                       llvm::SyncScope::SingleThread);
      })
      .Case<hetir::ActiveMaskOp>([&](auto o) {
        SetSame(e, o.getResult(), LanesOf(e, o.getMask()));
      })
      .Case<hetir::ProgressOp>([&](auto) {
        CallHelper(ir, block, Helper::yield, {block});
      })
      .Case<hetir::NanosleepOp>([&](auto o) {
        llvm::Value* ns = e.Get(o.getNs());
        if (ns->getType()->isVectorTy()) ns = ir.CreateIntMaxReduce(ns, false);
        CallHelper(ir, block, Helper::nanosleep, {block, ns});
      })
      .Default([&](mlir::Operation*) { known = false; });
  if (!known) return llvm_ir::ErrorAt(op, "has no form for a warp");
  return absl::OkStatus();
}

}  // namespace hetgpu::cpu
