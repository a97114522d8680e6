#include "backends/llvm_ir/memory_access.h"

#include <algorithm>

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

// The local array an address comes from, or null.
hetir::LocalAllocOp LocalArray(mlir::Value address) {
  while (mlir::Operation* op = address.getDefiningOp()) {
    if (auto cast = mlir::dyn_cast<hetir::ToGenericOp>(op)) {
      if (cast.getSpace() != Space::local) return nullptr;
      address = cast.getAddress();
    } else if (auto cast = mlir::dyn_cast<hetir::FromGenericOp>(op)) {
      if (cast.getSpace() != Space::local) return nullptr;
      address = cast.getAddress();
    } else {
      return mlir::dyn_cast<hetir::LocalAllocOp>(op);
    }
  }
  return nullptr;
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
  if (request.bytes == 1) return;
  llvm::Value* unproven = Unproven(e, request);
  if (!unproven) return;
  Ir& ir = e.ir();
  llvm::Type* type = unproven->getType();
  llvm::Value* wrong = ir.CreateICmpNE(
      ir.CreateAnd(unproven, Int(type, request.bytes - 1)), Int(type, 0));
  TrapIfMisaligned(e, wrong, [&] { return ir.getInt32(0); });
}

llvm::Value* ScalarPointer(Emitter& e, const AccessRequest& request) {
  Ir& ir = e.ir();
  llvm::Type* i64 = ir.getInt64Ty();
  unsigned space = e.hooks().AddressSpaceOf(request.space);
  llvm::Value* base = e.hooks().SpaceBase(e, request.space);
  llvm::Value* address = e.Get(request.address);
  if (base) {
    // Offsets wrap in their own width.
    if (request.index) {
      address = ir.CreateAdd(
          address, ir.CreateZExtOrTrunc(e.Get(request.index),
                                        address->getType()));
    }
    address = ir.CreateAdd(address, llvm::ConstantInt::getSigned(
                                        address->getType(), request.offset));
    return ir.CreateGEP(ir.getInt8Ty(), base, ir.CreateZExt(address, i64));
  }
  llvm::Value* pointer;
  if (hetir::LocalAllocOp array = LocalArray(request.address)) {
    pointer = llvm::cast<llvm::PtrToIntOperator>(e.Get(array.getResult()))
                  ->getPointerOperand();
  } else {
    pointer = ir.CreateIntToPtr(ir.CreateZExt(address, i64),
                                llvm::PointerType::get(e.context(), space));
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

// Host addresses of the lanes.
llvm::Value* LaneAddresses(Emitter& e, const AccessRequest& request) {
  Ir& ir = e.ir();
  mlir::Value shape = IsVector(request.address) ? request.address
                                                : request.index;
  unsigned lanes = mlir::cast<mlir::VectorType>(shape.getType())
                       .getNumElements();
  auto spread = [&](llvm::Value* value) {
    return value->getType()->isVectorTy() ? value
                                          : ir.CreateVectorSplat(lanes, value);
  };
  llvm::Value* base = e.hooks().SpaceBase(e, request.space);
  llvm::Value* address = spread(e.Get(request.address));
  llvm::Type* type = address->getType();
  if (request.index) {
    llvm::Value* index = spread(e.Get(request.index));
    index = base ? ir.CreateZExtOrTrunc(index, type)
                 : ir.CreateSExtOrTrunc(index, type);
    address = ir.CreateAdd(address, index);
  }
  if (request.offset != 0) {
    address = ir.CreateAdd(
        address, llvm::ConstantInt::getSigned(type, request.offset));
  }
  address = ir.CreateZExt(address, IntLike(type, 64));
  if (base) {
    address = ir.CreateAdd(
        address, spread(ir.CreatePtrToInt(base, ir.getInt64Ty())));
  }
  return address;
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

}  // namespace

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
  if (IsVector(request.address) || IsVector(request.index)) {
    access.lanes = LaneAddresses(e, request);
    access.form = AddressForm(e, request);
    auto* type = llvm::cast<llvm::FixedVectorType>(access.lanes->getType());
    access.mask =
        request.mask
            ? e.Get(request.mask)
            : llvm::ConstantInt::getTrue(IntLike(type, 1));
  } else {
    if (request.space != Space::param) CheckAlignment(e, request);
    access.pointer = ScalarPointer(e, request);
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
