#include "backends/llvm_ir/memory_access.h"

#include <algorithm>

#include "backends/llvm_ir/address_check.h"
#include "backends/llvm_ir/lane_parts.h"
#include "backends/llvm_ir/lane_strides.h"
#include "backends/llvm_ir/target_hooks.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace hetgpu::llvm_ir {
namespace {

using hetir::Space;
namespace arith = mlir::arith;

constexpr uint64_t kMaxMultiple = 4096;
constexpr int kMaxDepth = 8;

uint64_t LowestBit(uint64_t value) {
  if (value == 0) return kMaxMultiple;
  return std::min<uint64_t>(value & -value, kMaxMultiple);
}

class MultipleFinder {
 public:
  explicit MultipleFinder(TargetHooks& hooks) : hooks_(hooks) {}

  uint64_t Find(mlir::Value value, int depth) {
    mlir::Operation* op = value.getDefiningOp();
    if (!op || depth == 0) return 1;
    if (std::optional<uint64_t> constant = Constant(value)) {
      return LowestBit(*constant);
    }
    auto of = [&](mlir::Value operand) { return Find(operand, depth - 1); };
    return llvm::TypeSwitch<mlir::Operation*, uint64_t>(op)
        .Case<arith::AddIOp, arith::SubIOp>([&](auto sum) {
          return std::min(of(sum.getLhs()), of(sum.getRhs()));
        })
        .Case<arith::OrIOp>([&](auto either) {
          return std::min(of(either.getLhs()), of(either.getRhs()));
        })
        .Case<arith::AndIOp>([&](auto both) {
          return std::max(of(both.getLhs()), of(both.getRhs()));
        })
        .Case<arith::MulIOp>([&](auto product) {
          return std::min(of(product.getLhs()) * of(product.getRhs()),
                          kMaxMultiple);
        })
        .Case<arith::SelectOp>([&](auto select) {
          return std::min(of(select.getTrueValue()),
                          of(select.getFalseValue()));
        })
        .Case<arith::ExtSIOp, arith::ExtUIOp>(
            [&](auto cast) { return of(cast.getIn()); })
        .Case<mlir::vector::BroadcastOp>(
            [&](auto splat) { return of(splat.getSource()); })
        .Case<hetir::ShlOp>([&](auto shift) {
          std::optional<uint64_t> amount = Constant(shift.getAmount());
          uint64_t inner = of(shift.getA());
          if (!amount) return inner;
          return *amount >= 12 ? kMaxMultiple
                               : std::min(inner << *amount, kMaxMultiple);
        })
        .Case<hetir::ToGenericOp>([&](auto cast) {
          return std::min(of(cast.getAddress()),
                          hooks_.BaseAlignment(cast.getSpace()));
        })
        .Case<hetir::FromGenericOp>([&](auto cast) {
          return std::min(of(cast.getAddress()),
                          hooks_.BaseAlignment(cast.getSpace()));
        })
        .Case<hetir::DataAddressOp>([&](auto data) {
          return std::min(LowestBit(data.getOffset()),
                          hooks_.BaseAlignment(data.getSpace()));
        })
        .Case<hetir::SharedAddressOp>(
            [&](auto shared) { return LowestBit(shared.getOffset()); })
        .Case<hetir::LocalAllocOp>(
            [&](auto local) { return LowestBit(local.getAlign()); })
        .Default([](mlir::Operation*) { return uint64_t{1}; });
  }

 private:
  static std::optional<uint64_t> Constant(mlir::Value value) {
    llvm::APInt bits;
    if (mlir::matchPattern(value, mlir::m_ConstantInt(&bits))) {
      return bits.getZExtValue();
    }
    return std::nullopt;
  }

  TargetHooks& hooks_;
};

// Where the target has const data besides its address, or null.
llvm::Value* ConstPointer(Emitter& e, const AccessRequest& request) {
  if (request.space != Space::constant) return nullptr;
  auto data = request.address.getDefiningOp<hetir::DataAddressOp>();
  return data ? e.hooks().ConstPointer(e, data) : nullptr;
}

bool IsVector(mlir::Value value) {
  return value && mlir::isa<mlir::VectorType>(value.getType());
}

// Sum of the parts that may be misaligned, or null when none can.
llvm::Value* Unproven(Emitter& e, const AccessRequest& request) {
  Ir& ir = e.ir();
  llvm::Value* sum = nullptr;
  auto add = [&](llvm::Value* part) {
    if (!sum) {
      sum = part;
      return;
    }
    bool same = sum->getType() == part->getType();
    if (!same) part = ir.CreateZExtOrTrunc(part, sum->getType());
    sum = ir.CreateAdd(sum, part);
  };
  if (KnownMultiple(e, request.address) < request.bytes) {
    add(e.Get(request.address));
  }
  if (request.index && KnownMultiple(e, request.index) < request.bytes) {
    add(e.Get(request.index));
  }
  if (request.offset % static_cast<int64_t>(request.bytes) == 0) return sum;
  llvm::Type* type = sum ? sum->getType() : e.TypeOf(request.address);
  add(llvm::ConstantInt::getSigned(type, request.offset));
  return sum;
}

void CheckAlignment(Emitter& e, const AccessRequest& request) {
  if (request.bytes == 1 || !e.hooks().NeedsAlignmentChecks() ||
      e.hooks().TestsAll(request.space)) {
    return;
  }
  llvm::Value* unproven = Unproven(e, request);
  if (!unproven) return;
  Ir& ir = e.ir();
  llvm::Type* type = unproven->getType();
  llvm::Value* wrong = ir.CreateICmpNE(
      ir.CreateAnd(unproven, Int(type, request.bytes - 1)), Int(type, 0));
  TrapIfMisaligned(e, wrong, [&] { return e.acting_lane(); });
}

// Sum of the parts of one address, in the width of its base.
llvm::Value* ScalarSum(Emitter& e, const AccessRequest& request) {
  Ir& ir = e.ir();
  llvm::Value* address = e.Get(request.address);
  llvm::Type* type = address->getType();
  bool is_offset = e.hooks().SpaceBase(e, request.space) != nullptr;
  if (request.index) {
    llvm::Value* index = e.Get(request.index);
    // Offsets wrap in their own width.
    index = is_offset ? ir.CreateZExtOrTrunc(index, type)
                      : ir.CreateSExtOrTrunc(index, type);
    address = ir.CreateAdd(address, index);
  }
  if (request.offset == 0) return address;
  return ir.CreateAdd(address,
                      llvm::ConstantInt::getSigned(type, request.offset));
}

AddressCheck CheckOf(const AccessRequest& request) {
  AddressCheck check = {};
  check.space = request.space;
  check.bytes = request.bytes;
  check.op = request.op;
  check.base = request.address;
  return check;
}

llvm::Value* CheckScalar(Emitter& e, const AccessRequest& request,
                         llvm::Value* address, bool is_base, bool proven) {
  AddressCheck check = CheckOf(request);
  auto exact = [&] { return ScalarSum(e, request); };
  auto lane = [&] { return e.acting_lane(); };
  check.address = address;
  if (is_base) check.exact = exact;
  check.lane = lane;
  check.proven = proven;
  return e.hooks().CheckAddress(e, check);
}

llvm::Value* ScalarPointer(Emitter& e, const AccessRequest& request,
                           AddressTest test) {
  Ir& ir = e.ir();
  llvm::Type* i64 = ir.getInt64Ty();
  llvm::Type* pointer_type = llvm::PointerType::get(
      e.context(), e.hooks().AddressSpaceOf(request.space));
  llvm::Value* base = e.hooks().SpaceBase(e, request.space);
  if (base || test == AddressTest::kFull) {
    llvm::Value* address = ScalarSum(e, request);
    if (test == AddressTest::kFull) {
      address = CheckScalar(e, request, address, false, false);
    }
    address = ir.CreateZExt(address, i64);
    return base ? ir.CreateGEP(ir.getInt8Ty(), base, address)
                : ir.CreateIntToPtr(address, pointer_type);
  }
  llvm::Value* pointer;
  if (hetir::LocalAllocOp array = LocalArray(request.address)) {
    pointer = llvm::cast<llvm::PtrToIntOperator>(e.Get(array.getResult()))
                  ->getPointerOperand();
  } else if (llvm::Value* data = ConstPointer(e, request)) {
    pointer = data;
  } else {
    llvm::Value* address = e.Get(request.address);
    if (test != AddressTest::kNone) {
      address = CheckScalar(e, request, address, true,
                            test == AddressTest::kProven);
    }
    pointer = ir.CreateIntToPtr(ir.CreateZExt(address, i64), pointer_type);
  }
  if (request.index) {
    pointer = ir.CreateGEP(ir.getInt8Ty(), pointer,
                           ir.CreateSExt(e.Get(request.index), i64));
  }
  if (request.offset != 0) {
    pointer = ir.CreateGEP(ir.getInt8Ty(), pointer,
                           ir.getInt64(request.offset));
  }
  return pointer;
}

llvm::Value* MaskOf(Emitter& e, const AccessRequest& request,
                    llvm::Type* shape) {
  return request.mask ? e.Get(request.mask)
                      : llvm::ConstantInt::getTrue(IntLike(shape, 1));
}

// The lanes' host addresses as a progression.
std::optional<LaneForm> AddressForm(Emitter& e,
                                    const AccessRequest& request) {
  Ir& ir = e.ir();
  LaneForms* forms = e.lane_forms();
  if (!forms) return std::nullopt;
  llvm::Value* base = e.hooks().SpaceBase(e, request.space);
  std::optional<LaneForm> form = forms->Find(e, request.address);
  if (!form) return std::nullopt;
  llvm::Type* type = form->low->getType();
  if (request.index) {
    std::optional<LaneForm> index = forms->Find(e, request.index);
    if (!index) return std::nullopt;
    if (index->low->getType() != type) {
      if (BitWidth(index->low) > BitWidth(form->low)) return std::nullopt;
      index = ExtendForm(ir, *index, type, /*is_signed=*/!base);
    }
    form = AddForms(ir, *form, *index);
  }
  auto constant = [&](llvm::Value* value) {
    return LaneForm{value, value, 0, nullptr};
  };
  form = AddForms(ir, *form,
                  constant(llvm::ConstantInt::getSigned(type,
                                                        request.offset)));
  form = ExtendForm(ir, *form, ir.getInt64Ty(), false);
  if (base) {
    form = AddForms(ir, *form,
                    constant(ir.CreatePtrToInt(base, ir.getInt64Ty())));
  }
  return form;
}

// Lane `lane` (an i32) of a progression; where it is none, its base.
llvm::Value* LaneOf(Ir& ir, const LaneForm& form, llvm::Value* lane,
                    llvm::Value* base) {
  llvm::Value* high = ir.CreateICmpUGE(lane, ir.getInt32(16));
  llvm::Value* start = ir.CreateSelect(high, form.high, form.low);
  llvm::Value* number =
      ir.CreateZExt(ir.CreateAnd(lane, ir.getInt32(15)), start->getType());
  llvm::Value* address = ir.CreateAdd(
      start, ir.CreateMul(number, llvm::ConstantInt::getSigned(
                                      start->getType(), form.stride)));
  llvm::Value* condition = ConditionOf(ir, form);
  return condition ? ir.CreateSelect(condition, address, base) : address;
}

// What stands for the one base of all lanes. Vectors of addresses that only the
// cold block would need stay out of the way: of a progression, where a bad base
// means that every lane is bad, the lowest lane is named.
llvm::Value* CheckUniformBase(Emitter& e, const AccessRequest& request,
                              bool proven) {
  AddressCheck check = CheckOf(request);
  check.address = e.Get(UniformBase(request.address));
  check.proven = proven;
  llvm::Value* mask = MaskOf(
      e, request, llvm::FixedVectorType::get(e.ir().getInt64Ty(), 32));
  std::optional<LaneForm> form = AddressForm(e, request);
  auto lane = [&] { return LowestLane(e.ir(), mask); };
  auto address = [&] { return LaneOf(e.ir(), *form, lane(), check.address); };
  auto all = [&] { return LaneSums(e, PartsOf(e, request, nullptr)); };
  if (form && request.space != Space::generic) {
    check.exact = address;
    check.lane = lane;
  } else {
    check.exact = all;
    check.mask = mask;
  }
  return e.hooks().CheckAddress(e, check);
}

// Sets the parts of the lanes' addresses and what is left to be tested.
void SetLanes(Emitter& e, const AccessRequest& request, AddressTest test,
              Access& access) {
  llvm::Value* base = nullptr;
  if (test == AddressTest::kBase || test == AddressTest::kProven) {
    base = CheckUniformBase(e, request, test == AddressTest::kProven);
  }
  access.parts = PartsOf(e, request, base);
  bool is_offset = access.parts.is_offset;
  access.untested =
      !is_offset && (test == AddressTest::kFull || test == AddressTest::kLanes);
  if (is_offset && test == AddressTest::kFull) {
    access.parts.address = CheckLaneAddresses(
        e, CheckOf(request), LaneSums(e, access.parts), access.mask);
    access.parts.index = nullptr;
    access.parts.source = mlir::Value();
    access.parts.offset = 0;
  }
  if (test == AddressTest::kLanes) access.base_lanes = e.Get(request.address);
}

// How far it is known that the lanes are multiples of the size of the access.
enum class Alignment { kKnown, kOfBase, kUnknown };

Alignment AlignmentOf(Emitter& e, const AccessRequest& request) {
  if (request.bytes == 1 || !e.hooks().NeedsAlignmentChecks()) {
    return Alignment::kKnown;
  }
  bool of_base =
      request.offset % static_cast<int64_t>(request.bytes) == 0 &&
      (!request.index || KnownMultiple(e, request.index) >= request.bytes);
  if (!of_base) return Alignment::kUnknown;
  if (KnownMultiple(e, request.address) >= request.bytes) {
    return Alignment::kKnown;
  }
  return UniformBase(request.address) ? Alignment::kOfBase
                                      : Alignment::kUnknown;
}

llvm::Value* IsMisaligned(Ir& ir, llvm::Value* address, uint64_t bytes) {
  llvm::Type* type = address->getType();
  return ir.CreateICmpNE(ir.CreateAnd(address, Int(type, bytes - 1)),
                         Int(type, 0));
}

// Ends the launch when the base of all lanes is misaligned.
void CheckBaseAlignment(Emitter& e, const AccessRequest& request,
                        llvm::Value* mask) {
  Ir& ir = e.ir();
  llvm::Value* wrong = IsMisaligned(
      ir, e.Get(UniformBase(request.address)), request.bytes);
  llvm::BasicBlock* cold = e.BranchToColdBlock(wrong, "misaligned");
  llvm::BasicBlock* next = ir.GetInsertBlock();
  ir.SetInsertPoint(cold);
  TrapIfMisaligned(e, AnyLane(ir, mask),
                   [&] { return LowestLane(ir, mask); });
  ir.CreateBr(next);
  ir.SetInsertPoint(next);
}

// The addresses whose test is one of all lanes of a progression.
llvm::SmallVector<llvm::Value*> TestedAddresses(Emitter& e,
                                                const AccessRequest& request,
                                                AddressTest test,
                                                const LaneForm& form) {
  if (test != AddressTest::kFull && test != AddressTest::kLanes) return {};
  LaneForm tested = form;
  if (test == AddressTest::kLanes) {
    AccessRequest bases = request;
    bases.index = mlir::Value();
    bases.offset = 0;
    std::optional<LaneForm> base_form = AddressForm(e, bases);
    if (base_form && !ConditionOf(e.ir(), *base_form)) tested = *base_form;
  }
  if (tested.low == tested.high) return {tested.low};
  return {tested.low, tested.high};
}

// Whether a value is known when the first block ends.
bool IsOfEntry(Emitter& e, llvm::Value* value) {
  auto* instruction = llvm::dyn_cast_or_null<llvm::Instruction>(value);
  return !instruction ||
         instruction->getParent() == &e.function()->getEntryBlock();
}

// What must hold, of all lanes of a progression together and of their base.
llvm::Value* CommonCondition(Emitter& e, const AccessRequest& request,
                             AddressTest test, Alignment alignment,
                             const LaneForm& form) {
  Ir& ir = e.ir();
  bool tests_base = test == AddressTest::kBase;
  bool aligns_base = alignment == Alignment::kOfBase;
  if (!tests_base && !aligns_base) return form.valid;
  llvm::Value* base = e.Get(UniformBase(request.address));
  auto emit = [&] {
    llvm::Value* result = form.valid;
    auto add = [&](llvm::Value* doubt) {
      if (doubt) result = AndConditions(ir, result, ir.CreateNot(doubt));
    };
    if (tests_base) {
      add(e.hooks().IsDoubtful(e, request.space, request.bytes, base));
    }
    if (aligns_base) add(IsMisaligned(ir, base, request.bytes));
    return result;
  };
  if (!IsOfEntry(e, base) || !IsOfEntry(e, form.valid)) return emit();
  uint64_t tests = request.bytes << 8 |
                   static_cast<uint64_t>(request.space) << 2 |
                   aligns_base << 1 | tests_base;
  return e.InEntry({base, form.valid, tests}, emit);
}

// Sets what must hold for all to be well with a progression. What is the same
// for many accesses is computed once, in the first block where that is
// possible, and joined to what is not, so that most accesses have one branch.
void SetConditions(Emitter& e, const AccessRequest& request, AddressTest test,
                   Alignment alignment, const LaneForm& form, Access& access) {
  Ir& ir = e.ir();
  llvm::Value* first = AndConditions(
      ir, CommonCondition(e, request, test, alignment, form), form.in_range);
  if (first) access.fast.push_back([=] { return first; });
  auto not_or_null = [&ir](llvm::Value* doubt) {
    return doubt ? ir.CreateNot(doubt) : nullptr;
  };
  for (llvm::Value* tested : TestedAddresses(e, request, test, form)) {
    access.fast.push_back(
        [=, &e, space = request.space, bytes = request.bytes] {
          return not_or_null(e.hooks().IsDoubtful(e, space, bytes, tested));
        });
  }
  if (alignment == Alignment::kUnknown) {
    access.fast.push_back(
        [=, &ir, low = form.low, high = form.high, bytes = request.bytes] {
          llvm::Value* both = low == high ? low : ir.CreateOr(low, high);
          return not_or_null(IsMisaligned(ir, both, bytes));
        });
  }
}

// Leaves lanes that no instruction takes several of to a function that such
// accesses share.
bool SetOneByOne(Emitter& e, const AccessRequest& request, AddressTest test,
                 Access& access) {
  if (!request.plain || e.hooks().GatherLanes(request.bytes) != 0) return false;
  access.parts = PartsOf(e, request, nullptr);
  if (access.parts.is_offset && test != AddressTest::kNone) return false;
  access.aligned = AlignmentOf(e, request) == Alignment::kKnown;
  access.untested = test != AddressTest::kNone;
  access.one_by_one = true;
  return true;
}

// Makes the access one of a progression, if it can be.
bool SetProgression(Emitter& e, const AccessRequest& request, AddressTest test,
                    Access& access) {
  if (!request.plain) return false;
  LaneParts parts = PartsOf(e, request, nullptr);
  if (parts.is_offset && test != AddressTest::kNone) return false;
  std::optional<LaneForm> form = AddressForm(e, request);
  if (!form) return false;
  if (form->stride != 0 &&
      form->stride != static_cast<int64_t>(request.bytes)) {
    return false;
  }
  Alignment alignment = AlignmentOf(e, request);
  SetConditions(e, request, test, alignment, *form, access);
  access.parts = parts;
  access.aligned = alignment == Alignment::kKnown;
  access.untested = test != AddressTest::kNone;
  if (access.untested) {
    bool same = form->low == form->high;
    form->low = e.hooks().MoveAddress(e, request.space, form->low);
    form->high = same ? form->low
                      : e.hooks().MoveAddress(e, request.space, form->high);
  }
  access.form = form;
  if (form->stride == 0 && access.divergent) e.NoteActingLanes(access.mask);
  return true;
}

// A scalar access with a mask acts for the lowest of its lanes. Null: no mask.
llvm::Value* ActingLane(Emitter& e, const AccessRequest& request) {
  if (!request.mask) return nullptr;
  // The mask of one lane: see simt-to-simd.
  if (auto one = request.mask.getDefiningOp<mlir::vector::InsertElementOp>()) {
    return e.Get(one.getPosition());
  }
  return e.Get(request.mask);
}

void NoteScalar(Emitter& e, llvm::Value* acting) {
  if (!acting) return e.MarkAccess({LaneAccess::kOne});
  if (acting->getType()->isVectorTy()) {
    e.NoteActingLanes(acting);
    return e.MarkAccess({LaneAccess::kActingLanes});
  }
  e.hooks().NoteActingLane(e, acting);
  e.MarkAccess({LaneAccess::kActing});
}

}  // namespace

llvm::Value* LaneAddresses(Emitter& e, const Access& access) {
  return HostAddress(e, access, LaneSums(e, access.parts));
}

llvm::Value* HostAddress(Emitter& e, const Access& access, llvm::Value* sum) {
  Ir& ir = e.ir();
  llvm::Value* address = ir.CreateZExt(sum, IntLike(sum->getType(), 64));
  if (!access.parts.is_offset) return address;
  llvm::Value* base = ir.CreatePtrToInt(
      e.hooks().SpaceBase(e, access.space), ir.getInt64Ty());
  if (address->getType()->isVectorTy()) base = Spread(ir, base);
  return ir.CreateAdd(address, base);
}

llvm::Value* AnyLane(Ir& ir, llvm::Value* mask) {
  auto* type = llvm::cast<llvm::FixedVectorType>(mask->getType());
  llvm::Type* bits = ir.getIntNTy(type->getNumElements());
  return ir.CreateICmpNE(ir.CreateBitCast(mask, bits),
                         llvm::ConstantInt::get(bits, 0));
}

llvm::Value* LowestLane(Ir& ir, llvm::Value* mask) {
  auto* type = llvm::cast<llvm::FixedVectorType>(mask->getType());
  llvm::Value* bits =
      ir.CreateBitCast(mask, ir.getIntNTy(type->getNumElements()));
  llvm::Value* lane =
      Binary(ir, llvm::Intrinsic::cttz, bits, ir.getFalse());
  return ir.CreateZExtOrTrunc(lane, ir.getInt32Ty());
}

void TrapIfMisaligned(Emitter& e, llvm::Value* any,
                      llvm::function_ref<llvm::Value*()> lane) {
  Ir& ir = e.ir();
  llvm::BasicBlock* cold = e.BranchToColdBlock(any, "misaligned");
  llvm::IRBuilderBase::InsertPointGuard guard(ir);
  ir.SetInsertPoint(cold);
  e.hooks().EndWithTrap(e, Trap::kMisaligned, lane());
}

llvm::Value* CheckLaneAddresses(Emitter& e, AddressCheck check,
                                llvm::Value* addresses, llvm::Value* mask) {
  check.address = addresses;
  check.mask = mask;
  return e.hooks().CheckAddress(e, check);
}

uint64_t KnownMultiple(Emitter& emitter, mlir::Value value) {
  return MultipleFinder(emitter.hooks()).Find(value, kMaxDepth);
}

llvm::Type* MemoryType(llvm::Type* type, bool packed) {
  if (!packed) return type;
  return llvm::Type::getIntNTy(type->getContext(),
                               type->getPrimitiveSizeInBits());
}

Access EmitAccess(Emitter& e, const AccessRequest& request) {
  Access access;
  access.op = request.op;
  access.divergent =
      request.mask && !request.mask.getDefiningOp<hetir::WarpLanesOp>();
  access.space = request.space;
  AddressTest test = AddressTestOf(e, request);
  if (IsVector(request.address) || IsVector(request.index)) {
    access.mask = MaskOf(
        e, request, llvm::FixedVectorType::get(e.ir().getInt64Ty(), kLanes));
    if (!SetProgression(e, request, test, access) &&
        !SetOneByOne(e, request, test, access)) {
      SetLanes(e, request, test, access);
      Alignment alignment = AlignmentOf(e, request);
      access.aligned = alignment != Alignment::kUnknown;
      if (alignment == Alignment::kOfBase) {
        CheckBaseAlignment(e, request, access.mask);
      }
    }
  } else {
    llvm::Value* acting = ActingLane(e, request);
    e.set_acting_lane(acting);
    if (request.space != Space::param) CheckAlignment(e, request);
    access.pointer = ScalarPointer(e, request, test);
    NoteScalar(e, acting);
  }
  uint64_t align = request.bytes;
  if (request.space == Space::param) {
    align = std::min(align, e.hooks().BaseAlignment(Space::param));
    int64_t offset = request.offset;
    llvm::APInt bits;
    if (request.index || !mlir::matchPattern(request.address,
                                             mlir::m_ConstantInt(&bits))) {
      offset = 1;
    } else {
      offset += bits.getSExtValue();
    }
    align = std::min(align, LowestBit(offset));
  }
  access.align = llvm::Align(align);
  return access;
}

}  // namespace hetgpu::llvm_ir
