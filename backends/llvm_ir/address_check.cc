#include "backends/llvm_ir/address_check.h"

#include <algorithm>

#include "backends/llvm_ir/target_hooks.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace hetgpu::llvm_ir {
namespace {

using hetir::Space;
namespace arith = mlir::arith;

constexpr int kMaxDepth = 8;
// Sums and products below this cannot wrap.
constexpr uint64_t kLargestBound = uint64_t{1} << 62;
constexpr uint64_t kUnbounded = UINT64_MAX;

unsigned WidthOf(mlir::Value value) {
  mlir::Type type = mlir::getElementTypeOrSelf(value.getType());
  return type.isInteger() ? type.getIntOrFloatBitWidth() : 64;
}

// What the width alone says.
uint64_t SignedBound(mlir::Value value) {
  unsigned width = WidthOf(value);
  return width < 63 ? uint64_t{1} << (width - 1) : kUnbounded;
}

uint64_t OrUnbounded(uint64_t bound) {
  return bound < kLargestBound ? bound : kUnbounded;
}

std::optional<int64_t> Constant(mlir::Value value) {
  llvm::APInt bits;
  if (!mlir::matchPattern(value, mlir::m_ConstantInt(&bits))) {
    return std::nullopt;
  }
  return bits.getSExtValue();
}

uint64_t BoundOf(mlir::Value value, int depth);

// Of an op whose result may be wider than 32 bits.
uint64_t BoundOfWide(mlir::Operation* op, int depth) {
  auto of = [&](mlir::Value operand) { return BoundOf(operand, depth - 1); };
  auto sum = [&](mlir::Value a, mlir::Value b) {
    return OrUnbounded(llvm::SaturatingAdd(of(a), of(b)));
  };
  return llvm::TypeSwitch<mlir::Operation*, uint64_t>(op)
      .Case<arith::AddIOp, arith::SubIOp>(
          [&](auto o) { return sum(o.getLhs(), o.getRhs()); })
      .Case<arith::MulIOp>([&](auto o) {
        return OrUnbounded(
            llvm::SaturatingMultiply(of(o.getLhs()), of(o.getRhs())));
      })
      .Case<arith::SelectOp>([&](auto o) {
        return std::max(of(o.getTrueValue()), of(o.getFalseValue()));
      })
      .Case<arith::ExtSIOp>([&](auto o) { return of(o.getIn()); })
      .Case<arith::ExtUIOp>([&](auto o) {
        unsigned width = WidthOf(o.getIn());
        return width < 62 ? uint64_t{1} << width : kUnbounded;
      })
      .Case<arith::AndIOp>([&](auto o) {
        for (mlir::Value side : {o.getLhs(), o.getRhs()}) {
          std::optional<int64_t> mask = Constant(side);
          if (mask && *mask >= 0) return OrUnbounded(*mask);
        }
        return kUnbounded;
      })
      .Case<mlir::vector::BroadcastOp>(
          [&](auto o) { return of(o.getSource()); })
      .Case<mlir::vector::ExtractElementOp>(
          [&](auto o) { return of(o.getVector()); })
      .Case<hetir::ShlOp>([&](auto o) {
        std::optional<int64_t> amount = Constant(o.getAmount());
        if (!amount || *amount < 0 || *amount > 62) return kUnbounded;
        return OrUnbounded(
            llvm::SaturatingMultiply(of(o.getA()), uint64_t{1} << *amount));
      })
      .Default([](mlir::Operation*) { return kUnbounded; });
}

// An operation of 32 bits or less may wrap: its width is all that holds.
uint64_t BoundOf(mlir::Value value, int depth) {
  if (std::optional<int64_t> constant = Constant(value)) {
    return OrUnbounded(*constant < 0 ? -static_cast<uint64_t>(*constant)
                                     : static_cast<uint64_t>(*constant));
  }
  mlir::Operation* op = value.getDefiningOp();
  uint64_t by_width = SignedBound(value);
  if (by_width != kUnbounded || !op || depth == 0) return by_width;
  return BoundOfWide(op, depth);
}

// What an address comes from, through conversions.
mlir::Operation* SourceOf(mlir::Value address) {
  mlir::Value base = UniformBase(address);
  mlir::Operation* op = base ? base.getDefiningOp() : nullptr;
  while (mlir::isa_and_nonnull<hetir::ToGenericOp, hetir::FromGenericOp>(op)) {
    op = op->getOperand(0).getDefiningOp();
  }
  return op;
}

// Whether the address is that of a variable of the module.
bool IsVariable(mlir::Value address) {
  return mlir::isa_and_nonnull<hetir::DataAddressOp, hetir::SharedAddressOp>(
      SourceOf(address));
}

}  // namespace

mlir::Value UniformBase(mlir::Value address) {
  if (auto splat = address.getDefiningOp<mlir::vector::BroadcastOp>()) {
    address = splat.getSource();
  }
  return mlir::isa<mlir::VectorType>(address.getType()) ? mlir::Value()
                                                        : address;
}

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

hetir::DataAddressOp DataVariable(mlir::Value address) {
  return mlir::dyn_cast_or_null<hetir::DataAddressOp>(SourceOf(address));
}

uint64_t Magnitude(mlir::Value value) { return BoundOf(value, kMaxDepth); }

AddressTest AddressTestOf(Emitter& e, const AccessRequest& request) {
  if (e.hooks().TestsAll(request.space)) return AddressTest::kFull;
  std::optional<uint64_t> reach = e.hooks().CheckReach(request.space);
  if (!reach || LocalArray(request.address)) return AddressTest::kNone;
  bool is_offset = e.hooks().SpaceBase(e, request.space) != nullptr;
  // Of offsets only wide ones can lead out of the space.
  if (is_offset && WidthOf(request.address) <= 32) return AddressTest::kNone;
  uint64_t far = request.index ? Magnitude(request.index) : 0;
  far = llvm::SaturatingAdd(far, request.bytes);
  uint64_t offset = request.offset < 0 ? -static_cast<uint64_t>(request.offset)
                                       : static_cast<uint64_t>(request.offset);
  far = llvm::SaturatingAdd(far, offset);
  mlir::Value base = UniformBase(request.address);
  if (far > *reach) return AddressTest::kFull;
  if (!base) return is_offset ? AddressTest::kFull : AddressTest::kLanes;
  if (IsVariable(request.address)) return AddressTest::kProven;
  return is_offset ? AddressTest::kFull : AddressTest::kBase;
}

}  // namespace hetgpu::llvm_ir
