// The test that an access stays in memory of kernels (CpuHooks::CheckAddress).
// Kernels share the address space of the process: what hardware would refuse is
// refused here.
//
//   (address >> shift) == arena        all that a good access of global memory
//         | no                         costs; with a delta, one addition
//         v
//   helper: shared memory, stack and parameters by generic addresses; else the
//   launch ends
#include "backends/cpu/access_site.h"
#include "backends/cpu/compile/cpu_hooks.h"
#include "backends/llvm_ir/address_check.h"
#include "backends/llvm_ir/ir_util.h"
#include "llvm/Support/MathExtras.h"

namespace hetgpu::cpu {
namespace {

using hetir::Space;
using llvm_ir::AddressCheck;
using llvm_ir::Emitter;
using llvm_ir::Int;
using llvm_ir::IntLike;
using llvm_ir::Ir;

// Reach of the guards around shared memory (guarded_memory.h).
constexpr uint64_t kSharedReach = (uint64_t{1} << 32) - (uint64_t{1} << 20);

TestedSpace TestedSpaceOf(Space space) {
  switch (space) {
    case Space::generic: return TestedSpace::kGeneric;
    case Space::local: return TestedSpace::kLocal;
    case Space::shared: return TestedSpace::kShared;
    case Space::param: return TestedSpace::kParam;
    default: return TestedSpace::kGlobal;
  }
}

// Whether arena addresses of the space are what is accessed.
bool InArena(Space space) {
  return TestedSpaceOf(space) == TestedSpace::kGlobal ||
         space == Space::generic;
}

llvm::Value* Like(Emitter& e, llvm::Value* value, llvm::Value* shape) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(shape->getType());
  if (!vector) return value;
  return e.ir().CreateVectorSplat(vector->getNumElements(), value);
}

void StoreNote(Emitter& e, llvm::Value* value, size_t offset) {
  Ir& ir = e.ir();
  llvm::Value* field = ir.CreateConstInBoundsGEP1_64(
      ir.getInt8Ty(), CpuHooks::Block(e), offset);
  ir.CreateAlignedStore(value, field, llvm::Align(4), /*isVolatile=*/true);
}

llvm::Value* StackField(Emitter& e, size_t offset) {
  Ir& ir = e.ir();
  // The scheduler sets it before a fiber runs: constant for the unit.
  llvm::Value* field =
      LoadField(ir, CpuHooks::Block(e), offset, ir.getPtrTy());
  return ir.CreatePtrToInt(field, ir.getInt64Ty());
}

// The one of these calls that returns: from a function that keeps the registers
// of its callers, who would have to give up all of theirs.
llvm::CallInst* CallGenericCheck(Emitter& e, llvm::Value* address,
                                 llvm::Value* word, llvm::Value* lane) {
  auto body = [&](llvm::ArrayRef<llvm::Value*> arguments) -> llvm::Value* {
    llvm::Value* block = CpuHooks::Block(e);
    return CallHelper(e.ir(), block, Helper::check_address,
                      {block, arguments[0], arguments[1], arguments[2],
                       e.line()});
  };
  return llvm::cast<llvm::CallInst>(e.CallShared(
      "check", e.ir().getInt64Ty(), {address, word, lane}, body));
}

}  // namespace

std::optional<uint64_t> CpuHooks::CheckReach(Space space) {
  if (InArena(space)) return window_.reach;
  return space == Space::shared ? kSharedReach : 0;
}

unsigned CpuHooks::ColumnOf(const llvm_ir::LaneAccess& access) {
  static constexpr SiteKind kKinds[] = {SiteKind::kOne, SiteKind::kActing,
                                        SiteKind::kActingLanes, SiteKind::kRun,
                                        SiteKind::kGather, SiteKind::kOther};
  return PackSite({kKinds[access.kind], access.first,
                   static_cast<uint32_t>(access.bytes)});
}

// Volatile: only the fault handler reads it.
void CpuHooks::NoteActingLane(Emitter& e, llvm::Value* lane) {
  StoreNote(e, lane, offsetof(BlockContext, acting_lane));
}

void CpuHooks::NoteActingLanes(Emitter& e, llvm::Value* mask) {
  StoreNote(e, e.ir().CreateBitCast(mask, e.ir().getInt32Ty()),
            offsetof(BlockContext, acting_lanes));
}

llvm::Value* CpuHooks::IsOutside(Emitter& e, Space space, uint64_t size,
                                 llvm::Value* address) {
  Ir& ir = e.ir();
  llvm::Type* type = address->getType();
  switch (TestedSpaceOf(space)) {
    case TestedSpace::kShared:
      return ir.CreateICmpNE(ir.CreateLShr(address, Int(type, 32)),
                             Int(type, 0));
    case TestedSpace::kParam:
      if (param_bytes_ < size) return Int(IntLike(type, 1), 1);
      return ir.CreateICmpUGT(address, Int(type, param_bytes_ - size));
    case TestedSpace::kLocal: {
      llvm::Value* low = StackField(e, offsetof(BlockContext, stack_low));
      llvm::Value* high = StackField(e, offsetof(BlockContext, stack_high));
      llvm::Value* bytes = ir.CreateSub(high, low);
      return ir.CreateICmpUGE(
          ir.CreateSub(address, Like(e, low, address)),
          Like(e, bytes, address));
    }
    default:
      if (!window_.IsAligned()) {
        return ir.CreateICmpUGE(
            ir.CreateSub(address, Int(type, window_.base)),
            Int(type, window_.bytes));
      }
      return ir.CreateICmpNE(
          ir.CreateLShr(address, Int(type, llvm::Log2_64(window_.bytes))),
          Int(type, window_.base >> llvm::Log2_64(window_.bytes)));
  }
}

llvm::AllocaInst* CpuHooks::AddressSlot(Emitter& e) {
  llvm::AllocaInst*& slot = address_slots_[e.function()];
  if (!slot) {
    slot = e.Slot(
        llvm::FixedVectorType::get(e.ir().getInt64Ty(), kWarpSize));
  }
  return slot;
}

llvm::CallInst* CpuHooks::CallCheck(Emitter& e, const AddressCheck& check) {
  Ir& ir = e.ir();
  llvm::Value* block = Block(e);
  llvm::Value* exact = check.exact ? check.exact() : check.address;
  llvm::Value* word = ir.getInt32(
      AccessWord(TestedSpaceOf(check.space), check.bytes));
  llvm::Value* line = e.line();
  llvm::CallInst* call;
  if (exact->getType()->isVectorTy()) {
    llvm::AllocaInst* slot = AddressSlot(e);
    ir.CreateStore(exact, slot);
    llvm::Value* lanes = ir.CreateBitCast(check.mask, ir.getInt32Ty());
    call = CallHelper(ir, block, Helper::check_lanes,
                      {block, slot, word, lanes, line});
  } else {
    exact = ir.CreateZExt(exact, ir.getInt64Ty());
    call = check.space == Space::generic
               ? CallGenericCheck(e, exact, word, check.lane())
               : CallHelper(ir, block, Helper::check_address,
                            {block, exact, word, check.lane(), line});
  }
  // Touches nothing that kernels see, and is each thread's own affair.
  call->removeFnAttr(llvm::Attribute::Convergent);
  call->addFnAttr(llvm::Attribute::Cold);
  call->setMemoryEffects(
      llvm::MemoryEffects::inaccessibleOrArgMemOnly());
  return call;
}

// What an access comes from as bounds in host memory; zeros when that is not
// known.
std::pair<llvm::Value*, uint64_t> CpuHooks::BoundsOf(Emitter& e,
                                                     mlir::Value base) {
  Ir& ir = e.ir();
  if (hetir::LocalAllocOp array = llvm_ir::LocalArray(base)) {
    return {e.Get(array.getResult()), array.getSize()};
  }
  hetir::DataAddressOp data = llvm_ir::DataVariable(base);
  if (!data || !data.getExtent()) return {ir.getInt64(0), 0};
  llvm::Value* segment = ir.CreatePtrToInt(
      LoadField(ir, Block(e), offsetof(BlockContext, data), ir.getPtrTy()),
      ir.getInt64Ty());
  llvm::ArrayRef<int64_t> extent = *data.getExtent();
  return {ir.CreateAdd(segment, ir.getInt64(extent[0])),
          static_cast<uint64_t>(extent[1])};
}

llvm::Value* CpuHooks::CallExact(Emitter& e, const AddressCheck& check) {
  Ir& ir = e.ir();
  AccessKind kind = mlir::isa<hetir::LoadOp>(check.op)    ? AccessKind::kRead
                    : mlir::isa<hetir::StoreOp>(check.op) ? AccessKind::kWrite
                                                          : AccessKind::kAtomic;
  uint32_t word = AccessWord(TestedSpaceOf(check.space), check.bytes) |
                  static_cast<uint32_t>(kind) << 24;
  auto [low, size] = BoundsOf(e, check.base);
  llvm::Value* address = ir.CreateZExt(check.address, ir.getInt64Ty());
  llvm::CallInst* call =
      CallHelper(ir, Block(e), Helper::check_exact,
                 {Block(e), address, low, ir.getInt64(size),
                  ir.getInt32(word), e.line()});
  call->removeFnAttr(llvm::Attribute::Convergent);
  if (!InArena(check.space) || window_.delta == 0) return check.address;
  return ir.CreateAdd(check.address, call);
}

llvm::Value* CpuHooks::IsDoubtful(Emitter& e, Space space, uint64_t bytes,
                                  llvm::Value* address) {
  llvm::Value* outside = IsOutside(e, space, bytes, address);
  auto* never = llvm::dyn_cast<llvm::Constant>(outside);
  return never && never->isNullValue() ? nullptr : outside;
}

llvm::Value* CpuHooks::MoveAddress(Emitter& e, Space space,
                                   llvm::Value* address) {
  if (window_.delta == 0 || !InArena(space)) return address;
  return e.ir().CreateAdd(address, Int(address->getType(), window_.delta));
}

llvm::Value* CpuHooks::CheckAddress(Emitter& e, const AddressCheck& check) {
  Ir& ir = e.ir();
  if (TestsAll(check.space)) return CallExact(e, check);
  llvm::Type* type = check.address->getType();
  uint64_t delta = InArena(check.space) ? window_.delta : 0;
  llvm::Value* moved = MoveAddress(e, check.space, check.address);
  if (check.proven) return moved;
  llvm::Value* outside =
      IsOutside(e, check.space, check.bytes, check.address);
  llvm::Value* any = outside;
  if (type->isVectorTy()) {
    any = ir.CreateICmpNE(
        ir.CreateBitCast(ir.CreateAnd(outside, check.mask),
                         ir.getInt32Ty()),
        ir.getInt32(0));
  }
  if (auto* never = llvm::dyn_cast<llvm::Constant>(any);
      never && never->isNullValue()) {
    return moved;
  }
  llvm::BasicBlock* hot = ir.GetInsertBlock();
  llvm::BasicBlock* cold = e.BranchToColdBlock(any, "out_of_range");
  llvm::BasicBlock* next = ir.GetInsertBlock();
  llvm::CallInst* call;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(ir);
    ir.SetInsertPoint(cold);
    call = CallCheck(e, check);
    if (check.space != Space::generic) {
      MarkNoReturn(call);
      ir.CreateUnreachable();
      return moved;
    }
    ir.CreateBr(next);
  }
  if (delta == 0) return moved;
  ir.SetInsertPoint(next);
  if (type->isVectorTy()) return ir.CreateSelect(outside, check.address, moved);
  llvm::PHINode* address = ir.CreatePHI(type, 2);
  address->addIncoming(moved, hot);
  ir.SetInsertPoint(cold->getTerminator());
  address->addIncoming(ir.CreateAdd(check.address, call), cold);
  ir.SetInsertPoint(next);
  return address;
}

}  // namespace hetgpu::cpu
