#include "backends/llvm_ir/lanes_one_by_one.h"

#include <functional>
#include <string>
#include <utility>

#include "backends/llvm_ir/lane_parts.h"
#include "backends/llvm_ir/lane_strides.h"
#include "backends/llvm_ir/ordering.h"

namespace hetgpu::llvm_ir {
namespace {

using hetir::Ordering;
using LaneBody = llvm::function_ref<void(llvm::Value* lane)>;

// More would make functions align their frames.
const llvm::Align kSlotAlign(16);

llvm::Align AlignOf(llvm::Type* element) {
  return llvm::Align(element->getPrimitiveSizeInBits() / 8);
}

// Lanes in the frame, to be reached by number.
class LaneSlot {
 public:
  LaneSlot(Emitter& e, llvm::Type* vector) : ir_(e.ir()), vector_(vector) {
    slot_ = e.Slot(vector);
    slot_->setAlignment(kSlotAlign);
  }

  void Set(llvm::Value* value) {
    ir_.CreateAlignedStore(value, slot_, kSlotAlign);
  }
  llvm::Value* Get() {
    return ir_.CreateAlignedLoad(vector_, slot_, kSlotAlign);
  }
  void SetLane(llvm::Value* lane, llvm::Value* value) {
    ir_.CreateAlignedStore(value, Place(lane), AlignOf(value->getType()));
  }
  llvm::Value* GetLane(llvm::Value* lane) {
    llvm::Type* element = vector_->getScalarType();
    return ir_.CreateAlignedLoad(element, Place(lane), AlignOf(element));
  }

 private:
  llvm::Value* Place(llvm::Value* lane) {
    return ir_.CreateGEP(vector_, slot_, {ir_.getInt32(0), lane});
  }

  Ir& ir_;
  llvm::Type* vector_;
  llvm::AllocaInst* slot_;
};

// What gives the value of a lane; a scalar is that of every lane.
std::function<llvm::Value*(llvm::Value*)> ByLane(Emitter& e,
                                                 llvm::Value* value) {
  if (!value || !value->getType()->isVectorTy()) {
    return [=](llvm::Value*) { return value; };
  }
  LaneSlot slot(e, value->getType());
  slot.Set(value);
  return [=](llvm::Value* lane) mutable { return slot.GetLane(lane); };
}

// Runs `body` for each lane of the mask, lowest first, with the lane number.
void ForEachLane(Emitter& e, llvm::Value* mask,
                 LaneBody body) {
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

// The type that is loaded and stored: floats as the bits they are.
llvm::Type* BitsOf(Ir& ir, llvm::Type* element) {
  return ir.getIntNTy(element->getPrimitiveSizeInBits());
}

llvm::Value* LoadEach(Emitter& e, llvm::Value* mask, llvm::Type* element,
                      Ordering ordering,
                      llvm::function_ref<llvm::Value*(llvm::Value*)> address) {
  Ir& ir = e.ir();
  llvm::Type* bits = BitsOf(ir, element);
  LaneSlot loaded(e, SameShape(bits, mask->getType()));
  loaded.Set(llvm::Constant::getNullValue(SameShape(bits, mask->getType())));
  ForEachLane(e, mask, [&](llvm::Value* lane) {
    llvm::LoadInst* load = ir.CreateAlignedLoad(
        bits, ir.CreateIntToPtr(address(lane), ir.getPtrTy()),
        AlignOf(element));
    load->setAtomic(LoadOrdering(ordering));
    load->setVolatile(ordering == Ordering::volatile_);
    loaded.SetLane(lane, load);
  });
  return ir.CreateBitCast(loaded.Get(), SameShape(element, mask->getType()));
}

void StoreEach(Emitter& e, llvm::Value* mask, llvm::Value* value,
               Ordering ordering,
               llvm::function_ref<llvm::Value*(llvm::Value*)> address) {
  Ir& ir = e.ir();
  llvm::Type* element = value->getType()->getScalarType();
  auto of_lane = ByLane(
      e, ir.CreateBitCast(value, SameShape(BitsOf(ir, element),
                                           value->getType())));
  ForEachLane(e, mask, [&](llvm::Value* lane) {
    llvm::StoreInst* store = ir.CreateAlignedStore(
        of_lane(lane), ir.CreateIntToPtr(address(lane), ir.getPtrTy()),
        AlignOf(element));
    store->setAtomic(StoreOrdering(ordering));
    store->setVolatile(ordering == Ordering::volatile_);
  });
}

// The same access from its parts, which became arguments of a shared function.
Access InShared(const Access& access, llvm::ArrayRef<llvm::Value*> arguments,
                Ir& ir) {
  Access shared;
  shared.parts = access.parts;
  shared.parts.address = arguments[0];
  shared.mask = ir.CreateBitCast(
      arguments[1], llvm::FixedVectorType::get(ir.getInt1Ty(), kLanes));
  shared.parts.offset = 0;
  shared.parts.index = arguments[2];
  shared.untested = access.untested;
  shared.aligned = access.aligned;
  shared.space = access.space;
  return shared;
}

// What says all of the code of a shared function that its types do not.
std::string SharedName(const Access& access, const char* what,
                       llvm::Type* element) {
  std::string name;
  llvm::raw_string_ostream(name)
      << what << "." << *element << "."
      << static_cast<unsigned>(access.space)
      << (access.parts.is_offset ? "o" : "") << (access.aligned ? "a" : "")
      << (access.untested ? "t" : "") << access.parts.scale;
  return name;
}

// `parts` with the lanes from a vector that other accesses use, too; what is to
// be added to each of them, or null.
llvm::Value* ShareLanes(Emitter& e, const Access& access, LaneParts& parts) {
  Ir& ir = e.ir();
  llvm::Value*& lanes = parts.index ? parts.index : parts.address;
  if (!access.form || !parts.source || !lanes->getType()->isVectorTy()) {
    return nullptr;
  }
  bool narrow = !parts.is_offset && parts.scale == 1 &&
                !(parts.index && parts.address->getType()->isVectorTy());
  LaneSum sum = e.lane_forms()->Rebuild(e, parts.source, access.op, narrow);
  lanes = sum.lanes;
  if (!sum.base) return sum.more;
  parts.address =
      parts.index ? ir.CreateAdd(parts.address, sum.base) : sum.base;
  parts.index = sum.lanes;
  parts.scale = sum.scale;
  return sum.more;
}

// The arguments that InShared expects, and what says the rest in `access`. An
// offset that is the same for all lanes goes where one value for all is, and
// that goes first where it makes no difference: fewer functions are then
// needed.
llvm::SmallVector<llvm::Value*> SharedArguments(Emitter& e, Access& access) {
  Ir& ir = e.ir();
  LaneParts& parts = access.parts;
  llvm::Value* more = ShareLanes(e, access, parts);
  llvm::Value* address = parts.address;
  llvm::Value* index = parts.index;
  llvm::Type* type = address->getType()->getScalarType();
  if (!index) index = more ? more : llvm::ConstantInt::get(type, 0);
  llvm::Constant* offset = llvm::ConstantInt::getSigned(type, parts.offset);
  if (!address->getType()->isVectorTy()) {
    address = ir.CreateAdd(address, offset);
  } else if (!parts.index) {
    index = ir.CreateAdd(index, offset);
    more = nullptr;
  } else {
    address = ir.CreateAdd(address, ir.CreateVectorSplat(kLanes, offset));
  }
  if (address->getType()->isVectorTy() && index->getType() == type &&
      parts.scale == 1) {
    std::swap(address, index);
  }
  if (!more) more = Int(index->getType()->getScalarType(), 0);
  return {address, ir.CreateBitCast(access.mask, ir.getInt32Ty()), index, more};
}

// Checks and tests the address of a lane; returns what to access.
llvm::Value* GoodLane(Emitter& e, const Access& access, llvm::Type* element,
                      llvm::Value* lane, llvm::Value* address) {
  Ir& ir = e.ir();
  uint64_t bytes = AlignOf(element).value();
  auto acting = [&] { return lane; };
  if (!access.aligned && bytes > 1) {
    llvm::Value* wrong = ir.CreateICmpNE(
        ir.CreateAnd(address, Int(address->getType(), bytes - 1)),
        Int(address->getType(), 0));
    TrapIfMisaligned(e, wrong, acting);
  }
  if (!access.untested) return address;
  AddressCheck check = {};
  check.space = access.space;
  check.bytes = bytes;
  check.address = address;
  check.lane = acting;
  return e.hooks().CheckAddress(e, check);
}

// Gives the address of each lane from the parts and what is to be added to the
// index, once it is known to be good.
std::function<llvm::Value*(llvm::Value*)> GoodAddresses(Emitter& e,
                                                        const Access& access,
                                                        llvm::Value* more,
                                                        llvm::Type* element) {
  auto address = ByLane(e, access.parts.address);
  auto index = ByLane(e, access.parts.index);
  return [=, &e](llvm::Value* lane) {
    LaneParts parts = access.parts;
    parts.address = address(lane);
    parts.index = e.ir().CreateAdd(index(lane), more);
    llvm::Value* host = HostAddress(e, access, SumOf(e.ir(), parts));
    return GoodLane(e, access, element, lane, host);
  };
}

}  // namespace

llvm::Value* LoadOneByOne(Emitter& e, const Access& access,
                          llvm::Value* addresses, llvm::Type* element,
                          Ordering ordering) {
  return LoadEach(e, access.mask, element, ordering, ByLane(e, addresses));
}

void StoreOneByOne(Emitter& e, const Access& access, llvm::Value* addresses,
                   llvm::Value* value, Ordering ordering) {
  StoreEach(e, access.mask, value, ordering, ByLane(e, addresses));
}

llvm::Value* LoadShared(Emitter& e, Access access, llvm::Type* element) {
  llvm::SmallVector<llvm::Value*> arguments = SharedArguments(e, access);
  return e.CallShared(
      SharedName(access, "gather", element),
      llvm::FixedVectorType::get(element, kLanes), arguments,
      [&](llvm::ArrayRef<llvm::Value*> arguments) {
        Access shared = InShared(access, arguments, e.ir());
        return LoadEach(e, shared.mask, element, Ordering::weak,
                        GoodAddresses(e, shared, arguments[3], element));
      });
}

void StoreShared(Emitter& e, Access access, llvm::Value* value) {
  llvm::Type* element = value->getType()->getScalarType();
  llvm::SmallVector<llvm::Value*> arguments = SharedArguments(e, access);
  arguments.push_back(value);
  e.CallShared(SharedName(access, "scatter", element), e.ir().getVoidTy(),
               arguments,
               [&](llvm::ArrayRef<llvm::Value*> arguments) -> llvm::Value* {
                 Access shared = InShared(access, arguments, e.ir());
                 StoreEach(e, shared.mask, arguments[4], Ordering::weak,
                           GoodAddresses(e, shared, arguments[3], element));
                 return nullptr;
               });
}

llvm::Value* MapShared(
    Emitter& e, const llvm::Twine& name, llvm::Value* a, llvm::Value* b,
    llvm::function_ref<llvm::Value*(llvm::Value*, llvm::Value*)> fn) {
  auto body = [&](llvm::ArrayRef<llvm::Value*> arguments) -> llvm::Value* {
    Ir& ir = e.ir();
    auto lane_of_a = ByLane(e, arguments[0]);
    auto lane_of_b = ByLane(e, arguments[1]);
    LaneSlot results(e, a->getType());
    llvm::BasicBlock* before = ir.GetInsertBlock();
    auto* loop = llvm::BasicBlock::Create(e.context(), "", e.function());
    auto* next = llvm::BasicBlock::Create(e.context(), "", e.function());
    ir.CreateBr(loop);
    ir.SetInsertPoint(loop);
    llvm::PHINode* lane = ir.CreatePHI(ir.getInt32Ty(), 2);
    lane->addIncoming(ir.getInt32(0), before);
    results.SetLane(lane, fn(lane_of_a(lane), lane_of_b(lane)));
    llvm::Value* following = ir.CreateAdd(lane, ir.getInt32(1));
    lane->addIncoming(following, ir.GetInsertBlock());
    ir.CreateCondBr(ir.CreateICmpULT(following, ir.getInt32(kLanes)), loop,
                    next);
    ir.SetInsertPoint(next);
    return results.Get();
  };
  return e.CallShared(name, a->getType(), {a, b}, body);
}

}  // namespace hetgpu::llvm_ir
