#include "backends/llvm_ir/warp_memory.h"

#include <algorithm>
#include <array>
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

llvm::Value* AnyLane(Ir& ir, llvm::Value* mask) {
  auto* type = llvm::cast<llvm::FixedVectorType>(mask->getType());
  llvm::Type* bits = ir.getIntNTy(type->getNumElements());
  return ir.CreateICmpNE(ir.CreateBitCast(mask, bits),
                         llvm::ConstantInt::get(bits, 0));
}

// Ends the launch when a lane of the mask is not a multiple of `bytes`.
void CheckLanes(Emitter& e, const Access& access, uint64_t bytes) {
  if (bytes == 1) return;
  Ir& ir = e.ir();
  llvm::Type* type = access.lanes->getType();
  llvm::Value* wrong = ir.CreateICmpNE(
      ir.CreateAnd(access.lanes, Int(type, bytes - 1)), Int(type, 0));
  wrong = ir.CreateAnd(wrong, access.mask);
  TrapIfMisaligned(e, AnyLane(ir, wrong),
                   [&] { return LowestLane(ir, wrong); });
}

AddressCheck CheckOf(const Access& access, uint64_t bytes) {
  AddressCheck check = {};
  check.space = access.space;
  check.bytes = bytes;
  return check;
}

// `address`, moved as far as `from` was moved to `to`.
llvm::Value* Shift(Ir& ir, llvm::Value* address, llvm::Value* from,
                   llvm::Value* to) {
  if (address == from) return to;
  return from == to ? address
                    : ir.CreateAdd(address, ir.CreateSub(to, from));
}

// The target's test of the lanes, for an access of `bytes`.
Access TestLanes(Emitter& e, Access access, uint64_t bytes) {
  if (!access.untested) return access;
  AddressCheck check = CheckOf(access, bytes);
  auto exact = [&] { return access.lanes; };
  llvm::Value* tested = access.lanes;
  if (access.base_lanes) {
    tested = access.base_lanes;
    check.exact = exact;
  }
  llvm::Value* moved = CheckLaneAddresses(e, check, tested, access.mask);
  access.lanes = Shift(e.ir(), access.lanes, tested, moved);
  access.untested = false;
  return access;
}

// The half-warps of a progression.
struct Half {
  llvm::Value* address;  // of its first lane
  llvm::Value* mask;
};
// Elements [first, first + count).
llvm::Value* PartOf(Ir& ir, llvm::Value* value, unsigned first,
                    unsigned count) {
  llvm::SmallVector<int> lanes;
  for (unsigned i = 0; i < count; ++i) lanes.push_back(first + i);
  return ir.CreateShuffleVector(value, lanes);
}
llvm::Value* HalfOf(Ir& ir, llvm::Value* value, int half) {
  return PartOf(ir, value, 16 * half, 16);
}

// The test of one half: its lanes stand together, so that the first one's
// address stands for all. `first` need not be that of a lane that takes part.
llvm::Value* TestHalf(Emitter& e, const Access& access, uint64_t bytes,
                      const Half& half, int number) {
  Ir& ir = e.ir();
  AddressCheck check = CheckOf(access, bytes);
  auto in_half = [&] { return LowestLane(ir, half.mask); };
  auto lane = [&] {
    return ir.CreateAdd(in_half(), ir.getInt32(16 * number));
  };
  auto one = [&] {
    llvm::Value* offset = ir.CreateMul(ir.CreateZExt(in_half(), ir.getInt64Ty()),
                                       ir.getInt64(access.form->stride));
    return ir.CreateAdd(half.address, offset);
  };
  auto all = [&] { return access.lanes; };
  auto idle = [&] { return ir.CreateNot(AnyLane(ir, half.mask)); };
  check.address = half.address;
  // The base of the half's first lane, when the bases are a progression too.
  if (access.base_form && !access.base_form->valid) {
    check.address = number == 0 ? access.base_form->low
                                : access.base_form->high;
  }
  // Where other memory may be meant, every lane has to lie in it.
  if (access.space == hetir::Space::generic) {
    llvm::SmallVector<llvm::Constant*> members;
    for (int i = 0; i < 32; ++i) {
      members.push_back(ir.getInt1(i / 16 == number));
    }
    check.exact = all;
    check.mask =
        ir.CreateAnd(access.mask, llvm::ConstantVector::get(members));
  } else {
    check.exact = one;
    check.lane = lane;
    check.idle = idle;
  }
  return Shift(ir, half.address, check.address,
               e.hooks().CheckAddress(e, check));
}

std::array<Half, 2> HalvesOf(Emitter& e, const Access& access,
                             uint64_t bytes) {
  Ir& ir = e.ir();
  std::array<Half, 2> halves = {
      Half{access.form->low, HalfOf(ir, access.mask, 0)},
      Half{access.form->high, HalfOf(ir, access.mask, 1)}};
  if (!access.untested) return halves;
  for (int i : {0, 1}) {
    halves[i].address = TestHalf(e, access, bytes, halves[i], i);
  }
  return halves;
}

// Of a power of two of equally long vectors.
llvm::Value* Concatenate(Ir& ir, llvm::SmallVector<llvm::Value*> parts) {
  while (parts.size() > 1) {
    unsigned length = llvm::cast<llvm::FixedVectorType>(parts[0]->getType())
                          ->getNumElements();
    llvm::SmallVector<int> all;
    for (unsigned i = 0; i < 2 * length; ++i) all.push_back(i);
    llvm::SmallVector<llvm::Value*> joined;
    for (size_t i = 0; i < parts.size(); i += 2) {
      joined.push_back(ir.CreateShuffleVector(parts[i], parts[i + 1], all));
    }
    parts = joined;
  }
  return parts[0];
}
// The same as CheckLanes for a progression whose stride is a multiple of
// `bytes`: the lanes of a half are as misaligned as its first.
void CheckHalves(Emitter& e, const Access& access, uint64_t bytes) {
  if (bytes == 1) return;
  Ir& ir = e.ir();
  llvm::Value* both = access.form->low;
  if (access.form->high != both) both = ir.CreateOr(both, access.form->high);
  llvm::Value* wrong = ir.CreateICmpNE(
      ir.CreateAnd(both, ir.getInt64(bytes - 1)), ir.getInt64(0));
  llvm::BasicBlock* cold = e.BranchToColdBlock(wrong, "maybe_misaligned");
  llvm::BasicBlock* next = ir.GetInsertBlock();
  // Perhaps only lanes that take no part.
  ir.SetInsertPoint(cold);
  CheckLanes(e, access, bytes);
  ir.CreateBr(next);
  ir.SetInsertPoint(next, next->begin());
}

// Emits `fast` where the condition holds (null: always) and `slow` elsewhere;
// their values are merged when not null.
llvm::Value* Choose(Emitter& e, llvm::Value* condition,
                    const std::function<llvm::Value*()>& fast,
                    const std::function<llvm::Value*()>& slow) {
  Ir& ir = e.ir();
  if (!condition) return fast();
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
  e.hooks().NoteActingLane(e, lane);
  e.MarkAccess({LaneAccess::kActing});
  body(lane);
  e.MarkAccess({LaneAccess::kOther});
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

Access CheckAndTestLanes(Emitter& e, const Access& access, uint64_t bytes) {
  CheckLanes(e, access, bytes);
  return TestLanes(e, access, bytes);
}

bool IsContiguous(const Access& access, uint64_t bytes) {
  return access.form && access.form->stride == static_cast<int64_t>(bytes);
}

// Whether all lanes read one address.
bool IsUniform(const Access& access) {
  return access.form && access.form->stride == 0;
}

// One load for the lanes of a half; none when no lane takes part.
llvm::Value* LoadUniformHalf(Emitter& e, const Access& access,
                             const Half& half, unsigned first,
                             llvm::Type* element, llvm::Align align) {
  Ir& ir = e.ir();
  llvm::Value* one = Choose(
      e, AnyLane(ir, half.mask),
      [&]() -> llvm::Value* {
        e.MarkAccess({access.divergent ? LaneAccess::kActingLanes
                                       : LaneAccess::kOne,
                      first});
        return ir.CreateAlignedLoad(element, Pointer(ir, half.address), align);
      },
      [&]() -> llvm::Value* { return llvm::Constant::getNullValue(element); });
  return ir.CreateVectorSplat(16, one);
}

// Calls `body` with the parts of a half that one instruction accesses: the first
// lane within the half, how many lanes, and the address.
void ForEachRun(Emitter& e, const Half& half, unsigned first_lane,
                uint64_t bytes,
                llvm::function_ref<void(unsigned, unsigned, llvm::Value*)>
                    body) {
  unsigned length = std::min<uint64_t>(16, e.hooks().VectorBytes() / bytes);
  for (unsigned lane = 0; lane < 16; lane += length) {
    llvm::Value* address = LaneOffset(e.ir(), half.address, lane * bytes);
    e.MarkAccess({LaneAccess::kRun, first_lane + lane, bytes});
    body(lane, length, Pointer(e.ir(), address));
  }
}

llvm::Value* LoadProgression(Emitter& e, const Access& access,
                             llvm::Type* element, llvm::Align align) {
  Ir& ir = e.ir();
  uint64_t bytes = BytesOf(element);
  llvm::SmallVector<llvm::Value*> parts;
  unsigned first = 0;
  for (const Half& half : HalvesOf(e, access, bytes)) {
    if (IsUniform(access)) {
      parts.push_back(
          LoadUniformHalf(e, access, half, first, element, align));
    } else {
      ForEachRun(e, half, first, bytes,
                 [&](unsigned lane, unsigned count, llvm::Value* pointer) {
                   llvm::Type* type =
                       llvm::FixedVectorType::get(element, count);
                   parts.push_back(ir.CreateMaskedLoad(
                       type, pointer, align,
                       PartOf(ir, half.mask, lane, count),
                       llvm::Constant::getNullValue(type)));
                 });
    }
    first += 16;
  }
  e.MarkAccess({LaneAccess::kOther});
  return Concatenate(ir, parts);
}

void StoreProgression(Emitter& e, const Access& access, llvm::Value* value,
                      llvm::Align align) {
  Ir& ir = e.ir();
  uint64_t bytes = BytesOf(value->getType()->getScalarType());
  unsigned first = 0;
  for (const Half& half : HalvesOf(e, access, bytes)) {
    ForEachRun(e, half, first, bytes,
               [&](unsigned lane, unsigned count, llvm::Value* pointer) {
                 ir.CreateMaskedStore(PartOf(ir, value, first + lane, count),
                                      pointer, align,
                                      PartOf(ir, half.mask, lane, count));
               });
    first += 16;
  }
  e.MarkAccess({LaneAccess::kOther});
}

// Lanes at addresses of their own, as many at once as one instruction takes.
llvm::Value* Gather(Emitter& e, const Access& access, llvm::Value* addresses,
                    llvm::Type* element) {
  Ir& ir = e.ir();
  uint64_t bytes = BytesOf(element);
  unsigned count = e.hooks().GatherLanes(bytes);
  if (count == 0) {
    return LoadOneByOne(e, access, addresses, element, Ordering::weak);
  }
  llvm::SmallVector<llvm::Value*> parts;
  llvm::Type* type = llvm::FixedVectorType::get(element, count);
  for (unsigned first = 0; first < LaneCount(access); first += count) {
    e.MarkAccess({LaneAccess::kGather, first, bytes});
    parts.push_back(ir.CreateMaskedGather(
        type, Pointer(ir, PartOf(ir, addresses, first, count)),
        llvm::Align(bytes), PartOf(ir, access.mask, first, count),
        llvm::Constant::getNullValue(type)));
  }
  e.MarkAccess({LaneAccess::kOther});
  return Concatenate(ir, parts);
}

void StoreOneByOne(Emitter& e, const Access& access, llvm::Value* addresses,
                   llvm::Value* value, Ordering ordering) {
  Ir& ir = e.ir();
  llvm::Type* element = value->getType()->getScalarType();
  ForEachLane(e, access.mask, [&](llvm::Value* lane) {
    llvm::Value* one = ir.CreateBitCast(
        ir.CreateExtractElement(value, lane),
        ir.getIntNTy(element->getPrimitiveSizeInBits()));
    llvm::StoreInst* store = ir.CreateAlignedStore(
        one, Pointer(ir, ir.CreateExtractElement(addresses, lane)),
        llvm::Align(BytesOf(element)));
    store->setAtomic(StoreOrdering(ordering));
    store->setVolatile(ordering == Ordering::volatile_);
  });
}

void Scatter(Emitter& e, const Access& access, llvm::Value* addresses,
             llvm::Value* value) {
  Ir& ir = e.ir();
  uint64_t bytes = BytesOf(value->getType()->getScalarType());
  unsigned count = e.hooks().GatherLanes(bytes);
  if (count == 0) {
    return StoreOneByOne(e, access, addresses, value, Ordering::weak);
  }
  for (unsigned first = 0; first < LaneCount(access); first += count) {
    e.MarkAccess({LaneAccess::kGather, first, bytes});
    ir.CreateMaskedScatter(PartOf(ir, value, first, count),
                           Pointer(ir, PartOf(ir, addresses, first, count)),
                           llvm::Align(bytes),
                           PartOf(ir, access.mask, first, count));
  }
  e.MarkAccess({LaneAccess::kOther});
}

}  // namespace

llvm::SmallVector<llvm::Value*> LoadLanes(Emitter& e, const Access& access,
                                          llvm::Type* element, uint64_t count,
                                          Ordering ordering) {
  Ir& ir = e.ir();
  llvm::SmallVector<llvm::Value*> values;
  uint64_t bytes = BytesOf(element);
  llvm::Align align(bytes);
  bool fast = ordering == Ordering::weak && count == 1 &&
              (IsContiguous(access, bytes) || IsUniform(access));
  Access tested = access;
  if (!fast) tested = CheckAndTestLanes(e, access, bytes * count);
  for (uint64_t i = 0; i < count; ++i) {
    auto gather = [&](const Access& from) -> llvm::Value* {
      return Gather(e, access, LaneOffset(ir, from.lanes, i * bytes), element);
    };
    if (ordering != Ordering::weak) {
      llvm::Value* addresses = LaneOffset(ir, tested.lanes, i * bytes);
      values.push_back(LoadOneByOne(e, access, addresses, element, ordering));
    } else if (!fast) {
      values.push_back(gather(tested));
    } else {
      values.push_back(Choose(
          e, access.form->valid,
          [&]() -> llvm::Value* {
            CheckHalves(e, access, bytes);
            return LoadProgression(e, access, element, align);
          },
          [&]() -> llvm::Value* {
            return gather(CheckAndTestLanes(e, access, bytes));
          }));
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
  bool fast = ordering == Ordering::weak && values.size() == 1 &&
              IsContiguous(access, bytes);
  Access tested = access;
  if (!fast) tested = CheckAndTestLanes(e, access, bytes * values.size());
  for (auto [i, value] : llvm::enumerate(values)) {
    llvm::Value* stored = value;
    uint64_t offset = i * bytes;
    auto scatter = [&](const Access& to) -> llvm::Value* {
      Scatter(e, access, LaneOffset(ir, to.lanes, offset), stored);
      return nullptr;
    };
    if (ordering != Ordering::weak) {
      StoreOneByOne(e, access, LaneOffset(ir, tested.lanes, offset), stored,
                    ordering);
    } else if (!fast) {
      scatter(tested);
    } else {
      Choose(e, access.form->valid,
             [&]() -> llvm::Value* {
               CheckHalves(e, access, bytes);
               StoreProgression(e, access, stored, align);
               return nullptr;
             },
             [&]() -> llvm::Value* {
               return scatter(CheckAndTestLanes(e, access, bytes));
             });
    }
  }
}

}  // namespace hetgpu::llvm_ir
