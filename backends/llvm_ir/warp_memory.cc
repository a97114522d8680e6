#include "backends/llvm_ir/warp_memory.h"

#include <algorithm>
#include <array>
#include <functional>

#include "backends/llvm_ir/lane_strides.h"
#include "backends/llvm_ir/lanes_one_by_one.h"
#include "llvm/IR/MDBuilder.h"

namespace hetgpu::llvm_ir {
namespace {

using hetir::Ordering;

uint64_t BytesOf(llvm::Type* element) {
  return element->getPrimitiveSizeInBits() / 8;
}
llvm::Value* LaneOffset(Ir& ir, llvm::Value* lanes, uint64_t bytes) {
  return bytes == 0 ? lanes : ir.CreateAdd(lanes, Int(lanes->getType(), bytes));
}

// Ends the launch when a lane of the mask is not a multiple of `bytes`.
void CheckLanes(Emitter& e, const Access& access, llvm::Value* lanes,
                uint64_t bytes) {
  if (access.aligned) return;
  Ir& ir = e.ir();
  llvm::Type* type = lanes->getType();
  llvm::Value* wrong = ir.CreateICmpNE(
      ir.CreateAnd(lanes, Int(type, bytes - 1)), Int(type, 0));
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

// The target's test of the lanes, for an access of `bytes`; returns what to
// access.
llvm::Value* TestLanes(Emitter& e, const Access& access, llvm::Value* lanes,
                       uint64_t bytes) {
  if (!access.untested) return lanes;
  AddressCheck check = CheckOf(access, bytes);
  auto exact = [&] { return lanes; };
  llvm::Value* tested = lanes;
  if (access.base_lanes) {
    tested = access.base_lanes;
    check.exact = exact;
  }
  llvm::Value* moved = CheckLaneAddresses(e, check, tested, access.mask);
  return Shift(e.ir(), lanes, tested, moved);
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

std::array<Half, 2> HalvesOf(Ir& ir, const Access& access) {
  return {Half{access.form->low, HalfOf(ir, access.mask, 0)},
          Half{access.form->high, HalfOf(ir, access.mask, 1)}};
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

// Emits `fast` where all conditions hold and `slow` elsewhere; their values are
// merged when not null.
llvm::Value* Choose(Emitter& e, llvm::ArrayRef<Condition> conditions,
                    const std::function<llvm::Value*()>& fast,
                    const std::function<llvm::Value*()>& slow) {
  Ir& ir = e.ir();
  llvm::BasicBlock* no = nullptr;
  for (const Condition& emit : conditions) {
    llvm::Value* condition = emit();
    if (!condition) continue;
    if (!no) no = llvm::BasicBlock::Create(e.context(), "", e.function());
    auto* yes = llvm::BasicBlock::Create(e.context(), "", e.function());
    yes->moveAfter(ir.GetInsertBlock());
    ir.CreateCondBr(condition, yes, no,
                    llvm::MDBuilder(e.context()).createBranchWeights(2000, 1));
    ir.SetInsertPoint(yes);
  }
  if (!no) return fast();
  auto* next = llvm::BasicBlock::Create(e.context(), "", e.function());
  llvm::Value* a = fast();
  llvm::BasicBlock* yes = ir.GetInsertBlock();
  ir.CreateBr(next);
  no->moveAfter(yes);
  ir.SetInsertPoint(no);
  llvm::Value* b = slow();
  no = ir.GetInsertBlock();
  ir.CreateBr(next);
  next->moveAfter(no);
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

// Addresses of the lanes, checked and tested.
llvm::Value* GoodLanes(Emitter& e, const Access& access, uint64_t bytes) {
  llvm::Value* lanes = LaneAddresses(e, access);
  CheckLanes(e, access, lanes, bytes);
  return TestLanes(e, access, lanes, bytes);
}

// Whether all lanes read one address.
bool IsUniform(const Access& access) {
  return access.form->stride == 0;
}

// One load for some lanes from `first` on; none when no lane of the mask takes
// part.
llvm::Value* LoadIfAny(Emitter& e, llvm::Value* mask, llvm::Value* address,
                       unsigned first, llvm::Type* element,
                       llvm::Align align) {
  Ir& ir = e.ir();
  return Choose(
      e, Condition([&] { return AnyLane(ir, mask); }),
      [&]() -> llvm::Value* {
        e.MarkAccess({LaneAccess::kActingLanes, first});
        return ir.CreateAlignedLoad(element, Pointer(ir, address), align);
      },
      [&]() -> llvm::Value* { return llvm::Constant::getNullValue(element); });
}

// Where every lane that exists takes part, lane 0 does: the second half reads
// what it reads where there is no such half.
llvm::Value* LoadUniform(Emitter& e, const Access& access,
                         llvm::Type* element, llvm::Align align) {
  Ir& ir = e.ir();
  auto [low, high] = HalvesOf(ir, access);
  auto load = [&](llvm::Value* address, unsigned first) {
    e.MarkAccess({LaneAccess::kOne, first});
    return ir.CreateAlignedLoad(element, Pointer(ir, address), align);
  };
  bool same = low.address == high.address;
  llvm::Value* one;
  llvm::Value* other = nullptr;
  if (access.divergent) {
    one = LoadIfAny(e, same ? access.mask : low.mask, low.address, 0, element,
                    align);
    if (!same) {
      other = LoadIfAny(e, high.mask, high.address, 16, element, align);
    }
  } else {
    one = load(low.address, 0);
    if (!same) {
      other = load(ir.CreateSelect(AnyLane(ir, high.mask), high.address,
                                   low.address),
                   16);
    }
  }
  e.MarkAccess({LaneAccess::kOther});
  if (same) return ir.CreateVectorSplat(kLanes, one);
  return Concatenate(ir, {ir.CreateVectorSplat(16, one),
                          ir.CreateVectorSplat(16, other)});
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
  if (IsUniform(access)) return LoadUniform(e, access, element, align);
  Ir& ir = e.ir();
  uint64_t bytes = BytesOf(element);
  llvm::SmallVector<llvm::Value*> parts;
  unsigned first = 0;
  for (const Half& half : HalvesOf(ir, access)) {
    ForEachRun(e, half, first, bytes,
               [&](unsigned lane, unsigned count, llvm::Value* pointer) {
                 llvm::Type* type = llvm::FixedVectorType::get(element, count);
                 parts.push_back(ir.CreateMaskedLoad(
                     type, pointer, align, PartOf(ir, half.mask, lane, count),
                     llvm::Constant::getNullValue(type)));
               });
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
  for (const Half& half : HalvesOf(ir, access)) {
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
  for (unsigned first = 0; first < kLanes; first += count) {
    e.MarkAccess({LaneAccess::kGather, first, bytes});
    parts.push_back(ir.CreateMaskedGather(
        type, Pointer(ir, PartOf(ir, addresses, first, count)),
        llvm::Align(bytes), PartOf(ir, access.mask, first, count),
        llvm::Constant::getNullValue(type)));
  }
  e.MarkAccess({LaneAccess::kOther});
  return Concatenate(ir, parts);
}

void Scatter(Emitter& e, const Access& access, llvm::Value* addresses,
             llvm::Value* value) {
  Ir& ir = e.ir();
  uint64_t bytes = BytesOf(value->getType()->getScalarType());
  unsigned count = e.hooks().GatherLanes(bytes);
  if (count == 0) {
    return StoreOneByOne(e, access, addresses, value, Ordering::weak);
  }
  for (unsigned first = 0; first < kLanes; first += count) {
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
  uint64_t bytes = BytesOf(element);
  if (access.form) {
    return {Choose(
        e, access.fast,
        [&] {
          return LoadProgression(e, access, element, llvm::Align(bytes));
        },
        [&] { return LoadShared(e, access, element); })};
  }
  if (access.one_by_one) return {LoadShared(e, access, element)};
  llvm::Value* lanes = GoodLanes(e, access, bytes * count);
  llvm::SmallVector<llvm::Value*> values;
  for (uint64_t i = 0; i < count; ++i) {
    llvm::Value* addresses = LaneOffset(e.ir(), lanes, i * bytes);
    values.push_back(
        ordering == Ordering::weak
            ? Gather(e, access, addresses, element)
            : LoadOneByOne(e, access, addresses, element, ordering));
  }
  return values;
}

void StoreLanes(Emitter& e, const Access& access,
                llvm::ArrayRef<llvm::Value*> values, Ordering ordering) {
  uint64_t bytes = BytesOf(values.front()->getType()->getScalarType());
  if (access.form && !IsUniform(access)) {
    Choose(e, access.fast,
           [&]() -> llvm::Value* {
             StoreProgression(e, access, values[0], llvm::Align(bytes));
             return nullptr;
           },
           [&]() -> llvm::Value* {
             StoreShared(e, access, values[0]);
             return nullptr;
           });
    return;
  }
  if (access.one_by_one) return StoreShared(e, access, values[0]);
  llvm::Value* lanes = GoodLanes(e, access, bytes * values.size());
  for (auto [i, value] : llvm::enumerate(values)) {
    llvm::Value* addresses = LaneOffset(e.ir(), lanes, i * bytes);
    if (ordering == Ordering::weak) {
      Scatter(e, access, addresses, value);
    } else {
      StoreOneByOne(e, access, addresses, value, ordering);
    }
  }
}

}  // namespace hetgpu::llvm_ir
