#include "backends/llvm_ir/warp_memory.h"

#include <functional>

#include "backends/llvm_ir/ordering.h"
#include "llvm/IR/MDBuilder.h"

namespace hetgpu::llvm_ir {
namespace {

using hetir::Ordering;

unsigned LaneCount(const Access& access) {
  return llvm::cast<llvm::FixedVectorType>(access.lanes->getType())
      ->getNumElements();
}
uint64_t BytesOf(llvm::Type* element) {
  return element->getPrimitiveSizeInBits() / 8;
}
llvm::Value* LaneOffset(Ir& ir, llvm::Value* lanes, uint64_t bytes) {
  return bytes == 0 ? lanes : ir.CreateAdd(lanes, Int(lanes->getType(), bytes));
}

// 0, step, 2 step, … of i64.
llvm::Constant* Ramp(llvm::LLVMContext& context, unsigned lanes,
                     uint64_t step) {
  llvm::SmallVector<uint64_t> values;
  for (unsigned lane = 0; lane < lanes; ++lane) values.push_back(lane * step);
  return llvm::ConstantDataVector::get(context, values);
}

// Address lane 0 has, or would have, if the access is contiguous; and whether
// all lanes of the mask agree.
struct Contiguity {
  llvm::Value* first;
  llvm::Value* holds;
};
Contiguity TestContiguity(Emitter& e, const Access& access, uint64_t step) {
  Ir& ir = e.ir();
  unsigned lanes = LaneCount(access);
  llvm::Value* origin = ir.CreateSub(
      access.lanes, Ramp(e.context(), lanes, step));
  llvm::Value* bits = ir.CreateBitCast(access.mask, ir.getIntNTy(lanes));
  llvm::Value* lowest = Binary(ir, llvm::Intrinsic::cttz, bits, ir.getFalse());
  lowest = ir.CreateAnd(ir.CreateZExtOrTrunc(lowest, ir.getInt32Ty()),
                        ir.getInt32(lanes - 1));
  llvm::Value* first = ir.CreateExtractElement(origin, lowest);
  llvm::Value* differs = ir.CreateAnd(
      ir.CreateICmpNE(origin, ir.CreateVectorSplat(lanes, first)),
      access.mask);
  llvm::Value* any = ir.CreateICmpNE(
      ir.CreateBitCast(differs, ir.getIntNTy(lanes)),
      llvm::ConstantInt::get(ir.getIntNTy(lanes), 0));
  return {first, ir.CreateNot(any)};
}

// Emits `fast` where the condition holds and `slow` elsewhere; their values
// are merged when not null.
llvm::Value* Choose(Emitter& e, llvm::Value* condition,
                    const std::function<llvm::Value*()>& fast,
                    const std::function<llvm::Value*()>& slow) {
  Ir& ir = e.ir();
  auto* yes = llvm::BasicBlock::Create(e.context(), "", e.function());
  auto* no = llvm::BasicBlock::Create(e.context(), "", e.function());
  auto* next = llvm::BasicBlock::Create(e.context(), "", e.function());
  yes->moveAfter(ir.GetInsertBlock());
  no->moveAfter(yes);
  next->moveAfter(no);
  ir.CreateCondBr(condition, yes, no,
                  llvm::MDBuilder(e.context()).createBranchWeights(8, 1));
  ir.SetInsertPoint(yes);
  llvm::Value* a = fast();
  yes = ir.GetInsertBlock();
  ir.CreateBr(next);
  ir.SetInsertPoint(no);
  llvm::Value* b = slow();
  no = ir.GetInsertBlock();
  ir.CreateBr(next);
  ir.SetInsertPoint(next);
  if (!a) return nullptr;
  llvm::PHINode* merged = ir.CreatePHI(a->getType(), 2);
  merged->addIncoming(a, yes);
  merged->addIncoming(b, no);
  return merged;
}

llvm::Value* Pointer(Ir& ir, llvm::Value* address) {
  return ir.CreateIntToPtr(
      address, SameShape(ir.getPtrTy(), address->getType()));
}

// Runs `body` for each lane of the mask, lowest first, with the lane number.
void ForEachLane(Emitter& e, llvm::Value* mask,
                 const std::function<void(llvm::Value*)>& body) {
  Ir& ir = e.ir();
  auto* type = llvm::cast<llvm::FixedVectorType>(mask->getType());
  llvm::Type* bits_type = ir.getIntNTy(type->getNumElements());
  llvm::Value* all = ir.CreateBitCast(mask, bits_type);
  llvm::BasicBlock* before = ir.GetInsertBlock();
  auto* head = llvm::BasicBlock::Create(e.context(), "", e.function());
  auto* loop = llvm::BasicBlock::Create(e.context(), "", e.function());
  auto* next = llvm::BasicBlock::Create(e.context(), "", e.function());
  head->moveAfter(before);
  loop->moveAfter(head);
  next->moveAfter(loop);
  ir.CreateBr(head);
  ir.SetInsertPoint(head);
  llvm::PHINode* left = ir.CreatePHI(bits_type, 2);
  left->addIncoming(all, before);
  llvm::Constant* zero = llvm::ConstantInt::get(bits_type, 0);
  ir.CreateCondBr(ir.CreateICmpEQ(left, zero), next, loop);
  ir.SetInsertPoint(loop);
  llvm::Value* lane = Binary(ir, llvm::Intrinsic::cttz, left, ir.getFalse());
  lane = ir.CreateAnd(ir.CreateZExtOrTrunc(lane, ir.getInt32Ty()),
                      ir.getInt32(type->getNumElements() - 1));
  body(lane);
  llvm::Value* rest = ir.CreateAnd(
      left, ir.CreateSub(left, llvm::ConstantInt::get(bits_type, 1)));
  left->addIncoming(rest, ir.GetInsertBlock());
  ir.CreateBr(head);
  ir.SetInsertPoint(next);
}

llvm::Value* LoadOneByOne(Emitter& e, const Access& access,
                          llvm::Value* addresses, llvm::Type* element,
                          Ordering ordering) {
  Ir& ir = e.ir();
  llvm::Type* bits = ir.getIntNTy(element->getPrimitiveSizeInBits());
  llvm::Type* vector = SameShape(bits, addresses->getType());
  llvm::BasicBlock& entry = e.function()->getEntryBlock();
  llvm::AllocaInst* slot;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(ir);
    ir.SetInsertPoint(&entry, entry.begin());
    slot = ir.CreateAlloca(vector);
  }
  ir.CreateStore(llvm::Constant::getNullValue(vector), slot);
  ForEachLane(e, access.mask, [&](llvm::Value* lane) {
    llvm::Value* address = ir.CreateExtractElement(addresses, lane);
    llvm::LoadInst* load = ir.CreateAlignedLoad(
        bits, Pointer(ir, address), llvm::Align(BytesOf(element)));
    load->setAtomic(LoadOrdering(ordering));
    load->setVolatile(ordering == Ordering::volatile_);
    ir.CreateStore(load, ir.CreateGEP(vector, slot,
                                      {ir.getInt32(0), lane}));
  });
  return ir.CreateBitCast(ir.CreateLoad(vector, slot),
                          SameShape(element, addresses->getType()));
}

}  // namespace

llvm::SmallVector<llvm::Value*> LoadLanes(Emitter& e, const Access& access,
                                          llvm::Type* element, uint64_t count,
                                          Ordering ordering) {
  Ir& ir = e.ir();
  llvm::SmallVector<llvm::Value*> values;
  llvm::Type* vector = SameShape(element, access.lanes->getType());
  llvm::Value* zero = llvm::Constant::getNullValue(vector);
  uint64_t bytes = BytesOf(element);
  llvm::Align align(bytes);
  for (uint64_t i = 0; i < count; ++i) {
    llvm::Value* addresses = LaneOffset(ir, access.lanes, i * bytes);
    auto gather = [&]() -> llvm::Value* {
      return ir.CreateMaskedGather(vector, Pointer(ir, addresses), align,
                                   access.mask, zero);
    };
    if (ordering != Ordering::weak) {
      values.push_back(LoadOneByOne(e, access, addresses, element, ordering));
    } else if (count > 1) {
      values.push_back(gather());
    } else {
      Contiguity contiguous = TestContiguity(e, access, bytes);
      values.push_back(Choose(
          e, contiguous.holds,
          [&]() -> llvm::Value* {
            return ir.CreateMaskedLoad(vector, Pointer(ir, contiguous.first),
                                       align, access.mask, zero);
          },
          gather));
    }
  }
  return values;
}

void StoreLanes(Emitter& e, const Access& access,
                llvm::ArrayRef<llvm::Value*> values, Ordering ordering) {
  Ir& ir = e.ir();
  llvm::Type* element = values.front()->getType()->getScalarType();
  uint64_t bytes = BytesOf(element);
  llvm::Align align(bytes);
  for (auto [i, value] : llvm::enumerate(values)) {
    llvm::Value* stored = value;
    llvm::Value* addresses = LaneOffset(ir, access.lanes, i * bytes);
    auto scatter = [&]() -> llvm::Value* {
      ir.CreateMaskedScatter(stored, Pointer(ir, addresses), align,
                             access.mask);
      return nullptr;
    };
    if (ordering != Ordering::weak) {
      ForEachLane(e, access.mask, [&](llvm::Value* lane) {
        llvm::Value* one = ir.CreateExtractElement(stored, lane);
        one = ir.CreateBitCast(
            one, ir.getIntNTy(element->getPrimitiveSizeInBits()));
        llvm::StoreInst* store = ir.CreateAlignedStore(
            one, Pointer(ir, ir.CreateExtractElement(addresses, lane)),
            align);
        store->setAtomic(StoreOrdering(ordering));
        store->setVolatile(ordering == Ordering::volatile_);
      });
    } else if (values.size() > 1) {
      scatter();
    } else {
      Contiguity contiguous = TestContiguity(e, access, bytes);
      Choose(e, contiguous.holds,
             [&]() -> llvm::Value* {
               ir.CreateMaskedStore(stored, Pointer(ir, contiguous.first),
                                    align, access.mask);
               return nullptr;
             },
             scatter);
    }
  }
}

}  // namespace hetgpu::llvm_ir
